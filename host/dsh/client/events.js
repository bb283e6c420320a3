/** The push route: one EventSource that always comes back. */
import { eventsPath } from '../wire/surface.js'

/**
 * @typedef {import('../wire/types.js').Status} Status
 * @typedef {import('../wire/types.js').PushedEvent} PushedEvent
 */

const firstRetryMs = 1_000
const lastRetryMs = 15_000

/**
 * @param {{
 *   onStatus: (status: Status) => void,
 *   onEvent: (event: PushedEvent) => void,
 *   onLost: () => void,
 * }} handlers onLost: the connection ended; onStatus follows when it is back.
 * @param {(url: string) => EventSource} [connect]
 * @returns {() => void} closes it for good
 */
export function openEvents(handlers, connect = url => new EventSource(url)) {
  /** @type {EventSource | undefined} */
  let source
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer
  let delay = firstRetryMs
  let closed = false

  const start = () => {
    source = connect(eventsPath)
    source.addEventListener('status', message => {
      delay = firstRetryMs
      deliver(message, handlers.onStatus)
    })
    source.addEventListener('event', message => deliver(message, handlers.onEvent))
    source.addEventListener('error', () => {
      if (closed) return
      handlers.onLost()
      // EventSource gives up on an HTTP error by itself, and waits long after a
      // refused connection: one rule of our own for both.
      source?.close()
      clearTimeout(timer)
      timer = setTimeout(start, delay)
      delay = Math.min(delay * 2, lastRetryMs)
    })
  }
  start()
  return () => {
    closed = true
    clearTimeout(timer)
    source?.close()
  }
}

/**
 * @template T
 * @param {Event} message
 * @param {(value: T) => void} handler
 */
function deliver(message, handler) {
  let value
  try {
    value = JSON.parse(/** @type {MessageEvent<string>} */ (message).data)
  } catch {
    // Half a message of a host that was killed while writing: the next connection
    // begins with the whole state again.
    return
  }
  handler(value)
}
