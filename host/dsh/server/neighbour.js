/**
 * The public JavaScript plugin of a similar name uses the same namespace and keeps
 * the same file in memory, so it would overwrite ours: ours steps aside.
 */
import { namespace, packageName } from '../wire/surface.js'
import { reason } from './reasons.js'

const otherPackage = 'dsh-draft-sessions'

/** @typedef {import('./host.js').HostContext} HostContext */

/**
 * What another plugin has claimed or is configured to claim, or undefined. All
 * configured entries are known before the first of them is applied, so the order
 * in which they load does not matter.
 * @param {HostContext} ctx
 * @returns {import('../wire/types.js').Reason | undefined}
 */
export function findNeighbour(ctx) {
  for (const entry of ctx.get('loader')?.entries() ?? []) {
    if (isOther(entry.options.name) && !entry.disabled) return stepAside(otherPackage)
  }
  if (ctx.get(namespace) !== undefined || ctx.typert.local.get(`${namespace}/list`) !== undefined) {
    return stepAside(namespace)
  }
  return undefined
}

/**
 * Call found, before the other is applied, when it is switched on while DSH runs.
 * @param {HostContext} ctx
 * @param {(reason: import('../wire/types.js').Reason) => void} found
 * @returns {() => void}
 */
export function watchNeighbour(ctx, found) {
  return ctx.on('internal/plugin', (fiber) => {
    if (fiber?.uid && isOther(fiber.entry?.options?.name)) found(stepAside(otherPackage))
  }, { global: true })
}

/**
 * An entry names a package, or a path to one.
 * @param {unknown} name
 */
function isOther(name) {
  return typeof name === 'string' && name !== packageName
    && (name === otherPackage || name.startsWith(`${otherPackage}/`) || new RegExp(`/node_modules/${otherPackage}(/|$)`).test(name))
}

/** @param {string} found */
function stepAside(found) {
  return reason('OTHER_PLUGIN', 'Another drafts plugin is active in this DSH; this one leaves the drafts to it. Remove one of the two.',
    { subject: packageName, found })
}
