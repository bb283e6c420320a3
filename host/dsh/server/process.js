/**
 * One plugin process: started, shaken hands with, watched, ended. Nothing here
 * knows what a draft is. Starting again means a new PluginProcess.
 */
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import grpc from '@grpc/grpc-js'
import { clientIdentity, toPem } from './certificate.js'
import { pluginEnvironment } from './environment.js'
import { maxMessageBytes, parseHandshake } from './handshake.js'
import { atMost, readLines } from './lines.js'
import { GateClosed, messageOf, StartError } from './reasons.js'
import { call } from './rpc.js'
import { makeSocketDir } from './socketdir.js'

const startDeadlineMs = 10_000
/** Where a user of a slow machine gives the plugin longer to start: whole seconds, 600 at most. */
const envStartSeconds = 'DRAFT_SESSIONS_START_SECONDS'
const shutdownGraceMs = 2_000
const healthEveryMs = 5_000
const healthDeadlineMs = 2_000
const healthMisses = 3
/** Windows has no process groups of this kind. */
const ownGroup = process.platform !== 'win32'
/** So many of the last stderr lines, each cut to so many characters, go into a start error. */
const tailLines = 20
const tailChars = 300
/** How long after the end of the process its last words are waited for, in ms. */
const lastWordsMs = 1_000
/** So many of the plugin's lines go into the log in so long, in ms: writing them blocks the host. */
const loggedLines = 200
const loggedMs = 10_000

/**
 * @typedef {object} Launch
 * @property {string} binary
 * @property {string[]} args
 * @property {string} store the path of the draft file
 * @property {NodeJS.ProcessEnv} env the host's environment, of which little is handed on
 * @property {import('./protos.js').Services} services
 * @property {import('./log.js').HostLog} log
 */

export class PluginProcess {
  /** Resolves with why the process ended, once it has. @type {Promise<string>} */
  ended
  /** @type {import('node:child_process').ChildProcess} */
  #child
  #services
  #log
  #socketDir
  /** @type {string[]} */
  #tail = []
  /** @type {any[]} */
  #clients = []
  /** @type {((client: grpc.ServiceClientConstructor) => any) | undefined} */
  #connect
  /** @type {NodeJS.Timeout | undefined} */
  #health
  #over = false
  /** How long it may take to shake hands, and to tell who it is, in ms. */
  startMs
  #lastResort = () => { this.kill() }

  /**
   * Start the binary and shake hands.
   * @param {Launch} launch
   * @param {AbortSignal} signal ends the process while it is starting
   * @throws {StartError | GateClosed} the process has ended then; with its last words
   */
  static async start(launch, signal) {
    const identity = await clientIdentity()
    const process = new PluginProcess(launch, identity.certificate)
    const onAbort = () => { process.kill() }
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) onAbort()
    try {
      await process.#shakeHands(identity)
      return process
    } catch (error) {
      process.kill()
      await process.ended
      throw process.explained(error)
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  /** @param {Launch} launch @param {string} certificate */
  constructor(launch, certificate) {
    this.#services = launch.services
    this.#log = launch.log
    this.startMs = startDeadline(launch.env)
    this.#socketDir = makeSocketDir()
    this.#child = this.#spawn(launch, certificate)
    this.ended = this.#watchEnd()
    process.on('exit', this.#lastResort)
    this.#readStderr()
  }

  /** @param {Launch} launch @param {string} certificate */
  #spawn({ binary, args, env, store }, certificate) {
    try {
      return spawn(binary, args, {
        stdio: ['ignore', 'pipe', 'pipe'],
        // In a group of its own, what it started itself can be ended with it.
        detached: ownGroup,
        env: pluginEnvironment(env, { store, socketDir: this.#socketDir, certificate }),
      })
    } catch (error) {
      this.#removeSocketDir()
      throw new StartError(`it could not be started: ${messageOf(error)}`)
    }
  }

  #removeSocketDir() {
    try {
      rmSync(this.#socketDir, { recursive: true, force: true })
    } catch {
      // The next start sweeps it.
    }
  }

  /** The error with the last words of the process. @param {unknown} error */
  explained(error) {
    const tail = this.#tail.length ? `; its last words: ${this.#tail.join(' / ')}` : ''
    if (!(error instanceof GateClosed)) return new StartError(`${messageOf(error)}${tail}`)
    return new GateClosed(error.reasons.map(reason => ({ ...reason, found: `${reason.found}${tail}` })))
  }

  get pid() { return this.#child.pid ?? 0 }

  /** A client of the project's own service. @returns {any} */
  get drafts() { return this.#client(this.#services.draftSessions) }

  /** End it at once, with what it started as far as that stayed in its group. It may have ended already. */
  kill() {
    const { pid } = this.#child
    if (pid === undefined || this.#over) return
    try {
      process.kill(ownGroup ? -pid : pid, 'SIGKILL')
    } catch {
      // All of them have ended.
    }
  }

  /** End it in order: 2 seconds to do so, then SIGKILL. Resolves when it has ended. */
  async shutdown() {
    if (this.#connect) {
      call(this.#client(this.#services.controller), 'Shutdown', {}, shutdownGraceMs).catch(() => {
        // It may end before it answers; the timer below decides.
      })
    }
    const timer = setTimeout(() => { this.kill() }, shutdownGraceMs)
    await this.ended
    clearTimeout(timer)
  }

  async #watchEnd() {
    const read = new Promise((resolve) => { this.#child.once('close', resolve) })
    const outcome = await new Promise((resolve) => {
      // For good: an 'error' event without a listener ends the host.
      this.#child.on('error', (error) => { resolve(`it could not be started: ${error.message}`) })
      this.#child.once('exit', (code, signal) => { resolve(signal ? `it was ended by ${signal}` : `it exited with ${code}`) })
    })
    // Whatever it started and left behind; from here on its id may be another's.
    this.kill()
    this.#over = true
    process.off('exit', this.#lastResort)
    // Its last words may still be in the pipe, which somebody that left its group may hold open.
    await Promise.race([read, sleep(lastWordsMs, undefined, { ref: false })])
    clearInterval(this.#health)
    for (const client of this.#clients) client.close()
    this.#removeSocketDir()
    return /** @type {string} */ (outcome)
  }

  #readStderr() {
    const pass = atMost(loggedLines, loggedMs, (dropped) => { this.#log.warn('the plugin wrote too much', { dropped }) })
    readLines(/** @type {import('node:stream').Readable} */ (this.#child.stderr), (line) => {
      this.#tail.push(line.slice(0, tailChars))
      if (this.#tail.length > tailLines) this.#tail.shift()
      if (!pass()) return
      const { level, message, fields } = parseLogLine(line)
      const write = level === 'warn' || level === 'error' ? 'warn' : 'info'
      this.#log[write](`plugin: ${message}`, fields)
    })
  }

  /** @param {{ certificate: string, privateKey: string }} identity */
  async #shakeHands(identity) {
    const { socket, certificate } = await this.#handshakeLine()
    const credentials = grpc.credentials.createSsl(
      Buffer.from(toPem(certificate)), Buffer.from(identity.privateKey), Buffer.from(identity.certificate))
    const options = {
      'grpc.ssl_target_name_override': 'localhost',
      'grpc.default_authority': 'localhost',
      'grpc.max_receive_message_length': maxMessageBytes,
      'grpc.max_send_message_length': maxMessageBytes,
      'grpc.use_local_subchannel_pool': 1,
      'grpc.enable_http_proxy': 0,
    }
    this.#connect = Service => new Service(`unix:${socket}`, credentials, options)
    this.#drainStdio()
    this.#watchHealth()
  }

  async #handshakeLine() {
    const first = Promise.withResolvers()
    // Reading goes on for ever: a full pipe would stop the plugin.
    readLines(/** @type {import('node:stream').Readable} */ (this.#child.stdout), first.resolve)
    const timer = setTimeout(() => { first.resolve(undefined) }, this.startMs)
    const line = await Promise.race([
      first.promise,
      this.ended.then((why) => { throw new StartError(`the plugin did not start: ${why}`) }),
    ]).finally(() => { clearTimeout(timer) })
    if (line === undefined) throw new StartError(`no handshake within ${this.startMs / 1000} s`)
    return parseHandshake(line)
  }

  /** @param {grpc.ServiceClientConstructor} Service */
  #client(Service) {
    if (!this.#connect) throw new StartError('not connected')
    const client = this.#connect(Service)
    this.#clients.push(client)
    return client
  }

  #drainStdio() {
    const stream = this.#client(this.#services.stdio).StreamStdio({})
    stream.on('data', () => {})
    stream.on('error', () => {
      // It ends with the process.
    })
  }

  #watchHealth() {
    // The service itself, as the Go host asks it: a process whose health server lives on alone is of no use.
    const client = this.drafts
    let misses = 0
    this.#health = setInterval(() => {
      call(client, 'Info', {}, healthDeadlineMs).then(() => { misses = 0 }, () => {
        misses += 1
        if (misses < healthMisses) return
        this.#log.warn('the plugin does not answer; killing it', { pid: this.pid })
        this.kill()
      })
    }, healthEveryMs)
    this.#health.unref()
  }
}

/** @param {NodeJS.ProcessEnv} env @returns {number} in ms */
export function startDeadline(env) {
  const seconds = Number(env[envStartSeconds])
  return Number.isInteger(seconds) && seconds >= 1 && seconds <= 600 ? seconds * 1000 : startDeadlineMs
}

/**
 * A line of the plugin's log (hclog, JSON), or any other line of its stderr.
 * @param {string} line
 * @returns {{ level: string, message: string, fields: Record<string, unknown> }}
 */
export function parseLogLine(line) {
  try {
    const { '@level': level, '@message': message, '@timestamp': _at, '@caller': _caller, ...fields } = JSON.parse(line)
    if (typeof level === 'string' && typeof message === 'string') return { level, message, fields }
  } catch {
    // Not JSON: a panic, or a library's own words.
  }
  return { level: 'warn', message: line.slice(0, tailChars), fields: {} }
}
