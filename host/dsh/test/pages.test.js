import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Pages } from '../server/pages.js'

const base = { code: 'CAPABILITY_OFF', subject: 'commands', expected: 'host.commands', found: '', message: 'm' }
const missing = { code: 'FEATURE_MISSING', subject: 'rows', expected: 'page.sidebar', found: '', message: 'm' }

function stand() {
  const logged = /** @type {any[]} */ ([])
  const told = /** @type {any[][]} */ ([])
  const asked = /** @type {string[][]} */ ([])
  const world = { link: true }
  const judge = async (/** @type {string[]} */ features) => {
    asked.push(features)
    return features.includes('page.sidebar')
      ? { mode: /** @type {const} */ ('full'), capabilities: ['rows'], overridden: false, reasons: [base] }
      : { mode: /** @type {const} */ ('stock'), capabilities: [], overridden: false, reasons: [base, missing] }
  }
  const pages = new Pages({
    ctx: /** @type {any} */ ({ get: () => ({ graph: () => ({ entries: [{ id: '@x/page', rev: 'new' }, { id: '@x/other', rev: 'new' }, { id: 'draft-sessions-dsh', rev: 'ours' }] }) }) }),
    link: () => world.link ? /** @type {any} */ ({ judge, verdict: { mode: 'full', capabilities: [], overridden: false, reasons: [base] } }) : undefined,
    log: /** @type {any} */ ({ info() {}, warn: (/** @type {string} */ _, /** @type {any} */ fields) => { logged.push(fields.reasons) } }),
    tell: (reasons) => { told.push(reasons) },
    pins: async () => ['@x/page'],
  })
  /** @param {Partial<import('../wire/types.js').PageReport>} report */
  const report = report => pages.judge({ pageId: 'p', features: ['page.sidebar'], served: [], faults: [], ...report })
  return { pages, report, logged, told, asked, world }
}

test('the gate judges what a page has; what it lacks is logged once and told', async () => {
  const { report, logged, told, asked } = stand()
  assert.equal((await report({})).mode, 'full')
  assert.deepEqual([logged, told], [[], []], 'what the host itself lacks was told with the host')
  assert.equal((await report({ features: [] })).mode, 'stock')
  assert.equal((await report({ features: ['page.x; rm', 'host.commands'] })).mode, 'stock')
  assert.deepEqual(asked, [['page.sidebar'], [], []], 'a page cannot speak for the host')
  assert.deepEqual([logged, told], [[[missing]], [[missing]]])
})

test('a page that was loaded before the host or the bundle changed says so', async () => {
  const { report, told } = stand()
  const { mode, reasons } = await report({ served: [{ id: '@x/page', rev: 'old' }, { id: '@x/other', rev: 'old' }] })
  assert.deepEqual([mode, reasons.map(({ code, subject, expected, found }) => [code, subject, expected, found])],
    ['stock', [['PAGE_STALE', '@x/page', 'new', 'old']]])
  assert.equal((await report({ served: [{ id: 'draft-sessions-dsh', rev: '<b>' }] })).reasons[0]?.found, '(unreadable)')
  assert.equal((await report({ served: [{ id: '@x/page', rev: 'new' }] })).mode, 'full')
  assert.equal(told.length, 2)
})

test('invariant 11: of a fault only the name of the part and of the error pass', async () => {
  const { report, logged } = stand()
  const { mode, reasons } = await report({ faults: ['rows: TypeError', 'rows: the words of a draft', 'x'] })
  assert.deepEqual([mode, reasons.map(({ code, subject, found }) => [code, subject, found])], ['stock', [['PAGE_FAULT', 'rows', 'TypeError']]])
  assert.equal(JSON.stringify(logged).includes('words'), false)
})

test('what is told of pages is bounded', async () => {
  const { report, told } = stand()
  for (let n = 0; n < 30; n++) await report({ faults: [`rows: Error${n}`] })
  assert.equal(told.at(-1)?.length, 20)
})

test('without a plugin nothing is decided', async () => {
  const { report, world } = stand()
  world.link = false
  await assert.rejects(report({}), { code: 'OPERATION_UNKNOWN' })
})
