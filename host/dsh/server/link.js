/** A plugin process that is up: it has told who it is, the gate is open, events flow. */
import { openChannel } from './channel.js'
import { protocolVersion } from './handshake.js'
import { checkBinary, within } from './manifest.js'
import { PluginProcess } from './process.js'
import { GateClosed, reason, StartError } from './reasons.js'
import { call } from './rpc.js'
import { deadlines } from '../wire/surface.js'
import { fromProto } from './convert.js'

/** Edits that were accepted and not yet saved get so long when the host ends, in ms. */
const lastFlushMs = 1_500
const watchAgainMs = 500
/** From the handshake to the first sidebar, in ms. */
const introduceMs = 20_000

/** A GateRequest. @typedef {{ host: string, hostVersion: string, features: string[] }} Facts */
/**
 * @typedef {object} LinkOptions
 * @property {import('./process.js').Launch} launch
 * @property {() => Promise<Facts>} facts about the host; asked for once the plugin has told who it is
 * @property {(facts: Facts) => Parameters<typeof openChannel>[1]} host
 * @property {(event: import('../wire/types.js').PushedEvent) => void} onEvent
 */

export class Link {
  /** Resolves with why, once the process has ended. */
  ended
  version = ''
  epoch = ''
  /** What works here, and what is not as it was tested. @type {import('../wire/types.js').Verdict} */
  verdict = { mode: 'full', capabilities: [], overridden: false, reasons: [] }
  /** @type {Facts} */
  #facts = { host: '', hostVersion: '', features: [] }
  #process
  #drafts
  #log
  #onEvent
  #closing = false

  /**
   * The gate in its order: the manifest and the binary, the handshake, who it is, what
   * it decides. Then on to the first sidebar, which onEvent has had when this resolves.
   * @param {LinkOptions} options
   * @param {AbortSignal} signal ends the process while it is not connected yet
   * @throws {StartError | GateClosed} the process has ended then
   */
  static async connect(options, signal) {
    await checkBinary(options.launch.binary)
    const process = await PluginProcess.start(options.launch, signal)
    const link = new Link(process, options)
    const onAbort = () => { process.kill() }
    signal.addEventListener('abort', onAbort)
    try {
      await Promise.race([
        within(link.#introduce(options), introduceMs + process.startMs),
        process.ended.then((why) => { throw new StartError(`the plugin ended while starting: ${why}`) }),
      ])
      return link
    } catch (error) {
      link.#closing = true
      process.kill()
      await process.ended
      throw error instanceof GateClosed ? error : process.explained(error)
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

  /**
   * What the gate says of a page: of the host's facts and those that the page found.
   * @param {string[]} features that the page has
   * @returns {Promise<import('../wire/types.js').Verdict>}
   * @throws {import('./rpc.js').CallError}
   */
  async judge(features) {
    return this.#gate({ ...this.#facts, features: [...this.#facts.features, ...features], probed: ['host', 'page'] })
  }

  /** @param {object} facts @returns {Promise<import('../wire/types.js').Verdict>} */
  async #gate(facts) {
    const { mode, capabilities, overridden, reasons } = fromProto(await this.call('Gate', facts))
    return { mode: mode === 'full' ? 'full' : 'stock', capabilities, overridden, reasons }
  }

  /** @param {LinkOptions} options */
  async #introduce({ facts, host }) {
    const info = await this.call('Info', {}, this.#process.startMs)
    if (info.protocol !== protocolVersion) {
      throw new GateClosed([reason('PROTOCOL_MISMATCH', 'The host\'s half and the plugin binary are of different builds; install both of one release.',
        { subject: 'protocol', expected: String(protocolVersion), found: String(Number(info.protocol)) })])
    }
    this.version = info.version
    this.epoch = info.epoch
    this.#facts = await facts()
    this.verdict = await this.#gate(this.#facts)
    if (this.verdict.mode !== 'full') throw new GateClosed(this.verdict.reasons)
    const channel = openChannel(this.#drafts.HostChannel(), host(this.#facts))
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
