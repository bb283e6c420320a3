/**
 * Keeps one plugin process going and says in which mode the bundle is. Whatever the
 * plugin does, nothing here throws into the host (invariant 8), and no process is
 * left behind (invariant 9).
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { GateClosed, Link } from './link.js'
import { StartError } from './process.js'

const backoffMinMs = 250
const backoffMaxMs = 30_000
const healthyMs = 60_000
const crashWindowMs = 120_000
const maxCrashes = 5

/** @typedef {import('../wire/types.js').Status} Status */
/** @typedef {import('../wire/types.js').Reason} Reason */
/** @typedef {Pick<Link, 'ended' | 'version' | 'epoch' | 'pid' | 'call' | 'shutdown'>} Connected */

/**
 * @typedef {object} SupervisorOptions
 * @property {(signal: AbortSignal) => Promise<Connected>} connect makes a new process and comes as far as its first event
 * @property {import('./log.js').HostLog} log
 * @property {(status: Status) => void} onStatus after each change
 * @property {(ms: number, signal: AbortSignal) => Promise<void>} [wait] for tests
 * @property {() => number} [now] for tests
 */

export class Supervisor {
  #options
  /** @type {Status} */
  #status = { mode: 'starting', version: '', epoch: '', reasons: [] }
  /** @type {Connected | undefined} */
  #link
  #abort = new AbortController()
  /** @type {Promise<void>} */
  #running = Promise.resolve()
  #rearmable = false

  /** @param {SupervisorOptions} options */
  constructor(options) {
    this.#options = options
  }

  /** @returns {Status} */
  get status() { return this.#status }

  /** The plugin, in full mode only. @returns {Connected | undefined} */
  get link() { return this.#link }

  /** Begin. Returns at once. */
  start() {
    this.#rearmable = false
    this.#set({ mode: 'starting', version: '', epoch: '', reasons: [] })
    this.#running = this.#run().catch((error) => {
      this.#stock([reason('INTERNAL', String(error))])
    })
  }

  /** Begin anew after too many crashes; otherwise nothing. */
  rearm() {
    if (this.#rearmable && !this.#abort.signal.aborted) {
      this.#options.log.info('started again by hand')
      this.start()
    }
  }

  /** Stop for good; no reasons: the host ends. Resolves when no process is left. @param {Reason[]} reasons */
  async stop(reasons) {
    if (!this.#abort.signal.aborted) {
      this.#abort.abort()
      this.#rearmable = false
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
        if (!wasFull || error instanceof GateClosed || isPermanent(error)) {
          if (!this.#abort.signal.aborted) this.#stock(reasonsOf(error))
          return
        }
        why = message(error)
      }
      if (this.#abort.signal.aborted) return
      const ended = now()
      if (ended - started >= healthyMs) delay = backoffMinMs
      crashes.push(ended)
      while (crashes.length > 0 && ended - /** @type {number} */ (crashes[0]) > crashWindowMs) crashes.shift()
      if (crashes.length >= maxCrashes) {
        this.#rearmable = true
        this.#stock([reason('PLUGIN_CRASHED', `The drafts plugin ended ${crashes.length} times in a short while; drafts are off until they are switched on again.`, why)])
        return
      }
      log.warn('the plugin ended and is started again', { why })
      this.#set({ ...this.#status, mode: 'paused', reasons: [reason('PLUGIN_CRASHED', 'The drafts plugin ended; it is being started again.', why)] })
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
      this.#options.log.info('drafts are on', { version: link.version, epoch: link.epoch, pid: link.pid })
      try {
        this.#set({ mode: 'full', version: link.version, epoch: link.epoch, reasons: [] })
      } catch (error) {
        // Half of the bundle in place would be worse than none.
        this.#link = undefined
        await link.shutdown()
        throw new StartError('INTERNAL', message(error))
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
    await wait(ms, this.#abort.signal).catch(() => {
      // Stopped meanwhile: the loop sees it.
    })
  }

  /** @param {Reason[]} reasons */
  #stock(reasons) {
    this.#link = undefined
    if (reasons.length > 0) this.#options.log.warn('drafts are off; DSH is as without the bundle', { reasons })
    try {
      this.#set({ ...this.#status, mode: 'stock', reasons })
    } catch (error) {
      this.#options.log.warn('not everything could be undone', { error: message(error) })
    }
  }

  /** @param {Status} status */
  #set(status) {
    this.#status = status
    this.#options.onStatus(status)
  }
}

/** @param {string} code @param {string} text @param {string} [found] @returns {Reason} */
export function reason(code, text, found = '') {
  return { code, subject: '', expected: '', found, message: text }
}

/** @param {unknown} error */
function isPermanent(error) {
  return error instanceof StartError && error.code !== 'PLUGIN_START_FAILED'
}

/** @param {unknown} error @returns {Reason[]} */
function reasonsOf(error) {
  if (error instanceof GateClosed) return error.reasons
  const code = error instanceof StartError ? error.code : 'PLUGIN_START_FAILED'
  return [reason(code, 'The drafts plugin could not be started.', message(error))]
}

/** @param {unknown} error */
function message(error) {
  return error instanceof Error ? error.message : String(error)
}
