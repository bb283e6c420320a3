/**
 * One plugin process: started, shaken hands with, watched, ended. Nothing here
 * knows what a draft is. Starting again means a new PluginProcess.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createInterface } from 'node:readline'
import grpc from '@grpc/grpc-js'
import { clientIdentity, toPem } from './certificate.js'
import { pluginEnvironment } from './environment.js'
import { maxMessageBytes, parseHandshake } from './handshake.js'
import { call } from './rpc.js'
import { makeSocketDir } from './socketdir.js'

const startDeadlineMs = 10_000
const shutdownGraceMs = 2_000
const healthEveryMs = 5_000
const healthDeadlineMs = 2_000
const healthMisses = 3
/** So many of the last stderr lines, each cut to so many characters, go into a start error. */
const tailLines = 20
const tailChars = 300

/** The plugin cannot be used, and trying again would not help. */
export class StartError extends Error {
  /** @param {string} code @param {string} message */
  constructor(code, message) {
    super(message)
    this.name = 'StartError'
    this.code = code
  }
}

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
  #lastResort = () => { this.kill() }

  /**
   * Start the binary and shake hands.
   * @param {Launch} launch
   * @param {AbortSignal} signal ends the process while it is starting
   * @throws {StartError} the process has ended then
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
      const tail = process.#tail.length ? `; its last words: ${process.#tail.join(' / ')}` : ''
      throw new StartError(error instanceof StartError ? error.code : 'PLUGIN_START_FAILED', `${text(error)}${tail}`)
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  /** @param {Launch} launch @param {string} certificate */
  constructor(launch, certificate) {
    this.#services = launch.services
    this.#log = launch.log
    this.#socketDir = makeSocketDir()
    this.#child = spawn(launch.binary, launch.args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: pluginEnvironment(launch.env, { store: launch.store, socketDir: this.#socketDir, certificate }),
    })
    this.ended = this.#watchEnd()
    process.on('exit', this.#lastResort)
    this.#readStderr()
  }

  get pid() { return this.#child.pid ?? 0 }

  /** A client of the project's own service. @returns {any} */
  get drafts() { return this.#client(this.#services.draftSessions) }

  /** End it at once. It may have ended already. */
  kill() { this.#child.kill('SIGKILL') }

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
    const outcome = await new Promise((resolve) => {
      // For good: an 'error' event without a listener ends the host.
      this.#child.on('error', (error) => { resolve(`it could not be started: ${error.message}`) })
      this.#child.once('exit', (code, signal) => { resolve(signal ? `it was ended by ${signal}` : `it exited with ${code}`) })
    })
    process.off('exit', this.#lastResort)
    clearInterval(this.#health)
    for (const client of this.#clients) client.close()
    try {
      rmSync(this.#socketDir, { recursive: true, force: true })
    } catch {
      // The next start sweeps it.
    }
    return /** @type {string} */ (outcome)
  }

  #readStderr() {
    const stderr = /** @type {import('node:stream').Readable} */ (this.#child.stderr)
    stderr.on('error', ignored)
    createInterface({ input: stderr }).on('line', (line) => {
      this.#tail.push(line.slice(0, tailChars))
      if (this.#tail.length > tailLines) this.#tail.shift()
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
    const stdout = /** @type {import('node:stream').Readable} */ (this.#child.stdout)
    stdout.on('error', ignored)
    const lines = createInterface({ input: stdout })
    const timeout = AbortSignal.timeout(startDeadlineMs)
    const line = await Promise.race([
      once(lines, 'line', { signal: timeout }).then(([first]) => String(first), () => undefined),
      this.ended.then((why) => { throw new StartError('PLUGIN_START_FAILED', `the plugin did not start: ${why}`) }),
    ])
    // Reading goes on for ever: a full pipe would stop the plugin.
    lines.on('line', () => {})
    if (line === undefined) throw new StartError('PLUGIN_START_FAILED', `no handshake within ${startDeadlineMs / 1000} s`)
    try {
      return parseHandshake(line)
    } catch (error) {
      throw new StartError('PROTOCOL_MISMATCH', text(error))
    }
  }

  /** @param {grpc.ServiceClientConstructor} Service */
  #client(Service) {
    if (!this.#connect) throw new StartError('PLUGIN_START_FAILED', 'not connected')
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
    const client = this.#client(this.#services.health)
    let misses = 0
    this.#health = setInterval(() => {
      call(client, 'Check', { service: 'plugin' }, healthDeadlineMs).then(() => { misses = 0 }, () => {
        misses += 1
        if (misses < healthMisses) return
        this.#log.warn('the plugin does not answer; killing it', { pid: this.pid })
        this.kill()
      })
    }, healthEveryMs)
    this.#health.unref()
  }
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

/** A pipe that breaks is the end of the process, which is seen anyway; unheard, it would end the host. */
function ignored() {}

/** @param {unknown} error */
function text(error) {
  return error instanceof Error ? error.message : String(error)
}
