/**
 * What the gate says of this page. The page tells the host half what it found of
 * itself, before it uses any of it and again when something fails; a page that is
 * found wanting stays as DSH made it.
 */
import { pageFeatures, servedPackages, settled } from './features.js'

/**
 * @typedef {import('../wire/types.js').Verdict} Verdict
 * @typedef {import('./dsh.js').Context} Context
 */
/**
 * @typedef {object} VerdictHost
 * @property {Context} ctx
 * @property {() => import('./remote.js').Call | undefined} call
 * @property {() => boolean} wanted whether there is anything to be decided
 * @property {() => void} changed the verdict is another
 * @property {string} pageId
 * @property {unknown} boot DSH's boot manifest
 * @property {number} [retryMs] for tests
 */

const retryMs = 1_000

export class PageVerdict {
  #host
  /** @type {Verdict | undefined} */
  #verdict
  /** Parts of ours that failed, with the names of their errors. @type {Set<string>} */
  #faults = new Set()
  #asking = false
  #again = false
  #disposed = false
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer

  /** @param {VerdictHost} host */
  constructor(host) {
    this.#host = host
  }

  /** @returns {Verdict['mode'] | undefined} undefined: not decided yet */
  get mode() {
    return this.#faults.size > 0 ? 'stock' : this.#verdict?.mode
  }

  get reasons() {
    return this.#verdict?.reasons ?? []
  }

  get capabilities() {
    return this.#verdict?.capabilities ?? []
  }

  /** Ask the host half, now or, where it is being asked, once more. */
  ask() {
    this.#again = true
    if (this.#asking || this.#disposed) return
    this.#asking = true
    void this.#run().finally(() => {
      this.#asking = false
      // Asked for between the last look and now.
      if (this.#again && this.#host.wanted()) this.ask()
    })
  }

  /**
   * A part of ours threw: the page is DSH's alone from here on, until it is loaded anew.
   * @param {string} part @param {unknown} error of which only the name is told: its text may hold words of a draft
   */
  fault(part, error) {
    const name = error instanceof Error ? error.name : typeof error
    this.#faults.add(`${part}: ${/^\w{1,60}$/.test(name) ? name : 'Error'}`)
    this.#host.changed()
    this.ask()
  }

  /** @returns {import('../wire/types.js').PageReport} */
  report() {
    const { ctx, pageId, boot } = this.#host
    return { pageId, features: pageFeatures(ctx), served: servedPackages(boot), faults: [...this.#faults] }
  }

  dispose() {
    this.#disposed = true
    clearTimeout(this.#timer)
  }

  async #run() {
    const { ctx, call, wanted, changed, retryMs: pause = retryMs } = this.#host
    await settled(ctx)
    while (this.#again && !this.#disposed && wanted()) {
      this.#again = false
      try {
        const answer = await call()?.('report', this.report())
        if (this.#disposed) return
        if (!answer) return
        this.#verdict = /** @type {Verdict} */ (answer)
        changed()
      } catch {
        // The host is restarting, or the plugin is: whoever comes back is asked.
        this.#again = true
        await new Promise(resolve => { this.#timer = setTimeout(resolve, pause) })
      }
    }
  }
}
