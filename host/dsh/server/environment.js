/** The environment of the plugin process: an allow-list, since a host's holds API keys. */
import { envStore, magicCookie, protocolVersion } from './handshake.js'

const inherited = [
  'PATH', 'HOME', 'USER', 'LOGNAME', 'TMPDIR', 'TZ', 'LANG', 'LC_ALL',
  'DRAFT_SESSIONS_LIMIT', 'DRAFT_SESSIONS_LOG_LEVEL',
]

/**
 * @param {NodeJS.ProcessEnv} env the host's own
 * @param {{ store: string, socketDir: string, certificate: string }} plugin
 *   the draft file, the folder for its socket, the client certificate in PEM
 * @returns {Record<string, string>}
 */
export function pluginEnvironment(env, { store, socketDir, certificate }) {
  /** @type {Record<string, string>} */
  const out = {}
  for (const name of inherited) {
    const value = env[name]
    if (value !== undefined) out[name] = value
  }
  out[magicCookie[0]] = magicCookie[1]
  out[envStore] = store
  out['PLUGIN_PROTOCOL_VERSIONS'] = String(protocolVersion)
  out['PLUGIN_UNIX_SOCKET_DIR'] = socketDir
  out['PLUGIN_CLIENT_CERT'] = certificate
  return out
}
