/** Timers by name: a name that is set again starts over, and all end together. */
export class Timers {
  /** @type {Map<string, ReturnType<typeof setTimeout>>} */
  #running = new Map()

  /** @param {string} name @param {number} ms @param {() => void} run */
  again(name, ms, run) {
    this.cancel(name)
    this.#running.set(name, setTimeout(() => {
      this.#running.delete(name)
      run()
    }, ms))
  }

  /** Set it unless it runs already. @param {string} name @param {number} ms @param {() => void} run */
  once(name, ms, run) {
    if (!this.#running.has(name)) this.again(name, ms, run)
  }

  /** @param {...string} names */
  cancel(...names) {
    for (const name of names) {
      clearTimeout(this.#running.get(name))
      this.#running.delete(name)
    }
  }

  clear() {
    this.cancel(...this.#running.keys())
  }
}
