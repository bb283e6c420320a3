/** A plugin process that is up: it has told who it is, the gate is open, events flow. */
import { protocolVersion } from './handshake.js'
import { openChannel } from './channel.js'
import { PluginProcess, StartError } from './process.js'
import { call } from './rpc.js'
import { deadlines } from '../wire/surface.js'
import { fromProto } from './convert.js'

/** Edits that were accepted and not yet saved get so long when the host ends, in ms. */
const lastFlushMs = 1_500
const watchAgainMs = 500

/** The gate decided for stock. */
export class GateClosed extends Error {
  /** @param {import('../wire/types.js').Reason[]} reasons */
  constructor(reasons) {
    super(reasons.map(reason => reason.message).join(' '))
    this.name = 'GateClosed'
    this.reasons = reasons
  }
}

/**
 * @typedef {object} LinkOptions
 * @property {import('./process.js').Launch} launch
 * @property {object} facts a GateRequest
 * @property {Parameters<typeof openChannel>[1]} host
 * @property {(event: import('../wire/types.js').PushedEvent) => void} onEvent
 */

export class Link {
  /** Resolves with why, once the process has ended. */
  ended
  version = ''
  epoch = ''
  #process
  #drafts
  #log
  #onEvent
  #closing = false

  /**
   * Start the plugin and come as far as the first sidebar, which onEvent has had
   * when this resolves.
   * @param {LinkOptions} options
   * @param {AbortSignal} signal ends the process while it is not connected yet
   * @throws {StartError | GateClosed} the process has ended then
   */
  static async connect(options, signal) {
    const process = await PluginProcess.start(options.launch, signal)
    const link = new Link(process, options)
    const onAbort = () => { process.kill() }
    signal.addEventListener('abort', onAbort)
    try {
      await Promise.race([
        link.#introduce(options),
        process.ended.then((why) => { throw new StartError('PLUGIN_START_FAILED', `the plugin ended while starting: ${why}`) }),
      ])
      return link
    } catch (error) {
      link.#closing = true
      process.kill()
      await process.ended
      throw error
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  /** @param {PluginProcess} process @param {LinkOptions} options */
  constructor(process, { launch, onEvent }) {
    this.#process = process
    this.#drafts = process.drafts
    this.#log = launch.log
    this.#onEvent = onEvent
    this.ended = process.ended
    void this.ended.then(() => { this.#closing = true })
  }

  get pid() { return this.#process.pid }

  /**
   * One call of the plugin's service.
   * @param {string} rpc
   * @param {object} request
   * @param {number} [ms]
   * @returns {Promise<any>}
   * @throws {import('./rpc.js').CallError}
   */
  call(rpc, request, ms = deadlines.normal) {
    return call(this.#drafts, rpc, request, ms)
  }

  /** Save what was accepted, then end the process in order. */
  async shutdown() {
    this.#closing = true
    await this.call('Flush', { draftId: '' }, lastFlushMs).catch(() => {
      // It is ending anyway; what is not saved is still in the page.
    })
    await this.#process.shutdown()
  }

  /** @param {LinkOptions} options */
  async #introduce({ facts, host }) {
    const info = await this.call('Info', {})
    if (info.protocol !== protocolVersion) {
      throw new StartError('PROTOCOL_MISMATCH', `protocol ${Number(info.protocol)} instead of ${protocolVersion}`)
    }
    this.version = info.version
    this.epoch = info.epoch
    const gate = await this.call('Gate', facts)
    if (gate.mode !== 'full') throw new GateClosed(gate.reasons)
    const channel = openChannel(this.#drafts.HostChannel(), host)
    void channel.ended.then(() => {
      if (this.#closing) return
      this.#log.warn('the host channel ended; killing the plugin', { pid: this.pid })
      this.#process.kill()
    })
    await channel.ready
    await this.#watchEvents()
  }

  /** Resolves with the first event. Opened again whenever the plugin ends it. */
  #watchEvents() {
    return new Promise((resolve) => {
      const open = () => {
        if (this.#closing) return
        const stream = this.#drafts.Watch({})
        stream.on('data', (/** @type {any} */ event) => {
          try {
            this.#onEvent(/** @type {any} */ ({ kind: event.event, value: fromProto(event[event.event]) }))
          } catch (error) {
            this.#log.warn('an event was dropped', { error: String(error) })
          }
          resolve(undefined)
        })
        let again = false
        const reopen = () => {
          if (again) return
          again = true
          setTimeout(open, watchAgainMs).unref()
        }
        stream.on('error', reopen)
        stream.on('end', reopen)
      }
      open()
    })
  }
}
