/** Why drafts are off: typed reasons, and the errors that carry them. */

/** @typedef {import('../wire/types.js').Reason} Reason */

/**
 * @param {string} code
 * @param {string} message for a person: what it means and what to do
 * @param {Partial<Omit<Reason, 'code' | 'message'>>} [facts]
 * @returns {Reason}
 */
export function reason(code, message, { subject = '', expected = '', found = '' } = {}) {
  return { code, subject, expected, found, message }
}

/** A miss of the gate: the mode is stock, and nothing is tried again by itself. */
export class GateClosed extends Error {
  /** @param {Reason[]} reasons */
  constructor(reasons) {
    super(reasons.map(({ code, message, found }) => `${code}: ${message}${found === '' ? '' : ` (${found})`}`).join(' '))
    this.name = 'GateClosed'
    this.reasons = reasons
  }
}

/** The process could not be started, or ended before it was of use. It can be otherwise another time. */
export class StartError extends Error {
  code = 'PLUGIN_START_FAILED'

  /** @param {string} message */
  constructor(message) {
    super(message)
    this.name = 'StartError'
  }
}

/** @param {unknown} error @returns {string} */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error)
}

/** @param {unknown} error @returns {Reason[]} */
export function reasonsOf(error) {
  if (error instanceof GateClosed) return error.reasons
  return [reason('PLUGIN_START_FAILED',
    'The drafts plugin could not be started. Its last words are below and in the log; start it again, or install it again.',
    { found: messageOf(error) })]
}
