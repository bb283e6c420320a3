/**
 * Keeps one plugin process going and says in which mode the bundle is. Whatever the
 * plugin does, nothing here throws into the host (invariant 8), and no process is
 * left behind (invariant 9).
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { GateClosed, messageOf, reason, reasonsOf } from './reasons.js'

const backoffMinMs = 250
const backoffMaxMs = 30_000
const healthyMs = 60_000
const crashWindowMs = 120_000
const maxCrashes = 5

/** @typedef {import('../wire/types.js').Status} Status */
/** @typedef {import('../wire/types.js').Reason} Reason */
/** @typedef {Pick<import('./link.js').Link, 'ended' | 'version' | 'epoch' | 'pid' | 'verdict' | 'judge' | 'call' | 'shutdown'>} Connected */

/**
 * @typedef {object} SupervisorOptions
 * @property {(signal: AbortSignal) => Promise<Connected>} connect makes a new process and comes as far as its first event
 * @property {import('./log.js').HostLog} log
 * @property {(status: Status) => void} onStatus after each change
 * @property {(signal: AbortSignal) => Promise<boolean>} [asked] waits until a person's command asks to start again
 * @property {(ms: number, signal: AbortSignal) => Promise<void>} [wait] for tests
 * @property {() => number} [now] for tests
 */

/** @type {Status} */
const starting = { mode: 'starting', version: '', epoch: '', reasons: [], capabilities: [], overridden: false, rearmable: false, pages: [] }

export class Supervisor {
  #options
  #status = starting
  /** @type {Connected | undefined} */
  #link
  #abort = new AbortController()
  /** @type {Promise<void>} */
  #running = Promise.resolve()
  /** Ends what waits: for the next start, or for a request to start again. */
  #waiting = new AbortController()

  /** @param {SupervisorOptions} options */
  constructor(options) {
    this.#options = options
  }

  get status() { return this.#status }

  /** The plugin, in full mode only. @returns {Connected | undefined} */
  get link() { return this.#link }

  /** Begin. Returns at once. */
  start() {
    this.#set(starting)
    this.#running = this.#run().catch((error) => {
      this.#stock([reason('INTERNAL', 'Drafts failed in a way that nobody thought of; the log has more.', { found: String(error) })])
    })
  }

  /** A person's wish: begin anew after the plugin was given up, or at once while it is waited for. */
  rearm() {
    if (this.#abort.signal.aborted) return
    if (this.#status.mode === 'paused') this.#waiting.abort()
    if (!this.#status.rearmable) return
    this.#waiting.abort()
    this.#options.log.info('started again by hand')
    this.start()
  }

  /** Stop for good; no reasons: the host ends. Resolves when no process is left. @param {Reason[]} reasons */
  async stop(reasons) {
    if (!this.#abort.signal.aborted) {
      this.#abort.abort()
      this.#waiting.abort()
      this.#stock(reasons)
    }
    await this.#running
  }

  async #run() {
    const { log, now = Date.now } = this.#options
    /** @type {number[]} when the process crashed, oldest first */
    const crashes = []
    let delay = backoffMinMs
    let wasFull = false
    while (!this.#abort.signal.aborted) {
      const started = now()
      let why
      try {
        why = await this.#lifetime()
        wasFull = true
      } catch (error) {
        if (this.#abort.signal.aborted) return
        // A mismatch stays one: only a person can have mended it.
        if (error instanceof GateClosed) return this.#stock(error.reasons)
        if (!wasFull) return this.#giveUp(reasonsOf(error))
        why = messageOf(error)
      }
      if (this.#abort.signal.aborted) return
      const ended = now()
      if (ended - started >= healthyMs) delay = backoffMinMs
      crashes.push(ended)
      while (crashes.length > 0 && ended - /** @type {number} */ (crashes[0]) > crashWindowMs) crashes.shift()
      if (crashes.length >= maxCrashes) {
        return this.#giveUp([reason('PLUGIN_CRASHED',
          `The drafts plugin ended ${crashes.length} times in a short while; drafts are off until it is started again by hand (in the settings' list of plugins, or with "draft-sessions rearm").`,
          { found: why })])
      }
      log.warn('the plugin ended and is started again', { why })
      this.#set({ ...this.#status, mode: 'paused', reasons: [reason('PLUGIN_CRASHED', 'The drafts plugin ended; it is being started again.', { found: why })] })
      await this.#wait(delay * (0.5 + Math.random() / 2))
      delay = Math.min(delay * 2, backoffMaxMs)
    }
  }

  /** One process from its start to its end. @returns {Promise<string>} why it ended */
  async #lifetime() {
    const { signal } = this.#abort
    const link = await this.#options.connect(signal)
    if (!signal.aborted) {
      this.#link = link
      const { version, epoch, pid, verdict: { capabilities, overridden, reasons } } = link
      this.#options.log.info('drafts are on', { version, epoch, pid, ...(overridden ? { overridden } : {}), ...(reasons.length > 0 ? { reasons } : {}) })
      try {
        this.#set({ ...starting, mode: 'full', version, epoch, capabilities, overridden, reasons })
      } catch (error) {
        // Half of the bundle in place would be worse than none.
        this.#link = undefined
        await link.shutdown()
        throw new GateClosed([reason('INTERNAL', 'Drafts could not be put in place; the log has more.', { found: messageOf(error) })])
      }
    }
    const stopped = new Promise((resolve) => {
      if (signal.aborted) resolve(undefined)
      signal.addEventListener('abort', resolve, { once: true })
    })
    const why = await Promise.race([link.ended, stopped.then(() => undefined)])
    this.#link = undefined
    if (why !== undefined) return why
    await link.shutdown()
    return 'it was stopped'
  }

  /** @param {number} ms */
  async #wait(ms) {
    const { wait = (time, signal) => sleep(time, undefined, { signal, ref: false }) } = this.#options
    this.#waiting = new AbortController()
    if (this.#abort.signal.aborted) return
    await wait(ms, this.#waiting.signal).catch(() => {
      // Stopped, or asked to go on at once: the loop sees which.
    })
  }

  /** Stock until a person asks for another try. @param {Reason[]} reasons */
  #giveUp(reasons) {
    this.#waiting = new AbortController()
    const { signal } = this.#waiting
    this.#stock(reasons, true)
    this.#options.asked?.(signal).then(
      (yes) => { if (yes && !signal.aborted) this.rearm() },
      (error) => { this.#options.log.warn('requests to start again are not heard', { error: messageOf(error) }) },
    )
  }

  /** @param {Reason[]} reasons @param {boolean} [rearmable] */
  #stock(reasons, rearmable = false) {
    this.#link = undefined
    if (reasons.length > 0) this.#options.log.warn('drafts are off; DSH is as without the bundle', { reasons })
    try {
      this.#set({ ...this.#status, mode: 'stock', reasons, capabilities: [], overridden: false, rearmable, pages: [] })
    } catch (error) {
      this.#options.log.warn('not everything could be undone', { error: messageOf(error) })
    }
  }

  /** What pages cannot do; told in the status. @param {Reason[]} pages */
  tellPages(pages) {
    this.#set({ ...this.#status, pages })
  }

  /** @param {Status} status */
  #set(status) {
    this.#status = status
    this.#options.onStatus(status)
  }
}
