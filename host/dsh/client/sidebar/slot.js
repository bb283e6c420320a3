/**
 * Shadows DSH's workspace browser with one that renders it unchanged below our rows.
 * The lowest priority renders, so ours goes one below the entry that renders now and
 * wraps that one, whoever's it is. When anything of ours throws, DSH drops our entry
 * and renders the next by itself.
 */
import { Component, Fragment, createElement as h, useMemo } from 'react'
import { hidingHook } from './hidden.js'

/**
 * @typedef {import('../dsh.js').Slots} Slots
 * @typedef {import('../dsh.js').SlotEntry} SlotEntry
 * @typedef {import('../dsh.js').BrowserProps} BrowserProps
 */

const slot = 'sidebar.workspaces'
const childPrefix = 'draftSessions.'
/** Two plugins that each want to be lowest would go on for ever. */
const maxChains = 6

/**
 * @param {Slots} slots
 * @param {{ Rows: import('react').ComponentType<BrowserProps>, useHidden: () => ReadonlySet<string> }} parts
 * @param {(error: unknown) => void} report
 * @returns {() => void}
 */
export function shadowBrowser(slots, parts, report) {
  // Fires when the browser is there, again when it comes back, and cleans up between.
  return slots.inject('sidebar.workspaces.directoryFlow', () => {
    const chain = new Chain(slots, parts, report)
    chain.link()
    return () => chain.dispose()
  })
}

class Chain {
  #slots
  #parts
  #report
  /** @type {(() => void)[]} */
  #undo = []
  /** @type {SlotEntry | undefined} */
  #inner
  /** @type {import('react').ComponentType<any> | undefined} */
  #ours
  /** Entries that threw inside ours. @type {WeakSet<SlotEntry>} */
  #broken = new WeakSet()
  #chains = 0
  #linking = false
  #unsubscribe

  /** @param {Slots} slots @param {{ Rows: import('react').ComponentType<BrowserProps>, useHidden: () => ReadonlySet<string> }} parts @param {(error: unknown) => void} report */
  constructor(slots, parts, report) {
    this.#slots = slots
    this.#parts = parts
    this.#report = report
    this.#unsubscribe = slots.subscribe(slot, () => this.#check())
  }

  link() {
    this.#linking = true
    try {
      this.#unlink()
      const inner = this.#slots.entries(slot).find(entry => entry.component !== this.#ours && !this.#broken.has(entry))
      if (!inner || this.#chains++ >= maxChains) return
      this.#inner = inner
      this.#register(inner)
    } catch (error) {
      // Two at one priority, a child that cannot be mirrored: the page stays stock.
      this.#unlink()
      this.#report(error)
    } finally {
      this.#linking = false
    }
  }

  /** @param {SlotEntry} inner */
  #register(inner) {
    const keys = Object.keys(inner.children ?? {})
    if (!keys.includes('sidebar.workspaces.directoryFlow')) throw new Error('the workspace browser is of another kind')
    const children = Object.fromEntries(keys.map(key => [childPrefix + key, inner.children?.[key]]))
    const { store, inject, locale } = inner
    const Browser = this.#browser(inner, new Set(keys))
    this.#ours = Browser
    this.#undo.push(this.#slots.register({
      name: slot, priority: (inner.options.priority ?? 0) - 1, children,
      ...(store === undefined ? {} : { store }), ...(inject === undefined ? {} : { inject }), ...(locale === undefined ? {} : { locale }),
    }, Browser))
    for (const key of keys) this.#undo.push(mirror(this.#slots, key, childPrefix + key, this.#report))
  }

  /**
   * @param {SlotEntry} inner
   * @param {Set<string>} keys
   * @returns {import('react').ComponentType<BrowserProps>}
   */
  #browser(inner, keys) {
    const { Rows, useHidden } = this.#parts
    const failed = (/** @type {unknown} */ error) => this.#innerFailed(inner, error)
    return function DraftsBrowser(props) {
      const { renderSlot, useSessions } = props
      const hidden = useHidden()
      const mirrored = useMemo(() => {
        /** @type {BrowserProps['renderSlot']} */
        const render = (key, owner, options) => renderSlot(keys.has(key) ? childPrefix + key : key, owner, options)
        return render
      }, [renderSlot])
      const hiding = useMemo(() => hidingHook(useSessions, hidden), [useSessions, hidden])
      return h(Fragment, null,
        h(Quiet, { report: failed, rethrow: false, name: 'rows' }, h(Rows, props)),
        h(Quiet, { report: failed, rethrow: true, name: 'browser' },
          h(inner.component, { ...props, renderSlot: mirrored, useSessions: hiding })))
    }
  }

  /** @param {SlotEntry} inner @param {unknown} error */
  #innerFailed(inner, error) {
    this.#report(error)
    // A neighbour that throws is left out; the entry below it renders inside ours.
    this.#broken.add(inner)
    queueMicrotask(() => this.link())
  }

  #check() {
    if (this.#linking) return
    const entries = this.#slots.entries(slot)
    const lowest = this.#slots.entriesOfSlot(slot)[0]
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

/**
 * Renders nothing in place of what threw, so that a fault of ours takes nothing with it.
 * @extends {Component<{ report: (error: unknown) => void, rethrow: boolean, name: string, children?: import('react').ReactNode }, { failed: boolean }>}
 */
export class Quiet extends Component {
  /** @override */
  state = { failed: false }

  static getDerivedStateFromError() {
    return { failed: true }
  }

  /** @override @param {unknown} error */
  componentDidCatch(error) {
    if (this.props.rethrow) this.props.report(error)
    else console.warn(`draft sessions: ${this.props.name} stepped back`, error)
  }

  /** @override */
  render() {
    return this.state.failed ? null : this.props.children
  }
}
