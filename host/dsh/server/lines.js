/** Lines of a stream that nobody vouches for: one without an end must not fill the host's memory. */

/** What of a line is kept, in bytes; the rest of it is dropped. */
export const maxLineBytes = 4 << 10

/**
 * Call `line` with each line, without its end; a longer one than {@link maxLineBytes}
 * is told as soon as it is so long, and cut. The stream is read to its end whatever it
 * holds: a full pipe would stop its writer.
 * @param {import('node:stream').Readable} stream
 * @param {(line: string) => void} line
 */
export function readLines(stream, line) {
  /** @type {Buffer[]} */
  let parts = []
  let held = 0
  let cut = false
  const end = () => {
    const text = Buffer.concat(parts).toString('utf8')
    parts = []
    held = 0
    line(text.endsWith('\r') ? text.slice(0, -1) : text)
  }
  /** @param {Buffer} bytes */
  const keep = (bytes) => {
    if (cut || bytes.length === 0) return
    parts.push(Buffer.from(bytes.subarray(0, maxLineBytes - held)))
    held += bytes.length
    if (held < maxLineBytes) return
    end()
    cut = true
  }
  stream.on('data', (/** @type {Buffer} */ chunk) => {
    let from = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      keep(chunk.subarray(from, at))
      if (!cut) end()
      cut = false
      from = at + 1
    }
    keep(chunk.subarray(from))
  })
  stream.on('end', () => { if (held > 0) end() })
  // A pipe that breaks is the end of the process, which is seen anyway; unheard, it would end the host.
  stream.on('error', () => {})
}

/**
 * Lets through so many in a while and tells afterwards how many it did not.
 * @param {number} most
 * @param {number} ms
 * @param {(dropped: number) => void} tell
 * @param {() => number} [now]
 * @returns {() => boolean} whether one more may pass
 */
export function atMost(most, ms, tell, now = Date.now) {
  let since = now()
  let passed = 0
  return () => {
    if (now() - since >= ms) {
      if (passed > most) tell(passed - most)
      since = now()
      passed = 0
    }
    passed += 1
    return passed <= most
  }
}
