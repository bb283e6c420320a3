/** Ids that the page chooses. */

/** @param {Uint8Array} bytes */
function format(bytes) {
  const hex = [...bytes].map(byte => byte.toString(16).padStart(2, '0')).join('')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/**
 * A version 7 UUID: those that are made later sort later. crypto.randomUUID exists
 * only where the page is served securely.
 * @param {number} [now]
 */
export function uuidv7(now = Date.now()) {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  new DataView(bytes.buffer).setUint32(0, Math.floor(now / 0x10000))
  new DataView(bytes.buffer).setUint16(4, now % 0x10000)
  bytes[6] = 0x70 | (/** @type {number} */ (bytes[6]) & 0x0f)
  bytes[8] = 0x80 | (/** @type {number} */ (bytes[8]) & 0x3f)
  return format(bytes)
}
