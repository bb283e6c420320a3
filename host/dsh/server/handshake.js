/**
 * The constants of shared/handshake.go and the first line that a go-plugin process
 * prints: `1|<app protocol>|unix|<socket>|grpc|<server certificate>`.
 */

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
 * @throws {Error} whose text says what does not fit; a retry would not help
 */
export function parseHandshake(line) {
  const [core, app, network, socket, protocol, certificate] = line.trim().split('|')
  if (protocol === undefined) throw new Error('the binary printed no plugin handshake')
  if (core !== coreProtocol) throw new Error(`core protocol ${printable(core)} instead of ${coreProtocol}`)
  if (app !== String(protocolVersion)) throw new Error(`protocol ${printable(app)} instead of ${protocolVersion}`)
  if (network !== 'unix' || protocol !== 'grpc' || !socket) throw new Error('neither a unix socket nor gRPC')
  if (!certificate) throw new Error('no certificate: the plugin does not speak AutoMTLS')
  return { socket, certificate: Buffer.from(certificate, 'base64') }
}

/** @param {string | undefined} text */
function printable(text) {
  return JSON.stringify((text ?? '').slice(0, 20))
}
