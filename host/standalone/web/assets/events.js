/** The stream of the host's events: one EventSource that always comes back. */
import { post } from './api.js'

const names = ['hello', 'plugin', 'agents', 'workspaces', 'session', 'session-removed', 'sidebar', 'saved', 'not_saved',
  'text_changed', 'removed', 'log', 'live', 'permission']
const firstRetryMs = 400
const lastRetryMs = 5_000

/**
 * @typedef {object} Handlers
 * @property {(name: string, data: any) => void} onEvent `hello` first, after every connection
 * @property {() => void} onLost the connection ended; `hello` follows when it is back
 * @property {() => { session: string, after: number }} followed what to follow
 */

export class Events {
  #handlers
  #connect
  /** @type {EventSource | undefined} */
  #source
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer
  #delay = firstRetryMs
  #stream = ''
  /** The newest list, not read yet. @type {string | undefined} */
  #sidebar
  #closed = false

  /** @param {Handlers} handlers @param {(url: string) => EventSource} [connect] */
  constructor(handlers, connect = url => new EventSource(url)) {
    this.#handlers = handlers
    this.#connect = connect
    this.#start()
  }

  #start() {
    if (this.#closed) return
    this.#source?.close()
    const { session, after } = this.#handlers.followed()
    const source = this.#connect(`/api/events?session=${encodeURIComponent(session)}&after=${after}`)
    this.#source = source
    for (const name of names) source.addEventListener(name, message => this.#deliver(source, name, /** @type {MessageEvent<string>} */ (message)))
    // EventSource gives up on an HTTP error by itself, and waits long after a
    // refused connection: one rule of our own for both.
    source.addEventListener('error', () => { if (source === this.#source) this.#lost() })
  }

  #lost() {
    if (this.#closed) return
    this.#source?.close()
    this.#stream = ''
    this.#handlers.onLost()
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#start(), this.#delay)
    this.#delay = Math.min(this.#delay * 2, lastRetryMs)
  }

  /** What belongs to this connection could not be fetched: it is of no use. */
  failed() {
    this.#lost()
  }

  /** A tab that nobody sees needs no connection, and a browser has six for all of them. */
  sleep() {
    this.#source?.close()
    this.#source = undefined
    this.#stream = ''
    clearTimeout(this.#timer)
  }

  /** Try at once: somebody asked or looks again, or the network is back. */
  retry() {
    if (this.#stream !== '') return
    clearTimeout(this.#timer)
    this.#delay = firstRetryMs
    this.#start()
  }

  /** @param {EventSource} source @param {string} name @param {MessageEvent<string>} message */
  #deliver(source, name, message) {
    if (source !== this.#source || this.#closed) return
    // The whole list at every save of a large home: only the newest counts, and reading
    // it never stands between a key and its letter on screen.
    if (name === 'sidebar') {
      if (this.#sidebar === undefined) soon(() => this.#read(source, name, this.#sidebar ?? ''))
      this.#sidebar = message.data
      return
    }
    this.#read(source, name, message.data)
  }

  /** @param {EventSource} source @param {string} name @param {string} text */
  #read(source, name, text) {
    if (name === 'sidebar') this.#sidebar = undefined
    if (source !== this.#source || this.#closed) return
    let data
    try {
      data = JSON.parse(text)
    } catch {
      // Half a message of a host that was killed while writing: the next connection
      // begins with the whole state again.
      return
    }
    if (name === 'hello') {
      this.#delay = firstRetryMs
      this.#stream = String(data.stream)
      const { session } = this.#handlers.followed()
      if (session !== data.session) void this.follow()
    }
    this.#handlers.onEvent(name, data)
  }

  /** Follow what {@link Handlers.followed} names now. */
  async follow() {
    const stream = this.#stream
    if (stream === '') return
    const { session, after } = this.#handlers.followed()
    try {
      await post(`/api/events/${encodeURIComponent(stream)}/follow`, { sessionId: session, after })
    } catch {
      // The stream is gone or the host is: the next connection follows by itself.
      if (stream === this.#stream) this.#lost()
    }
  }

  close() {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#source?.close()
  }
}

/** When there is nothing better to do, and in a tenth of a second at the latest. @param {() => void} run */
function soon(run) {
  if (typeof requestIdleCallback === 'function') requestIdleCallback(run, { timeout: 100 })
  else setTimeout(run, 30)
}
