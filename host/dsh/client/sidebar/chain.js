/**
 * Takes the place of an entry in one of DSH's slots and goes on showing it. The lowest
 * priority renders, so ours goes one below the entry that renders now, whoever's it
 * is; when that one goes, or another comes in below ours, the chain is made anew.
 */

/**
 * @typedef {import('../dsh.js').Slots} Slots
 * @typedef {import('../dsh.js').SlotEntry} SlotEntry
 * @typedef {import('react').ComponentType<any>} AnyComponent
 */
/**
 * @typedef {object} ChainOptions
 * @property {string} slot
 * @property {string} child a child slot that the entry must have to be the expected one
 * @property {(inner: SlotEntry, nameOf: (key: string) => string, failed: (error: unknown) => void) => AnyComponent} wrap
 *   the component that shows `inner`; nameOf gives our own child slot for one of its; failed: `inner` threw
 * @property {(error: unknown) => void} report
 */

const childPrefix = 'draftSessions.'
/** Two plugins that each want to be lowest would go on for ever. */
const maxChains = 6

export class Chain {
  #slots
  #options
  /** @type {(() => void)[]} */
  #undo = []
  /** @type {SlotEntry | undefined} */
  #inner
  /** @type {AnyComponent | undefined} */
  #ours
  /** Entries that threw inside ours. @type {WeakSet<SlotEntry>} */
  #broken = new WeakSet()
  #chains = 0
  #linking = false
  #unsubscribe

  /** @param {Slots} slots @param {ChainOptions} options */
  constructor(slots, options) {
    this.#slots = slots
    this.#options = options
    this.#unsubscribe = slots.subscribe(options.slot, () => this.#check())
  }

  link() {
    if (this.#chains++ >= maxChains) return
    this.#linking = true
    try {
      this.#unlink()
      const others = this.#slots.entries(this.#options.slot)
      const inner = others.find(entry => !this.#broken.has(entry))
      if (inner) this.#register(inner, Math.min(...others.map(entry => entry.options.priority ?? 0)) - 1)
    } catch (error) {
      // Two at one priority, a child that cannot be mirrored: the page stays stock.
      this.#unlink()
      this.#options.report(error)
    } finally {
      this.#linking = false
    }
  }

  /** @param {SlotEntry} inner @param {number} priority */
  #register(inner, priority) {
    const { slot, child, wrap, report } = this.#options
    const keys = Object.keys(inner.children ?? {})
    if (!keys.includes(child)) throw new Error(`the entry of ${slot} is of another kind`)
    const nameOf = (/** @type {string} */ key) => keys.includes(key) ? childPrefix + key : key
    const { store, inject, locale } = inner
    const Ours = wrap(inner, nameOf, error => this.#innerFailed(inner, error))
    this.#inner = inner
    this.#ours = Ours
    this.#undo.push(this.#slots.register({
      name: slot, priority,
      children: Object.fromEntries(keys.map(key => [nameOf(key), inner.children?.[key]])),
      ...(store === undefined ? {} : { store }), ...(inject === undefined ? {} : { inject }), ...(locale === undefined ? {} : { locale }),
    }, Ours))
    for (const key of keys) this.#undo.push(mirror(this.#slots, key, nameOf(key), report))
  }

  /** @param {SlotEntry} inner @param {unknown} error */
  #innerFailed(inner, error) {
    this.#options.report(error)
    // A neighbour that throws is left out; the entry below it renders inside ours.
    this.#broken.add(inner)
    queueMicrotask(() => this.link())
  }

  #check() {
    if (this.#linking) return
    const entries = this.#slots.entries(this.#options.slot)
    const lowest = this.#slots.entriesOfSlot(this.#options.slot)[0]
    const innerGone = this.#inner && !entries.includes(this.#inner)
    const ours = entries.find(entry => entry.component === this.#ours)
    const below = ours && lowest && lowest !== ours && (lowest.options.priority ?? 0) < (ours.options.priority ?? 0)
    if (innerGone || below) this.link()
  }

  #unlink() {
    for (const undo of this.#undo.splice(0).reverse()) undo()
    this.#inner = undefined
    this.#ours = undefined
  }

  dispose() {
    this.#unsubscribe()
    this.#unlink()
  }
}

/**
 * Give a child slot of ours what the stock one holds. Occupants come late and change.
 * @param {Slots} slots
 * @param {string} from
 * @param {string} to
 * @param {(error: unknown) => void} report
 */
function mirror(slots, from, to, report) {
  /** @type {(() => void)[]} */
  let undo = []
  const clear = () => { for (const dispose of undo.splice(0)) dispose() }
  const copy = () => {
    clear()
    try {
      for (const { component, options, select, inject, store, locale, children } of slots.entriesOfSlot(from)) {
        // A slot has one owner: what the occupant declares itself cannot be declared twice.
        if (children && Object.keys(children).length > 0) continue
        undo.push(slots.register({
          name: to, ...options,
          ...(select === undefined ? {} : { select }), ...(inject === undefined ? {} : { inject }),
          ...(store === undefined ? {} : { store }), ...(locale === undefined ? {} : { locale }),
        }, component))
      }
    } catch (error) {
      report(error)
    }
  }
  copy()
  const off = slots.subscribe(from, copy)
  return () => {
    off()
    clear()
  }
}
