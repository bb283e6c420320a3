/**
 * The host half of draft sessions in DSH. DSH ends when a bundle throws, rejects or
 * waits for a service that never comes, so nothing here does (invariant 8).
 */
import { join } from 'node:path'
import { Bundle } from './bundle.js'
import { HostLog } from './log.js'
import { storageDir } from './paths.js'

export const name = 'draft-sessions'
export const inject = ['webServer', 'typert', 'apiProxy']

/** @param {import('./host.js').HostContext} ctx */
export function apply(ctx) {
  const log = new HostLog(join(storageDir(process.env), 'host.log'))
  try {
    new Bundle(ctx, log).start()
  } catch (error) {
    log.warn('drafts are off: the bundle failed to start', { error: String(error) })
  }
}
