/**
 * Strict codecs for the messages of messages.js. Both halves check what they are
 * given; neither trusts that the other is of the same build.
 */
import { messages } from './messages.js'
import { invalidCode } from './surface.js'

/** A value that is not the message it should be. Names the member, never its value. */
export class WireError extends Error {
  /** @param {string} member @param {string} problem */
  constructor(member, problem) {
    super(`${member} ${problem}`)
    this.name = 'WireError'
    this.code = invalidCode
    this.member = member
  }
}

/**
 * Check that value is exactly the message of that name: every member that is not
 * optional, no other member, each of its type, strings well-formed Unicode.
 *
 * @template {import('./types.js').MessageName} N
 * @param {N} name
 * @param {unknown} value
 * @returns {import('./types.js').Message<N>} a fresh object with exactly these members
 * @throws {WireError}
 */
export function decode(name, value) {
  return /** @type {import('./types.js').Message<N>} */ (decodeMessage(name, value, ''))
}

/** @param {string} name @param {unknown} value @param {string} path */
function decodeMessage(name, value, path) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new WireError(path || name, 'must be an object')
  }
  const members = /** @type {Record<string, Record<string, string>>} */ (messages)[name]
  const given = /** @type {Record<string, unknown>} */ (value)
  for (const member of Object.keys(given)) {
    if (!Object.hasOwn(members, member)) throw new WireError(join(path, printable(member)), 'is unknown')
  }
  /** @type {Record<string, unknown>} */
  const out = {}
  for (const [member, declared] of Object.entries(members)) {
    const optional = declared.endsWith('?')
    if (!Object.hasOwn(given, member) || given[member] === undefined) {
      if (optional) continue
      throw new WireError(join(path, member), 'is missing')
    }
    const type = optional ? declared.slice(0, -1) : declared
    out[member] = decodeMember(type, given[member], join(path, member))
  }
  return out
}

/** @param {string} type @param {unknown} value @param {string} path @returns {unknown} */
function decodeMember(type, value, path) {
  if (type.endsWith('[]')) {
    if (!Array.isArray(value)) throw new WireError(path, 'must be a list')
    return value.map((item, i) => decodeMember(type.slice(0, -2), item, `${path}[${i}]`))
  }
  switch (type) {
    case 'string':
      if (typeof value !== 'string') throw new WireError(path, 'must be a string')
      if (!value.isWellFormed()) throw new WireError(path, 'must be well-formed Unicode')
      return value
    case 'int':
      if (!Number.isSafeInteger(value)) throw new WireError(path, 'must be an integer')
      return value
    case 'boolean':
      if (typeof value !== 'boolean') throw new WireError(path, 'must be true or false')
      return value
    default:
      return decodeMessage(type, value, path)
  }
}

/** @param {string} path @param {string} member */
function join(path, member) {
  return path ? `${path}.${member}` : member
}

/**
 * An unknown member's name comes from outside and goes into error texts.
 * @param {string} member
 */
function printable(member) {
  return /^[\w$-]{1,40}$/.test(member) ? member : '(member)'
}
