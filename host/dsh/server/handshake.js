/**
 * The constants of shared/handshake.go and the first line that a go-plugin process
 * prints: `1|<app protocol>|unix|<socket>|grpc|<server certificate>`.
 */
import { GateClosed, reason } from './reasons.js'

export const protocolVersion = 1
export const magicCookie = /** @type {const} */ (['DRAFT_SESSIONS_PLUGIN', '0196a3f0-draft-sessions'])
export const envStore = 'DRAFT_SESSIONS_STORE'
/** The trailer with the reason code of a failed call. */
export const codeTrailer = 'draft-code'
/** The largest gRPC message on either side, in bytes. */
export const maxMessageBytes = 320 << 20

const coreProtocol = '1'

/**
 * @param {string} line
 * @returns {{ socket: string, certificate: Buffer }} the socket's path and the server's certificate (DER)
 * @throws {GateClosed} with one reason; a retry would not help
 */
export function parseHandshake(line) {
  const [core, app, network, socket, protocol, certificate] = line.trim().split('|')
  if (protocol === undefined) throw invalid('a handshake line', 'something else')
  if (core !== coreProtocol) throw invalid(`core protocol ${coreProtocol}`, `core protocol ${printable(core)}`)
  if (app !== String(protocolVersion)) {
    throw new GateClosed([reason('PROTOCOL_MISMATCH', 'The host\'s half and the plugin binary are of different builds; install both of one release.',
      { subject: 'protocol', expected: String(protocolVersion), found: printable(app) })])
  }
  if (network !== 'unix' || protocol !== 'grpc' || !socket) throw invalid('gRPC on a unix socket', `${printable(protocol)} on ${printable(network)}`)
  if (!certificate) throw invalid('a certificate', 'none')
  return { socket, certificate: Buffer.from(certificate, 'base64') }
}

/** @param {string} expected @param {string} found */
function invalid(expected, found) {
  return new GateClosed([reason('HANDSHAKE_INVALID', 'What was started does not speak as the drafts plugin does; install the plugin again.',
    { subject: 'handshake', expected, found })])
}

/** @param {string | undefined} text */
function printable(text) {
  return JSON.stringify((text ?? '').slice(0, 20))
}
