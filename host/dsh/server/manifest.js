/**
 * The first steps of the gate, before anything is started: the manifest beside the
 * binary, its platform, its protocols, its checksum. The same file and the same
 * codes as shared/manifest in Go.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { protocolVersion } from './handshake.js'
import { GateClosed, messageOf, reason } from './reasons.js'

/** The manifest's name, in the folder of the binary. */
export const manifestFile = 'draft-sessions.manifest.json'

const schema = 1
const maxBytes = 64 << 10
/** A disk that does not answer must not leave the mode undecided for ever, in ms. */
const readMs = 10_000

/** What Go calls the platforms that Node names otherwise. */
const systems = /** @type {Record<string, string>} */ ({ win32: 'windows' })
const processors = /** @type {Record<string, string>} */ ({ x64: 'amd64', ia32: '386' })

/**
 * @typedef {object} Manifest
 * @property {string} version
 * @property {number[]} protocols
 * @property {string} os
 * @property {string} arch
 * @property {string} binary
 * @property {string} sha256
 * @property {number} size
 */

const again = 'install the plugin again.'

/** @type {Record<string, (value: any) => boolean>} */
const members = {
  schema: value => value === schema,
  version: isName,
  protocols: value => Array.isArray(value) && value.length > 0 && value.every(Number.isSafeInteger),
  os: isName,
  arch: isName,
  binary: value => isName(value) && value === basename(value) && value !== '.' && value !== '..',
  sha256: value => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value),
  size: value => Number.isSafeInteger(value) && value > 0,
}

/** @param {unknown} value */
function isName(value) {
  return typeof value === 'string' && value !== ''
}

/**
 * Check a binary against its manifest, in the gate's order. It starts nothing.
 * @param {string} binary
 * @param {{ platform: string, arch: string }} [here] as Node names them
 * @returns {Promise<Manifest>}
 * @throws {GateClosed} with one reason
 */
export async function checkBinary(binary, here = process) {
  const manifest = await read(dirname(binary))
  const name = basename(binary)
  if (manifest.binary !== name) {
    throw miss('MANIFEST_INVALID', manifestFile, name, manifest.binary, `The description beside the plugin binary is of another file; ${again}`)
  }
  const platform = `${systems[here.platform] ?? here.platform}/${processors[here.arch] ?? here.arch}`
  const built = `${manifest.os}/${manifest.arch}`
  if (platform !== built) {
    throw miss('BINARY_PLATFORM', name, platform, built, 'The plugin binary is of another platform; install the plugin\'s package for this one.')
  }
  if (!manifest.protocols.includes(protocolVersion)) {
    throw miss('PROTOCOL_MISMATCH', name, String(protocolVersion), manifest.protocols.join(', '),
      'The host\'s half and the plugin binary are of different builds; install both of one release.')
  }
  const expected = `${manifest.sha256} (${manifest.size} bytes)`
  const found = await within(checksum(binary)).catch((error) => {
    throw miss('BINARY_MISSING', name, manifest.sha256, messageOf(error), `The plugin binary is missing or cannot be read; ${again}`)
  })
  if (found !== expected) {
    throw miss('CHECKSUM_MISMATCH', name, expected, found, `The plugin binary is not the one that was released: it is damaged or was replaced; ${again}`)
  }
  return manifest
}

/** @param {string} dir @returns {Promise<Manifest>} */
async function read(dir) {
  const path = join(dir, manifestFile)
  try {
    return parse(await within(readSmall(path)))
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') {
      throw miss('MANIFEST_MISSING', manifestFile, '', path, `The description of the plugin binary is missing, so the binary is not trusted; ${again}`)
    }
    throw miss('MANIFEST_INVALID', manifestFile, `schema ${schema}`, messageOf(error),
      `The description of the plugin binary cannot be read, so the binary is not trusted; ${again}`)
  }
}

/** @param {string} path */
async function readSmall(path) {
  const file = await open(path)
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(maxBytes + 1), 0, maxBytes + 1, 0)
    if (bytesRead > maxBytes) throw new Error(`more than ${maxBytes} bytes`)
    return new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, bytesRead))
  } finally {
    await file.close()
  }
}

/** @param {string} text @returns {Manifest} */
function parse(text) {
  const value = JSON.parse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('it is no object')
  for (const name of Object.keys(value)) if (!Object.hasOwn(members, name)) throw new Error('it has an unknown member')
  for (const [name, sound] of Object.entries(members)) {
    // JSON.parse takes the last of two; the writer never writes one twice.
    if ((text.match(new RegExp(`"${name}"\\s*:`, 'g')) ?? []).length > 1) throw new Error(`${name} is there twice`)
    if (!sound(value[name])) throw new Error(`${name} is missing or not as it should be`)
  }
  return value
}

/** @param {string} path @returns {Promise<string>} checksum and size, as a reason tells them */
async function checksum(path) {
  if (!(await stat(path)).isFile()) throw new Error('it is no file')
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
    hash.update(chunk)
    size += chunk.length
  }
  return `${hash.digest('hex')} (${size} bytes)`
}

/**
 * @template T
 * @param {Promise<T>} work
 * @param {number} [ms]
 * @returns {Promise<T>}
 */
export function within(work, ms = readMs) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => { reject(new Error(`no answer within ${ms / 1000} s`)) }, ms)
    timer.unref()
    work.then(resolve, reject).finally(() => { clearTimeout(timer) })
  })
}

/** @param {string} code @param {string} subject @param {string} expected @param {string} found @param {string} message */
function miss(code, subject, expected, found, message) {
  return new GateClosed([reason(code, message, { subject, expected, found })])
}
