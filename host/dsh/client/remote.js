/** Calls of the host half, with a deadline and coded errors. */
import { descriptors } from '../wire/descriptors.js'
import { deadlines, methods, namespace, packageName, unavailableCode } from '../wire/surface.js'

/**
 * @typedef {import('../wire/types.js').Service} Service
 * @typedef {import('../wire/types.js').MethodName} MethodName
 * @typedef {import('./dsh.js').Context} Context
 */
/**
 * @template {MethodName} M
 * @typedef {Parameters<Service[M]>[0]} Request
 */
/**
 * @template {MethodName} M
 * @typedef {Extract<Awaited<ReturnType<Service[M]>>, { ok: true }>['value']} Answer
 */
/**
 * A call that throws {@link RemoteError} and nothing else.
 * @typedef {<M extends MethodName>(method: M, request: Request<M>, deadlineMs?: number) => Promise<Answer<M>>} Call
 */

/** The answer did not come: the host is restarting, or the network is gone. */
export const unreachable = 'UNREACHABLE'

/** A call that failed. The message is for people and never holds draft text. */
export class RemoteError extends Error {
  /** @param {string} code @param {string} message */
  constructor(code, message) {
    super(message)
    this.name = 'RemoteError'
    this.code = code
  }

  /** Whether the same call can succeed later without anything being changed. */
  get passing() {
    return this.code === unreachable || this.code === unavailableCode
  }
}

/**
 * Mount the remote methods in the page.
 * @param {Context} ctx
 * @returns {Promise<{ call: Call, dispose: () => void }>}
 */
export async function mountRemote(ctx) {
  const unmount = await ctx.remote.$mount({ package: packageName, descriptors })
  return {
    call: caller(() => ctx.get(`remote.${namespace}`)),
    dispose: () => { unmount().catch(() => { /* The page is going away with it. */ }) },
  }
}

/**
 * @param {() => Record<string, (request: object) => Promise<unknown>> | undefined} service
 * @returns {Call}
 */
export function caller(service) {
  return async (method, request, deadlineMs) => {
    const target = service()?.[method]
    if (typeof target !== 'function') throw new RemoteError(unreachable, 'not connected')
    const slow = 'slow' in methods[method]
    const result = await withDeadline(
      Promise.resolve().then(() => target(request)),
      deadlineMs ?? (slow ? deadlines.slow : deadlines.normal),
    )
    return /** @type {any} */ (unwrap(unwrap(result)))
  }
}

/**
 * Two envelopes are opened, DSH's around that of the host half.
 * @param {any} result
 */
function unwrap(result) {
  if (result?.ok === true) return result.value
  const error = result?.error
  // A code of DSH's own carrier says that the call did not get through.
  const known = typeof error?.code === 'string' && /^[A-Z_]+$/.test(error.code)
  const message = String(error?.message ?? 'no answer')
  // The plugin's messages may begin with their code, which is of no use to a person.
  throw new RemoteError(known ? error.code : unreachable, known ? message.replace(`${error.code}: `, '') : message)
}

/**
 * @template T
 * @param {Promise<T>} promise
 * @param {number} ms
 * @returns {Promise<T>}
 */
function withDeadline(promise, ms) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new RemoteError(unreachable, 'no answer in time')), ms)
    promise.then(resolve, error => reject(new RemoteError(unreachable, String(error?.message ?? error))))
      .finally(() => clearTimeout(timer))
  })
}
