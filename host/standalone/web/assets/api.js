/** Calls of the host, with a deadline and coded errors (host/standalone/API.md). */

/** No answer came: the host is restarting, or the network is gone. */
export const unreachable = 'UNREACHABLE'

const deadlineMs = 15_000
/** Calls that wait for an agent or a save, in milliseconds. */
const slowMs = 45_000
const slow = new Set(['new', 'bind', 'send', 'flush', 'move'])

/** @typedef {(operation: string, request: object) => Promise<any>} Call */

/** A call that failed. The message is for people and never holds draft text. */
export class ApiError extends Error {
  /** @param {string} code @param {string} message */
  constructor(code, message) {
    super(message)
    this.name = 'ApiError'
    this.code = code
  }

  /** Whether the same call can succeed later without anything being changed. */
  get passing() {
    return this.code === unreachable || this.code === 'plugin-unavailable'
  }
}

/** @param {unknown} error */
export function asApiError(error) {
  return error instanceof ApiError ? error : new ApiError(unreachable, String(error))
}

/**
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 * @param {number} [ms]
 * @returns {Promise<any>}
 */
export async function request(method, path, body, ms = deadlineMs) {
  let response
  let text
  try {
    response = await fetch(path, {
      method,
      credentials: 'same-origin',
      cache: 'no-store',
      signal: AbortSignal.timeout(ms),
      ...(method === 'GET' ? {} : { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body ?? {}) }),
    })
    text = await response.text()
  } catch {
    throw new ApiError(unreachable, 'no answer')
  }
  const answer = parse(text)
  if (response.ok && answer !== undefined) return answer
  if (response.ok) throw new ApiError(unreachable, 'half an answer')
  throw new ApiError(typeof answer?.code === 'string' ? answer.code : unreachable, String(answer?.message ?? `HTTP ${response.status}`))
}

/** @param {string} text @returns {any} */
function parse(text) {
  if (text === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    // A host that was killed while it answered.
    return undefined
  }
}

/** @param {string} path */
export const get = path => request('GET', path)

/** @param {string} path @param {object} [body] */
export const post = (path, body) => request('POST', path, body)

/**
 * A call of the drafts.
 * @param {string} operation
 * @param {object} [body]
 * @returns {Promise<any>}
 */
export function drafts(operation, body) {
  return request('POST', `/api/drafts/${operation}`, body, slow.has(operation) ? slowMs : deadlineMs)
}

/** @param {string} id */
export const sessionPath = id => `/api/sessions/${encodeURIComponent(id)}`
