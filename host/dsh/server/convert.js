/** From what proto-loader decodes to the JSON of wire/messages.js. */

/**
 * Members that are messages are null when unset and absent on the wire.
 * @param {any} value
 * @returns {any}
 */
export function fromProto(value) {
  if (Array.isArray(value)) return value.map(fromProto)
  if (typeof value !== 'object' || value === null) return value
  /** @type {Record<string, unknown>} */
  const out = {}
  for (const [member, inner] of Object.entries(value)) {
    if (inner !== null && inner !== undefined) out[member] = fromProto(inner)
  }
  return out
}
