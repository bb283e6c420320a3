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

  /** @type {Set<(key: string, entry: any, error: unknown) => void>} */
  #errors = new Set()

  /** @param {(key: string, entry: any, error: unknown) => void} listener */
  onEntryError = listener => {
    this.#errors.add(listener)
    return () => { this.#errors.delete(listener) }
  }

  /** @param {string} name @param {any} entry @param {unknown} error */
  crash(name, entry, error) {
    for (const listener of [...this.#errors]) listener(name, entry, error)
  }

  /** @param {string} name */
  shown(name) {
    return this.entriesOfSlot(name)[0]
  }
}

const Stock = () => null
const Flow = () => null
const children = { flow: { kind: 'single', scope: 'root' } }

/** @param {() => boolean} there */
async function until(there) {
  while (!there()) await new Promise(resolve => setTimeout(resolve, 1))
}

function stand() {
  const world = { shown: false, gaveUp: /** @type {string[]} */ ([]), now: 0 }
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
    shown: () => world.shown,
    gaveUp: error => { world.gaveUp.push(error.message) },
    now: () => world.now, settleMs: 0,
  })
  const last = () => /** @type {(typeof wrapped)[number]} */ (wrapped.at(-1))
  return { slots, chain, wrapped, reported, removeStock, last, world }
}

test('ours renders in front of the stock entry, with all that it needs', () => {
  const { slots, chain, last } = stand()
  chain.link()
  const { options, component, ...rest } = slots.shown('browser')
  assert.equal(options.priority, -0.5)
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
  // It asks for no more than the stock entry's shape somewhere in the slot.
  slots.register({ name: 'browser', priority: -1, children: { theirs: children.flow } }, Neighbour)
  await until(() => last().inner.component === Neighbour)
  assert.equal(slots.shown('browser').options.priority, -1.5)
  assert.deepEqual(Object.keys(slots.shown('browser').children), ['draftSessions.theirs'])
})

test('an entry below ours that shows ours is left alone', async () => {
  const { slots, chain, wrapped, world } = stand()
  chain.link()
  world.shown = true
  const Neighbour = () => null
  slots.register({ name: 'browser', priority: -1.5, children }, Neighbour)
  await new Promise(resolve => setTimeout(resolve, 30))
  assert.equal(wrapped.length, 1)
  assert.equal(slots.shown('browser').component, Neighbour)
})

test('two that both want to be lowest come to an end: ours leaves the place (invariant 8)', async () => {
  const { slots, chain, wrapped, world } = stand()
  chain.link()
  let theirs = 0
  for (let priority = -10; priority > -400 && world.gaveUp.length === 0; priority -= 10) {
    slots.register({ name: 'browser', priority, children }, () => null)
    theirs += 1
    const before = wrapped.length
    await until(() => wrapped.length > before || world.gaveUp.length > 0)
  }
  assert.deepEqual(world.gaveUp, ['another plugin wants the same place'])
  assert.ok(wrapped.length < 30, `${wrapped.length} chains`)
  const made = wrapped.length
  slots.register({ name: 'browser', priority: -900, children }, Flow)
  await new Promise(resolve => setTimeout(resolve, 30))
  assert.equal(wrapped.length, made, 'once is enough')
  assert.equal(slots.entries('browser').length, 1 + theirs + 1, 'only the others are there')
})

test('a neighbour that comes and goes as people switch it is no quarrel', async () => {
  const { slots, chain, last, world } = stand()
  chain.link()
  for (let n = 0; n < 20; n++) {
    world.now += 40_000
    const Neighbour = () => null
    const remove = slots.register({ name: 'browser', priority: -1, children }, Neighbour)
    await until(() => last().inner.component === Neighbour)
    remove()
    await until(() => last().inner.component === Stock)
  }
  assert.deepEqual(world.gaveUp, [])
  assert.equal(slots.shown('browser').options.priority, -0.5)
})

test('when the wrapped entry goes the one behind it is wrapped', async () => {
  const { slots, chain, last } = stand()
  const remove = slots.register({ name: 'browser', priority: -3, children }, Flow)
  chain.link()
  assert.equal(last().inner.component, Flow)
  remove()
  await answers()
  assert.equal(last().inner.component, Stock)
  assert.equal(slots.shown('browser').options.priority, -0.5)
})

test('a neighbour that throws is left out, and the stock entry is shown', async () => {
  const { slots, chain, last, reported } = stand()
  slots.register({ name: 'browser', priority: -3, children }, Flow)
  chain.link()
  last().failed(new Error('neighbour'))
  await answers()
  assert.equal(last().inner.component, Stock)
  assert.equal(slots.shown('browser').options.priority, -3.5)
  assert.deepEqual(reported, ['neighbour'])
})

test('where the stock entry throws too, the slot is left to DSH', async () => {
  const { slots, chain, last, world } = stand()
  chain.link()
  last().failed(new Error('stock'))
  await answers()
  assert.equal(slots.shown('browser').component, Stock)
  assert.equal(world.gaveUp.length, 1)
})

test('when DSH takes ours out because it threw, that is told', async () => {
  const { slots, chain, world } = stand()
  chain.link()
  slots.crash('browser', slots.shown('browser'), new Error('ours'))
  assert.deepEqual(world.gaveUp, ['ours'])
  assert.equal(slots.shown('browser').component, Stock)
})

test('where DSH is of another shape it stays stock (invariant 8)', () => {
  const slots = new StandSlots()
  slots.register({ name: 'browser', children: { other: children.flow } }, Stock)
  /** @type {string[]} */
  const gaveUp = []
  new Chain(/** @type {any} */ (slots), {
    slot: 'browser', child: 'flow', wrap: () => Flow, report: () => {}, shown: () => true, gaveUp: error => { gaveUp.push(error.message) },
  }).link()
  assert.equal(slots.shown('browser').component, Stock)
  assert.deepEqual(gaveUp, ['what is in browser is of another kind'])
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
