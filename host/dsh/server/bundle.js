/** Puts the host half together and takes it apart again. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Once } from './channel.js'
import { collectFacts } from './facts.js'
import { hostCalls } from './hostcalls.js'
import { Link } from './link.js'
import { findNeighbour, watchNeighbour } from './neighbour.js'
import { observeCommands, observePrompts, observeSessions, WatchedSessions } from './observers.js'
import { Outbox } from './outbox.js'
import { Pages } from './pages.js'
import { pluginBinary, storageDir } from './paths.js'
import { loadServices } from './protos.js'
import { PushHub } from './push.js'
import { asked } from './rearm.js'
import { messageOf, reason } from './reasons.js'
import { makeService, register } from './remote.js'
import { Supervisor } from './supervisor.js'

const settlePollMs = 25
const settleMaxMs = 30_000

/** @typedef {import('./host.js').HostContext} HostContext */

export class Bundle {
  #ctx
  #log
  #supervisor
  #hub
  #outbox
  #pages
  #override
  #watched = new WatchedSessions()
  /** @type {import('../wire/types.js').Sidebar | undefined} */
  #sidebar
  /** @type {(() => void)[]} what makes DSH differ from stock, undone in stock mode */
  #undo = []
  /** @type {() => void} */
  #withdraw = () => {}
  #stopped = false

  /** @param {HostContext} ctx @param {import('./log.js').HostLog} log @param {string} override the untested version of DSH that the user runs */
  constructor(ctx, log, override) {
    this.#ctx = ctx
    this.#log = log
    this.#override = override
    this.#supervisor = new Supervisor({
      connect: this.#connector(), log, onStatus: () => { this.#onStatus() },
      asked: signal => asked(storageDir(process.env), signal),
    })
    this.#hub = new PushHub({
      status: () => this.#supervisor.status,
      sidebar: () => this.#sidebar,
      trustedHosts: () => ctx.get('webRuntime')?.trustedHosts ?? [],
    })
    this.#outbox = new Outbox(() => this.#supervisor.link, log)
    this.#pages = new Pages({ ctx, log, link: () => this.#supervisor.link, tell: (reasons) => { this.#supervisor.tellPages(reasons) } })
  }

  /** Begin, without waiting for anything. */
  start() {
    this.#inPlace(() => {
      this.#ctx.effect(() => watchNeighbour(this.#ctx, (other) => { this.#stepAside(other) }), 'draft-sessions neighbour')
      return this.#begin()
    })
  }

  /** Only tell why there are no drafts. @param {import('../wire/types.js').Reason[]} reasons */
  tell(reasons) {
    this.#inPlace(async () => {
      this.#stop(reasons)
      this.#withdraw = await this.#register()
    })
  }

  /** @param {() => Promise<void>} run */
  #inPlace(run) {
    const failed = (/** @type {unknown} */ error) => {
      this.#stop([reason('HOST_SEAM_FAILED',
        'Something of DSH that drafts build on is missing or failed; use a tested DSH or a plugin release made for this one.', { found: messageOf(error) })])
    }
    try {
      this.#ctx.effect(() => () => this.#dispose(), 'draft-sessions')
      this.#ctx.effect(() => this.#ctx.webServer.register(this.#hub.route), 'draft-sessions events')
      run().catch(failed)
    } catch (error) {
      failed(error)
    }
  }

  /** @param {import('../wire/types.js').Reason[]} reasons */
  #stop(reasons) {
    this.#supervisor.stop(reasons).catch((error) => {
      this.#log.warn('the plugin could not be stopped', { error: messageOf(error) })
    })
  }

  #register() {
    return register(this.#ctx, makeService({
      status: () => this.#supervisor.status,
      rearm: () => { this.#supervisor.rearm() },
      report: report => this.#pages.judge(report),
      link: () => this.#supervisor.link,
    }))
  }

  /**
   * Claim the namespace once everything else of DSH is loaded: a plugin that has
   * claimed it by then keeps it, whatever its name. Only then the plugin process may
   * touch the draft file.
   */
  async #begin() {
    const ctx = this.#ctx
    const until = Date.now() + settleMaxMs
    let other = findNeighbour(ctx)
    while (!other && !this.#stopped && (ctx.get('loader')?.getTasks().length ?? 0) > 0 && Date.now() < until) {
      await sleep(settlePollMs, undefined, { ref: false })
      other = findNeighbour(ctx)
    }
    if (this.#stopped) return
    if (other) {
      this.#stepAside(other)
      return
    }
    const withdraw = await this.#register()
    if (this.#stopped) {
      withdraw()
      return
    }
    this.#withdraw = withdraw
    this.#supervisor.start()
  }

  /** @param {import('../wire/types.js').Reason} other */
  #stepAside(other) {
    this.#stopped = true
    const withdraw = this.#withdraw
    this.#withdraw = () => {}
    try {
      withdraw()
    } catch (error) {
      this.#log.warn('the namespace could not be given up', { error: messageOf(error) })
    }
    this.#stop([other])
  }

  #connector() {
    const ctx = this.#ctx
    const log = this.#log
    const instance = randomUUID()
    const once = new Once()
    return async (/** @type {AbortSignal} */ signal) => {
      return Link.connect({
        launch: {
          binary: pluginBinary, args: ['plugin'], store: join(storageDir(process.env), 'drafts.json'),
          env: process.env, services: loadServices(), log,
        },
        facts: () => collectFacts(ctx, { override: this.#override }),
        host: ({ host, hostVersion }) => ({
          hello: { host, hostVersion, features: Object.keys(hostCalls(ctx)), instance }, handlers: hostCalls(ctx), once,
        }),
        onEvent: (event) => { this.#onEvent(event) },
      }, signal)
    }
  }

  /** @param {import('../wire/types.js').PushedEvent} event */
  #onEvent(event) {
    if (event.kind === 'sidebar') {
      this.#sidebar = event.value
      this.#watched.setDrafts(event.value.sessionIds)
    }
    // Before full mode the status is not out yet; it brings the sidebar with it.
    if (this.#supervisor.link) this.#hub.event(event)
  }

  #onStatus() {
    const { mode, pages } = this.#supervisor.status
    if (mode === 'full' && pages.length === 0) this.#pages.forget()
    if (mode === 'full') {
      this.#observe()
      this.#outbox.drain()
    }
    if (mode === 'stock') this.#unobserve()
    this.#hub.status()
  }

  #observe() {
    if (this.#undo.length > 0) return
    const plugin = { link: () => this.#supervisor.link, outbox: this.#outbox, log: this.#log }
    for (const observe of [observePrompts, observeCommands, observeSessions]) {
      this.#undo.push(observe(this.#ctx, plugin, this.#watched))
    }
  }

  #unobserve() {
    for (const undo of this.#undo.splice(0).reverse()) undo()
  }

  async #dispose() {
    this.#stopped = true
    this.#unobserve()
    this.#outbox.close()
    this.#hub.close()
    await this.#supervisor.stop([])
    this.#log.info('the bundle was switched off')
  }
}
