import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageFeatures, servedPackages, settled } from '../features.js'
import { apply, inject } from '../main.js'
import { lineDictionaries, reasonLine } from '../reasons.js'
import { isModal } from '../shortcut.js'
import { dismiss, isDismissed, overrideNotice, watchStanding } from '../standing.js'
import { Store } from '../store.js'
import { PageVerdict } from '../verdict.js'
import { StandInput, answers, standStorage } from './stand.js'

/** @param {object} value */
const observable = value => ({ getSnapshot: () => value, subscribe: () => () => {} })

/** A page in which everything is as it was tested. */
function page() {
  const input = new StandInput()
  const browser = { component: () => null, options: {}, children: { 'sidebar.workspaces.directoryFlow': {} } }
  const nothing = () => () => {}
  const services = /** @type {any} */ ({
    remote: { $mount() {} },
    locale: { ...observable({ active: 'en', revision: 1 }), register: nothing, bind: () => (/** @type {string} */ key) => key },
    sessions: { list: observable({ ids: ['s'], byId: { s: {} }, current: 's' }), open() {}, scope: () => ({}), create() {} },
    workspaces: { list: observable({ items: [], archivedSessionIds: [], baselinesReady: true }), connectWorkspace() {} },
    slots: { inject: nothing, register: nothing, entriesOfSlot: () => [browser], subscribe: nothing, entries: () => [browser] },
    conversation: { input: { for: () => input } },
  })
  const ctx = { ...services, get: (/** @type {string} */ name) => services[name] }
  return { ctx, services, input }
}

const all = ['page.remote', 'page.locale', 'page.sessions', 'page.workspaces', 'page.connect', 'page.sidebar', 'page.composer', 'page.references']

test('a page as it was tested has every feature', () => {
  assert.deepEqual(pageFeatures(page().ctx), all)
})

test('each seam that is missing, throws or is of another shape is one feature less (invariant 8)', () => {
  const boom = () => { throw new Error('boom') }
  for (const [feature, spoil] of /** @type {[string, (world: ReturnType<typeof page>) => void][]} */ ([
    ['page.remote', ({ ctx }) => { ctx.remote = undefined }],
    ['page.locale', ({ ctx }) => { ctx.locale = { register() {} } }],
    ['page.sessions', ({ ctx }) => { ctx.sessions.open = undefined }],
    ['page.workspaces', ({ ctx }) => { ctx.workspaces.list = { getSnapshot: boom, subscribe() {} } }],
    ['page.connect', ({ ctx }) => { ctx.sessions.create = undefined }],
    ['page.sidebar', ({ ctx }) => { ctx.slots.entries = () => [{ component: () => null, options: {}, children: { other: {} } }] }],
    ['page.sidebar', ({ ctx }) => { ctx.slots.subscribe = undefined }],
    ['page.composer', ({ input }) => { Reflect.set(input, 'setDraft', undefined) }],
    ['page.composer', ({ services }) => { services.conversation.input.for = boom }],
    ['page.composer', ({ services }) => { services.conversation.input = {} }],
    ['page.references', ({ input }) => { Reflect.set(input, 'insertReference', undefined) }],
  ])) {
    const world = page()
    spoil(world)
    const found = pageFeatures(world.ctx)
    assert.ok(!found.includes(feature), `${feature}: ${found}`)
  }
})

test('DSH is waited for until it is in place, and one that cannot be asked is not', async () => {
  const tasks = [1]
  let done = false
  const waiting = settled({ get: () => ({ getTasks: () => tasks }) }).then(() => { done = true })
  await answers()
  assert.equal(done, false)
  tasks.pop()
  await waiting
  await settled({ get: () => undefined })
})

test('the boot manifest is read with care', () => {
  assert.deepEqual(servedPackages({ entries: [{ id: 'a', rev: '1', url: 'u' }, { id: 'b' }, null] }), [{ id: 'a', rev: '1' }])
  for (const boot of [undefined, null, {}, { entries: 1 }]) assert.deepEqual(servedPackages(boot), [])
})

/** @param {(request: any) => Promise<any>} answer */
function judged(answer) {
  const world = { wanted: true, changed: 0, reports: /** @type {any[]} */ ([]) }
  const verdict = new PageVerdict({
    ctx: page().ctx, pageId: 'p', boot: { entries: [{ id: 'a', rev: '1' }] }, retryMs: 1,
    call: () => /** @type {any} */ ((/** @type {string} */ _, /** @type {any} */ report) => { world.reports.push(report); return answer(report) }),
    wanted: () => world.wanted, changed: () => { world.changed++ },
  })
  return { verdict, world }
}

/** @param {() => boolean} there */
async function until(there) {
  while (!there()) await new Promise(resolve => setTimeout(resolve, 1))
}

const full = { mode: 'full', capabilities: ['rows'], overridden: false, reasons: [] }

test('a page is judged by what it has, and asks again when nobody answers', async () => {
  let tries = 0
  const { verdict, world } = judged(async () => { if (++tries < 3) throw new Error('down'); return full })
  assert.equal(verdict.mode, undefined)
  verdict.ask()
  await until(() => verdict.mode === 'full')
  assert.deepEqual(world.reports[0], { pageId: 'p', features: all, served: [{ id: 'a', rev: '1' }], faults: [] })
  assert.equal(world.reports.length, 3)
})

test('a part that fails makes the page stock at once, and only the name of its error is told (invariant 11)', async () => {
  const { verdict, world } = judged(async ({ faults }) => faults.length > 0 ? { ...full, mode: 'stock' } : full)
  verdict.ask()
  await until(() => verdict.mode === 'full')
  const before = world.changed
  verdict.fault('rows', new TypeError('the words of a draft'))
  assert.equal(verdict.mode, 'stock')
  assert.equal(world.changed, before + 1)
  await until(() => world.reports.length === 2)
  assert.deepEqual(world.reports[1].faults, ['rows: TypeError'])
  verdict.dispose()
})

test('nobody is asked while there is nothing to decide', async () => {
  const { verdict, world } = judged(async () => full)
  world.wanted = false
  verdict.ask()
  await answers()
  assert.deepEqual([world.reports.length, verdict.mode], [0, undefined])
})

test('invariant 8: the page half waits for nothing and throws nothing', t => {
  t.mock.method(console, 'warn', () => {})
  t.mock.method(globalThis, 'fetch', async () => ({ json: async () => ({ result: { ok: true, value: { ok: true } } }) }))
  Reflect.set(globalThis, 'window', {})
  Reflect.set(globalThis, 'location', { href: 'http://127.0.0.1/' })
  t.after(() => { Reflect.deleteProperty(globalThis, 'window'); Reflect.deleteProperty(globalThis, 'location') })
  assert.deepEqual(inject, [])
  const boom = () => { throw new Error('boom') }
  for (const ctx of [{}, { inject: boom, get: boom }, { inject: (/** @type {any} */ _, /** @type {any} */ run) => run({ effect: boom, get: boom }), get: boom }]) {
    assert.equal(apply(/** @type {any} */ (ctx)), undefined)
  }
})

const crashed = { code: 'PLUGIN_CRASHED', subject: '', expected: '', found: 'it exited with 2', message: 'It ended.' }
const off = { mode: /** @type {const} */ ('stock'), reasons: [crashed], overridden: false, rearmable: true }
const on = { mode: /** @type {const} */ ('full'), reasons: [], overridden: false, rearmable: false }

test('the line is there while there is something to tell, until it is dismissed', () => {
  let shown = 0
  /** @type {() => void} */
  let close = () => {}
  const storage = standStorage()
  const standing = new Store(/** @type {import('../standing.js').Standing} */ (on))
  const remove = watchStanding({
    standing, storage,
    show: dismissed => {
      shown++
      close = dismissed
      return () => { shown-- }
    },
  })
  assert.equal(shown, 0)
  standing.set(off)
  assert.equal(shown, 1)
  standing.set({ ...on, mode: 'paused', reasons: [crashed] })
  assert.equal(shown, 0, 'what passes is not told')
  standing.set(off)
  close()
  assert.equal(shown, 0)
  standing.set({ ...off, rearmable: false })
  assert.equal(shown, 0)
  standing.set({ ...off, reasons: [{ ...crashed, found: 'it was ended by SIGKILL' }] })
  assert.equal(shown, 1, 'another reason is told anew')
  remove()
  assert.equal(shown, 0)
  watchStanding({ standing, storage, show: () => { throw new Error('a DSH without such a list') } })()
})

test('a storage that refuses or holds something else dismisses nothing and breaks nothing', () => {
  const refuse = () => { throw new Error('no storage') }
  assert.equal(isDismissed({ getItem: refuse, setItem: refuse }, 'x'), false)
  dismiss({ getItem: refuse, setItem: refuse }, 'x')
  const storage = standStorage()
  storage.setItem('draft-sessions.dismissed', '{"a":1}')
  assert.equal(isDismissed(storage, 'x'), false)
  dismiss(storage, 'x')
  assert.equal(isDismissed(storage, 'x'), true)
})

test('an untested DSH is said once, with its version', () => {
  const storage = standStorage()
  const risk = { ...on, overridden: true, reasons: [{ ...crashed, code: 'HOST_VERSION_MISMATCH', found: '0.1.5-rc.2' }] }
  const notice = overrideNotice(risk, storage)
  assert.deepEqual([notice?.kind, notice?.title], ['overridden', '0.1.5-rc.2'])
  assert.equal(overrideNotice(on, storage), undefined)
  dismiss(storage, notice?.id ?? '')
  assert.equal(overrideNotice(risk, storage), undefined)
})

test('a reason is told in the language of the page, with what was found', () => {
  const t = (/** @type {string} */ key) => lineDictionaries.en[key] ?? key
  const found = { ...crashed, subject: 's', expected: 'e' }
  assert.deepEqual(reasonLine(t, 'en', found), { text: 'It ended.', facts: 'PLUGIN_CRASHED · s · it exited with 2 (e)' })
  assert.match(reasonLine(t, 'zh', found).text, /插件/)
  assert.equal(reasonLine(t, 'zh', { ...found, code: 'NEW_CODE' }).text, 'It ended.')
  assert.deepEqual(Object.keys(lineDictionaries.zh), Object.keys(lineDictionaries.en))
})

test('under a dialog the chord does nothing', () => {
  const doc = (/** @type {number[]} */ ...boxes) => /** @type {any} */ ({ querySelectorAll: () => boxes.map(n => ({ getClientRects: () => ({ length: n }) })) })
  assert.deepEqual([isModal(doc()), isModal(doc(0)), isModal(doc(0, 1))], [false, false, true])
})
