/** Calls with deadlines, and what their failures are called. */
import grpc from '@grpc/grpc-js'
import { codeTrailer } from './handshake.js'

/** A failed call, with a code of package shared. Its text never holds draft text. */
export class CallError extends Error {
  /**
   * @param {string} code
   * @param {string} message
   * @param {boolean} answered whether the plugin decided it; otherwise the outcome is unknown
   */
  constructor(code, message, answered) {
    super(message)
    this.name = 'CallError'
    this.code = code
    this.answered = answered
  }
}

const unknown = 'OPERATION_UNKNOWN'

/**
 * One unary call.
 * @param {any} client
 * @param {string} method
 * @param {object} request
 * @param {number} ms its deadline
 * @returns {Promise<any>}
 * @throws {CallError}
 */
export function call(client, method, request, ms) {
  return new Promise((resolve, reject) => {
    try {
      client[method](request, new grpc.Metadata(), { deadline: Date.now() + ms },
        (/** @type {grpc.ServiceError | null} */ error, /** @type {unknown} */ response) => {
          if (error) reject(callError(error))
          else resolve(response)
        })
    } catch {
      // A client that is closed, or a request that cannot be encoded, throws at once.
      reject(new CallError(unknown, 'the call could not be sent', false))
    }
  })
}

/** @param {grpc.ServiceError} error @returns {CallError} */
export function callError(error) {
  const code = error.metadata?.get(codeTrailer)[0]
  if (typeof code === 'string' && code !== '') return new CallError(code, error.details, true)
  // What gRPC itself says can quote what it could not handle.
  switch (error.code) {
    case grpc.status.DEADLINE_EXCEEDED:
      return new CallError(unknown, 'the plugin did not answer in time', false)
    case grpc.status.UNAVAILABLE:
    case grpc.status.CANCELLED:
      return new CallError(unknown, 'the connection to the plugin ended', false)
    default:
      return new CallError(unknown, `the plugin failed (${grpc.status[error.code] ?? 'UNKNOWN'})`, true)
  }
}
