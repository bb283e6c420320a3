/**
 * The host half of draft sessions in DSH. DSH ends when a bundle throws, rejects or
 * waits for a service that never comes, so nothing here does (invariant 8).
 */
import { join } from 'node:path'
import { Bundle } from './bundle.js'
import { HostLog } from './log.js'
import { storageDir } from './paths.js'
import { messageOf, reason } from './reasons.js'

export const name = 'draft-sessions'
/** Nothing: DSH does not start with a bundle that waits. */
export const inject = /** @type {string[]} */ ([])

/** Services without which there is nothing to do. */
const needed = ['webServer', 'typert', 'apiProxy']
/** How long after its start DSH may bring them, in ms. */
const servicesMs = 30_000
/** Where the user says that an untested release of DSH is to be run: its version. */
const envOverride = 'DRAFT_SESSIONS_OVERRIDE'

/**
 * @param {import('./host.js').HostContext} ctx
 * @param {unknown} [config] of the bundle's entry in a profile: `{ override?: string }`
 * @param {{ ms?: number, log?: HostLog }} [options] for tests
 */
export function apply(ctx, config, { ms = servicesMs, log } = {}) {
  try {
    log ??= new HostLog(join(storageDir(process.env), 'host.log'))
    begin(ctx, log, overrideOf(config), ms)
  } catch (error) {
    // Without a home there is no log either.
    log?.warn('drafts are off: the bundle failed to start', { error: messageOf(error) })
  }
}

/** @param {import('./host.js').HostContext} ctx @param {HostLog} log @param {string} override @param {number} ms */
function begin(ctx, log, override, ms) {
  let came = false
  const waiting = ctx.inject(needed, (scope) => {
    came = true
    guarded(log, () => { new Bundle(scope, log, override).start() })
  })
  // A plugin's failure is told by whoever awaits it, and nobody shall have to.
  Promise.resolve(waiting).catch(() => {})
  const timer = setTimeout(() => {
    guarded(log, () => {
      if (came) return
      void waiting.dispose?.()
      tellMissing(ctx, log)
    })
  }, ms)
  timer.unref()
  ctx.effect(() => () => { clearTimeout(timer) }, 'draft-sessions services')
}

/** @param {import('./host.js').HostContext} ctx @param {HostLog} log */
function tellMissing(ctx, log) {
  const reasons = needed.filter(service => ctx.get(service) === undefined).map(service =>
    reason('HOST_SERVICE_MISSING', 'DSH lacks a service that drafts need; use a tested DSH or a plugin release made for this one.', { subject: service }))
  const status = needed.filter(service => service !== 'apiProxy')
  if (status.some(service => ctx.get(service) === undefined)) {
    log.warn('drafts are off; DSH is as without the bundle', { reasons })
    return
  }
  ctx.inject(status, (scope) => { guarded(log, () => { new Bundle(scope, log, '').tell(reasons) }) })
}

/** @param {HostLog} log @param {() => void} run */
function guarded(log, run) {
  try {
    run()
  } catch (error) {
    log.warn('drafts are off: the bundle failed to start', { error: messageOf(error) })
  }
}

/** The untested version that the user runs, '' for none. @param {unknown} config @param {NodeJS.ProcessEnv} [env] */
export function overrideOf(config, env = process.env) {
  const { override } = /** @type {{ override?: unknown }} */ (config ?? {})
  const chosen = typeof override === 'string' && override !== '' ? override : env[envOverride]
  return chosen?.trim() ?? ''
}
