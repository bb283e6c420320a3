/**
 * Which requests may have the event stream. DSH checks its own API and leaves the
 * routes of plugins alone, so a page of another site could read it otherwise.
 */
import { isIP } from 'node:net'

/**
 * @param {import('node:http').IncomingHttpHeaders} headers
 * @param {readonly string[]} trustedHosts `host` or `host:port`, beside loopback: what DSH itself trusts
 */
export function isTrusted(headers, trustedHosts) {
  const host = authority(headers.host)
  if (!host) return false
  if (!isLoopback(host.hostname) && !trustedHosts.some(entry => matches(entry, host))) return false
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false
  if (headers.origin === undefined) return true
  try {
    return new URL(headers.origin).host === host.host
  } catch {
    return false
  }
}

/** @param {string | undefined} text */
function authority(text) {
  if (text === undefined || !/^[\w.:[\]-]+$/.test(text)) return undefined
  try {
    return new URL(`http://${text}`)
  } catch {
    return undefined
  }
}

/** @param {string} entry @param {URL} host */
function matches(entry, host) {
  const trusted = authority(entry)
  if (!trusted) return false
  return /:\d+$/.test(entry) ? trusted.host === host.host : trusted.hostname === host.hostname
}

/** @param {string} hostname */
function isLoopback(hostname) {
  if (hostname === 'localhost' || hostname === '[::1]') return true
  return isIP(hostname) === 4 && hostname.startsWith('127.')
}
