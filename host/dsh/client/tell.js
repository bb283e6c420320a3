/** A call of the host half without DSH's own remote: for when that is what is missing, or the page is closing. */
import { eventsPath, namespace } from '../wire/surface.js'

/** The plugin is up a moment after the page. */
const tries = 5
const againMs = 2_000

/** @param {string} method @param {object} request */
export function requestOf(method, request) {
  const name = `${namespace}/${method}`
  return {
    url: new URL(`/api/${name}`, new URL(eventsPath, location.href)),
    body: JSON.stringify({ type: 'client-request', rpcId: crypto.randomUUID(), method: name, payload: { args: { request } } }),
  }
}

/**
 * Tell the host half something, a few times until it takes it. Never rejects.
 * @param {import('../wire/types.js').MethodName} method
 * @param {object} request
 * @param {number} [pause] for tests
 * @returns {Promise<boolean>} whether it was taken
 */
export async function tellHost(method, request, pause = againMs) {
  for (let n = 0; n < tries; n++) {
    if (n > 0) await new Promise(resolve => setTimeout(resolve, pause))
    try {
      const { url, body } = requestOf(method, request)
      const response = await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
      const { result } = await response.json()
      if (result?.ok === true && result.value?.ok === true) return true
    } catch {
      // Not there, or not yet.
    }
  }
  return false
}
