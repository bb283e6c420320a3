/**
 * A tiny observable value. Snapshots are replaced, never changed, so an unchanged
 * part keeps its identity and React does not render for it.
 *
 * @template {object} T
 */
export class Store {
  /** @type {Set<() => void>} */
  #listeners = new Set()
  /** @type {T} */
  #value

  /** @param {T} initial */
  constructor(initial) {
    this.#value = initial
  }

  getSnapshot = () => this.#value

  /** @param {() => void} listener */
  subscribe = listener => {
    this.#listeners.add(listener)
    return () => { this.#listeners.delete(listener) }
  }

  /** @param {Partial<T>} change */
  set(change) {
    const keys = /** @type {(keyof T)[]} */ (Object.keys(change))
    if (keys.every(key => Object.is(this.#value[key], change[key]))) return
    this.#value = { ...this.#value, ...change }
    for (const listener of [...this.#listeners]) listener()
  }
}
