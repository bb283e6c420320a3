/**
 * The request of `draft-sessions rearm` to a host that has given up: a file in the
 * plugin's folder, as shared/rearm in Go describes it.
 */
import { randomUUID } from 'node:crypto'
import { link, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

const schema = 1
const everyMs = 1_000

/** @param {string} folder that of the draft file */
function place(folder) {
  return join(folder, 'run', 'rearm')
}

/** @param {string} path @returns {Promise<string>} the request's id; '': none, or none that can be read */
async function idIn(path) {
  try {
    const request = JSON.parse(await readFile(path, 'utf8'))
    return request?.schema === schema && typeof request.id === 'string' ? request.id : ''
  } catch {
    return ''
  }
}

/** @param {string} folder */
export function pending(folder) {
  return idIn(place(folder))
}

/**
 * Of several hosts only one takes a request.
 * @param {string} folder
 * @param {string} id
 * @returns {Promise<boolean>} whether it was this one
 */
export async function take(folder, id) {
  if (id === '' || await pending(folder) !== id) return false
  // A rename to a name of one's own has one winner, and what was won can be looked at.
  const mine = join(folder, 'run', `.rearm-taken-${randomUUID()}`)
  try {
    await rename(place(folder), mine)
  } catch {
    return false
  }
  const taken = await idIn(mine) === id
  // A newer request came in between: it goes back, unless a still newer is there.
  if (!taken) await link(mine, place(folder)).catch(() => {})
  await rm(mine, { force: true }).catch(() => { /* At worst a small file stays. */ })
  return taken
}

/**
 * Wait for a request that was not there before.
 * @param {string} folder
 * @param {AbortSignal} signal ends the wait
 * @param {number} [ms] between two looks
 * @returns {Promise<boolean>} true when one was taken, false when the signal came first
 */
export async function asked(folder, signal, ms = everyMs) {
  const old = await pending(folder)
  while (!signal.aborted) {
    await pause(ms, signal)
    const id = await pending(folder)
    if (id !== old && !signal.aborted && await take(folder, id)) return true
  }
  return false
}

/** @param {number} ms @param {AbortSignal} signal @returns {Promise<void>} */
function pause(ms, signal) {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    timer.unref()
    signal.addEventListener('abort', end)
  })
}
