/**
 * The host channel: one bidirectional stream on which the plugin calls the host.
 * When it ends, the plugin ends itself; that is how it notices a killed host.
 */

/** How many results are remembered by idempotency key. */
const maxKeys = 1000

/** A host call that failed, with the host's own code. */
export class HostCallError extends Error {
  /** @param {string} code @param {string} message */
  constructor(code, message) {
    super(message)
    this.name = 'HostCallError'
    this.code = code
  }
}

/**
 * The results of side effects by idempotency key: the same key never has its effect
 * twice. A failure is forgotten, so that it can be tried again.
 */
export class Once {
  /** @type {Map<string, Promise<object>>} */
  #results = new Map()

  /**
   * @param {string} key `''`: not a side effect, run each time
   * @param {() => Promise<object>} effect
   * @returns {Promise<object>}
   */
  run(key, effect) {
    if (key === '') return effect()
    const known = this.#results.get(key)
    if (known) return known
    const result = effect()
    this.#results.set(key, result)
    result.catch(() => { this.#results.delete(key) })
    if (this.#results.size > maxKeys) {
      const [oldest] = this.#results.keys()
      if (oldest !== undefined) this.#results.delete(oldest)
    }
    return result
  }
}

/**
 * @typedef {Record<string, (request: any) => Promise<object>>} Handlers
 *   by the camelCase name of the call
 */

/**
 * Open the channel and answer calls on it until it ends.
 * @param {any} stream the HostChannel call
 * @param {{ hello: object, handlers: Handlers, once: Once }} host
 * @returns {{ ready: Promise<void>, ended: Promise<void> }} ready when the plugin has acknowledged it
 */
export function openChannel(stream, { hello, handlers, once }) {
  const ready = Promise.withResolvers()
  const ended = Promise.withResolvers()
  /** @type {Set<number>} calls that the plugin waits for */
  const waiting = new Set()
  let open = true
  const close = () => {
    open = false
    ready.reject(new Error('the host channel ended'))
    ended.resolve(undefined)
  }
  // The caller may have stopped waiting for ready when the stream ends.
  ready.promise.catch(() => {})

  stream.on('error', close)
  stream.on('end', close)
  stream.on('data', (/** @type {any} */ message) => {
    if (message.id === 0) ready.resolve(undefined)
    else if (message.cancel) waiting.delete(message.id)
    else answer(message).catch(close)
  })

  /** @param {any} message */
  async function answer(message) {
    waiting.add(message.id)
    /** @type {object} */
    let reply
    try {
      const handler = handlers[message.call]
      if (!handler) throw new HostCallError('unsupported', 'this host does not know that call')
      reply = { [message.call]: await once.run(message.idempotencyKey, () => handler(message[message.call])) }
    } catch (error) {
      reply = { error: failure(error) }
    }
    if (open && waiting.delete(message.id)) stream.write({ id: message.id, ...reply })
  }

  stream.write({ id: 0, hello })
  return { ready: ready.promise, ended: ended.promise }
}

/** @param {unknown} error */
function failure(error) {
  if (error instanceof HostCallError) return { code: error.code, message: error.message }
  return { code: 'internal', message: error instanceof Error ? error.message : 'unknown failure' }
}
