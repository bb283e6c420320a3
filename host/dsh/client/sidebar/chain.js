/**
 * Takes the place of an entry in one of DSH's slots and goes on showing it. The lowest
 * priority renders, so ours goes below the entry that renders now, whoever's it is;
 * when that one goes, or another comes in below ours and does not show ours, the
 * chain is made anew. Two plugins that each want to be lowest would go on for ever:
 * then ours leaves the place to the other.
 */

/**
 * @typedef {import('../dsh.js').Slots} Slots
 * @typedef {import('../dsh.js').SlotEntry} SlotEntry
 * @typedef {import('react').ComponentType<any>} AnyComponent
 */
/**
 * @typedef {object} ChainOptions
 * @property {string} slot
 * @property {string} child a child slot that one entry must have for the slot to be the expected one
 * @property {(inner: SlotEntry, nameOf: (key: string) => string, failed: (error: unknown) => void) => AnyComponent} wrap
 *   the component that shows `inner`; nameOf gives our own child slot for one of its; failed: `inner` threw
 * @property {() => boolean} shown whether that component is in the page, perhaps inside somebody else's
 * @property {(error: unknown) => void} report
 * @property {(error: Error) => void} gaveUp ours is out of the slot for good
 * @property {() => number} [now] for tests
 * @property {number} [settleMs] for tests
 */

const childPrefix = 'draftSessions.'
/** Whole numbers are what others choose, and the same twice is refused. */
const step = 0.5
/** More than so many new chains in so long, in milliseconds, are a quarrel. */
const maxChains = 20
const windowMs = 60_000
/** How long an entry that came in below ours may take to show it, in milliseconds. */
const settleMs = 300

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
  /** When the chain was made anew. @type {number[]} */
  #made = []
  #linking = false
  #over = false
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer
  /** @type {(() => void)[]} */
  #unsubscribe

  /** @param {Slots} slots @param {ChainOptions} options */
  constructor(slots, options) {
    this.#slots = slots
    this.#options = options
    this.#unsubscribe = [slots.subscribe(options.slot, () => this.#check())]
    // DSH takes an entry that throws out of its slot and shows the next.
    const off = slots.onEntryError?.((key, entry, error) => {
      if (key === options.slot && entry.component === this.#ours) this.#giveUp(error)
    })
    if (off) this.#unsubscribe.push(off)
  }

  link() {
    if (this.#over) return
    const { now = Date.now } = this.#options
    this.#made = [...this.#made.filter(at => now() - at < windowMs), now()]
    if (this.#made.length > maxChains) return this.#giveUp(named('PlaceTaken', 'another plugin wants the same place'))
    this.#linking = true
    try {
      this.#unlink()
      const others = this.#slots.entries(this.#options.slot)
      if (!others.some(entry => Object.hasOwn(entry.children ?? {}, this.#options.child))) {
        throw named('OtherShape', `what is in ${this.#options.slot} is of another kind`)
      }
      const inner = others.find(entry => !this.#broken.has(entry))
      if (!inner) throw new Error(`nothing in ${this.#options.slot} can be shown`)
      this.#register(inner, Math.min(...others.map(entry => entry.options.priority ?? 0)) - step)
    } catch (error) {
      // A child that cannot be mirrored, a registration that is refused: the slot is the others'.
      this.#giveUp(error)
    } finally {
      this.#linking = false
    }
  }

  /** @param {SlotEntry} inner @param {number} priority */
  #register(inner, priority) {
    const { slot, wrap, report } = this.#options
    const keys = Object.keys(inner.children ?? {})
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
    queueMicrotask(() => { if (this.#inner === inner) this.link() })
  }

  #check() {
    if (this.#linking || this.#over) return
    if (this.#inner && !this.#slots.entries(this.#options.slot).includes(this.#inner)) return this.link()
    if (!this.#isBelow() || this.#timer !== undefined) return
    // It may show ours inside its own, as ours does with others: then all is well.
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (!this.#over && this.#isBelow() && !this.#options.shown()) this.link()
    }, this.#options.settleMs ?? settleMs)
  }

  /** Whether another entry renders in place of ours. */
  #isBelow() {
    const { slot } = this.#options
    const ours = this.#slots.entries(slot).find(entry => entry.component === this.#ours)
    const lowest = this.#slots.entriesOfSlot(slot)[0]
    return ours !== undefined && lowest !== undefined && lowest !== ours
  }

  /** @param {unknown} error */
  #giveUp(error) {
    if (this.#over) return
    this.dispose()
    this.#options.gaveUp(error instanceof Error ? error : new Error(String(error)))
  }

  #unlink() {
    for (const undo of this.#undo.splice(0).reverse()) undo()
    this.#inner = undefined
    this.#ours = undefined
  }

  dispose() {
    this.#over = true
    clearTimeout(this.#timer)
    for (const off of this.#unsubscribe) off()
    this.#unlink()
  }
}

/** An error whose name alone, which is all that is told of it, says what it is. @param {string} name @param {string} message */
function named(name, message) {
  return Object.assign(new Error(message), { name })
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
