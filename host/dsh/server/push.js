/** The push route: every page gets the status and, in full mode, what changes. */
import { eventsPath, heartbeatMs } from '../wire/surface.js'
import { isTrusted } from './trust.js'

/** A reader that is so many bytes behind is dropped; it connects again and starts anew. */
const maxBehind = 8 << 20

export class PushHub {
  /** @type {Set<import('node:http').ServerResponse>} */
  #readers = new Set()
  #status
  #sidebar
  #trustedHosts
  #heartbeat

  /**
   * @param {object} options
   * @param {() => import('../wire/types.js').Status} options.status
   * @param {() => import('../wire/types.js').Sidebar | undefined} options.sidebar the current one, in full mode
   * @param {() => readonly string[]} options.trustedHosts
   */
  constructor({ status, sidebar, trustedHosts }) {
    this.#status = status
    this.#sidebar = sidebar
    this.#trustedHosts = trustedHosts
    this.#heartbeat = setInterval(() => { this.#broadcast(':\n\n') }, heartbeatMs)
    this.#heartbeat.unref()
  }

  /** The route for DSH's web server. */
  get route() {
    return {
      kind: /** @type {const} */ ('exact'),
      path: eventsPath,
      handler: (/** @type {import('node:http').IncomingMessage} */ req, /** @type {import('node:http').ServerResponse} */ res) => {
        this.#accept(req, res)
      },
    }
  }

  /** The status changed. In full mode the sidebar follows it, as on a new connection. */
  status() {
    this.#broadcast(this.#greeting())
  }

  /** @param {import('../wire/types.js').PushedEvent} event */
  event(event) {
    this.#broadcast(frame('event', event))
  }

  /** End every connection. */
  close() {
    clearInterval(this.#heartbeat)
    for (const reader of this.#readers) reader.end()
    this.#readers.clear()
  }

  /** @param {import('node:http').IncomingMessage} req @param {import('node:http').ServerResponse} res */
  #accept(req, res) {
    if (!isTrusted(req.headers, this.#trustedHosts())) {
      res.writeHead(403).end()
      return
    }
    if (req.method !== 'GET') {
      res.writeHead(405, { allow: 'GET' }).end()
      return
    }
    res.on('error', () => { this.#drop(res) })
    res.on('close', () => { this.#drop(res) })
    res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
    this.#readers.add(res)
    this.#send(res, this.#greeting())
  }

  #greeting() {
    const status = this.#status()
    const sidebar = status.mode === 'full' ? this.#sidebar() : undefined
    return frame('status', status) + (sidebar ? frame('event', { kind: 'sidebar', value: sidebar }) : '')
  }

  /** @param {string} text */
  #broadcast(text) {
    for (const reader of this.#readers) this.#send(reader, text)
  }

  /** @param {import('node:http').ServerResponse} reader @param {string} text */
  #send(reader, text) {
    if (reader.writableLength > maxBehind) {
      this.#drop(reader)
      reader.destroy()
      return
    }
    reader.write(text)
  }

  /** @param {import('node:http').ServerResponse} reader */
  #drop(reader) {
    this.#readers.delete(reader)
  }
}

/** @param {string} name @param {unknown} data */
function frame(name, data) {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
}
