import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Chain } from '../sidebar/chain.js'
import { answers } from './stand.js'

/** DSH's slots as far as a chain sees them: the lowest priority renders, the same twice throws. */
class StandSlots {
  /** @type {Map<string, any[]>} */
  #entries = new Map()
  /** @type {Map<string, Set<() => void>>} */
  #listeners = new Map()

  /** @param {any} options @param {any} component @returns {() => void} */
  register({ name, priority, id, key, order, ...rest }, component) {
    const known = this.#entries.get(name) ?? []
    if (known.some(entry => (entry.options.priority ?? 0) === (priority ?? 0))) throw new Error(`${name} is taken`)
    const entry = { component, options: { ...(priority === undefined ? {} : { priority }), ...(id === undefined ? {} : { id }) }, ...rest }
    this.#put(name, [...known, entry].sort((a, b) => (a.options.priority ?? 0) - (b.options.priority ?? 0)))
    return () => this.#put(name, (this.#entries.get(name) ?? []).filter(other => other !== entry))
  }

  /** @param {string} name @param {any[]} entries */
  #put(name, entries) {
    this.#entries.set(name, entries)
    for (const listener of [...this.#listeners.get(name) ?? []]) queueMicrotask(listener)
  }

  entries = (/** @type {string} */ name) => this.#entries.get(name) ?? []
  entriesOfSlot = (/** @type {string} */ name) => this.entries(name).slice(0, 1)

  /** @param {string} name @param {() => void} listener */
  subscribe(name, listener) {
    const listeners = this.#listeners.get(name) ?? new Set()
    this.#listeners.set(name, listeners.add(listener))
    return () => { listeners.delete(listener) }
  }

  /** @param {string} name */
  shown(name) {
    return this.entriesOfSlot(name)[0]
  }
}

const Stock = () => null
const Flow = () => null
const children = { flow: { kind: 'single', scope: 'root' } }

function stand() {
  const slots = new StandSlots()
  const removeStock = slots.register({ name: 'browser', children, store: 'store', inject: 'inject', locale: 'workspace' }, Stock)
  /** @type {{ inner: any, nameOf: (key: string) => string, failed: (error: unknown) => void }[]} */
  const wrapped = []
  /** @type {string[]} */
  const reported = []
  const chain = new Chain(/** @type {any} */ (slots), {
    slot: 'browser', child: 'flow',
    wrap: (inner, nameOf, failed) => {
      wrapped.push({ inner, nameOf, failed })
      return () => null
    },
    report: error => reported.push(/** @type {Error} */ (error).message),
  })
  const last = () => /** @type {(typeof wrapped)[number]} */ (wrapped.at(-1))
  return { slots, chain, wrapped, reported, removeStock, last }
}

test('ours renders in front of the stock entry, with all that it needs', () => {
  const { slots, chain, last } = stand()
  chain.link()
  const { options, component, ...rest } = slots.shown('browser')
  assert.equal(options.priority, -1)
  assert.notEqual(component, Stock)
  assert.deepEqual(rest, { children: { 'draftSessions.flow': children.flow }, store: 'store', inject: 'inject', locale: 'workspace' })
  assert.equal(last().inner.component, Stock)
  assert.deepEqual([last().nameOf('flow'), last().nameOf('other')], ['draftSessions.flow', 'other'])
})

test('a child slot of ours holds what the stock one holds, also when that comes late or goes', async () => {
  const { slots, chain } = stand()
  chain.link()
  assert.equal(slots.shown('draftSessions.flow'), undefined)
  const remove = slots.register({ name: 'flow', inject: 'picker' }, Flow)
  await answers()
  assert.deepEqual(slots.shown('draftSessions.flow'), { component: Flow, options: {}, inject: 'picker' })
  remove()
  await answers()
  assert.equal(slots.shown('draftSessions.flow'), undefined)
})

test('an entry that comes in below is wrapped in its turn', async () => {
  const { slots, chain, last } = stand()
  chain.link()
  const Neighbour = () => null
  slots.register({ name: 'browser', priority: -5, children }, Neighbour)
  await answers()
  assert.equal(last().inner.component, Neighbour)
  assert.equal(slots.shown('browser').options.priority, -6)
})

test('two that both want to be lowest come to an end (invariant 8)', async () => {
  const { slots, chain, wrapped } = stand()
  chain.link()
  for (let priority = -10; priority > -400; priority -= 10) {
    slots.register({ name: 'browser', priority, children }, () => null)
    await answers()
  }
  assert.ok(wrapped.length < 10, `${wrapped.length} chains`)
})

test('when the wrapped entry goes the one behind it is wrapped', async () => {
  const { slots, chain, last } = stand()
  const remove = slots.register({ name: 'browser', priority: -3, children }, Flow)
  chain.link()
  assert.equal(last().inner.component, Flow)
  remove()
  await answers()
  assert.equal(last().inner.component, Stock)
  assert.equal(slots.shown('browser').options.priority, -1)
})

test('a neighbour that throws is left out, and the stock entry is shown', async () => {
  const { slots, chain, last, reported } = stand()
  slots.register({ name: 'browser', priority: -3, children }, Flow)
  chain.link()
  last().failed(new Error('neighbour'))
  await answers()
  assert.equal(last().inner.component, Stock)
  assert.equal(slots.shown('browser').options.priority, -4)
  assert.deepEqual(reported, ['neighbour'])
})

test('where DSH is of another shape it stays stock (invariant 8)', () => {
  const slots = new StandSlots()
  slots.register({ name: 'browser', children: { other: children.flow } }, Stock)
  /** @type {unknown[]} */
  const reported = []
  new Chain(/** @type {any} */ (slots), { slot: 'browser', child: 'flow', wrap: () => Flow, report: error => reported.push(error) }).link()
  assert.equal(slots.shown('browser').component, Stock)
  assert.equal(reported.length, 1)
})

test('disposed nothing of ours is left', async () => {
  const { slots, chain, removeStock } = stand()
  slots.register({ name: 'flow' }, Flow)
  chain.link()
  chain.dispose()
  assert.equal(slots.shown('browser').component, Stock)
  assert.equal(slots.shown('draftSessions.flow'), undefined)
  removeStock()
  await answers()
  assert.equal(slots.shown('browser'), undefined)
})
