/**
 * Observations for the plugin, in the order in which they were made. They wait
 * while it is down and go to the next process.
 */

const maxQueued = 1000
const retryMs = 1_000
const maxTries = 5

/** @typedef {() => (Pick<import('./link.js').Link, 'call'> | undefined)} CurrentLink */

export class Outbox {
  /** @type {{ rpc: string, request: object, tries: number }[]} */
  #queue = []
  #sending = false
  #closed = false
  #link
  #log
  #retryMs

  /**
   * @param {CurrentLink} link
   * @param {import('./log.js').HostLog} log
   * @param {number} [retry] how long to wait after a call that got no answer, in ms
   */
  constructor(link, log, retry = retryMs) {
    this.#link = link
    this.#log = log
    this.#retryMs = retry
  }

  /** @param {string} rpc @param {object} request */
  push(rpc, request) {
    if (this.#closed) return
    if (this.#queue.length >= maxQueued) {
      this.#queue.shift()
      this.#log.warn('an observation was dropped: too many wait for the plugin')
    }
    this.#queue.push({ rpc, request, tries: 0 })
    this.drain()
  }

  /** Go on sending: a plugin is there again. */
  drain() {
    if (this.#sending) return
    this.#sending = true
    void this.#send().finally(() => { this.#sending = false })
  }

  /** Forget what waits and take nothing more. */
  close() {
    this.#closed = true
    this.#queue = []
  }

  async #send() {
    for (let first = this.#queue[0]; first; first = this.#queue[0]) {
      const link = this.#link()
      if (!link) return
      try {
        await link.call(first.rpc, first.request)
      } catch (error) {
        first.tries += 1
        const answered = /** @type {Partial<import('./rpc.js').CallError>} */ (error).answered === true
        if (!answered && first.tries < maxTries) {
          await new Promise((resolve) => { setTimeout(resolve, this.#retryMs).unref() })
          continue
        }
        this.#log.warn('an observation was not taken', { rpc: first.rpc, error: String(error) })
      }
      if (this.#queue[0] === first) this.#queue.shift()
    }
  }
}
