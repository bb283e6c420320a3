/** The seams of the host process that drafts build on, by their names in compatibility.json. */

/** @typedef {import('./host.js').HostContext} HostContext */

/** @type {Record<string, (ctx: HostContext) => boolean>} */
const probes = {
  'host.remote': ctx => isFunction(ctx.typert?.register) && isFunction(ctx.reflect?.provide),
  'host.routes': ctx => isFunction(ctx.webServer?.register),
  'host.workspaces': ctx => isFunction(ctx.apiProxy?.workspace?.list),
  'host.create': ctx => isFunction(ctx.apiProxy?.sessions?.create),
  'host.prompt': ctx => isFunction(ctx.apiProxy?.sessions?.prompt),
  'host.events': ctx => isFunction(ctx.on),
  'host.history': ctx => isFunction(ctx.get('sessionPersistence')?.inspect) && isFunction(ctx.get('sessionPersistence')?.list),
  'host.flush': ctx => isFunction(ctx.get('sessions')?.get) && isFunction(ctx.get('sessions')?.flush),
  'host.commands': ctx => isFunction(ctx.get('commands')?.execute),
  'host.permissions': ctx => isFunction(ctx.get('permissionPresets')?.current) && isFunction(ctx.get('permissionPresets')?.set),
}

/**
 * The features that are there now. A probe that throws finds none.
 * @param {HostContext} ctx
 */
export function hostFeatures(ctx) {
  return Object.keys(probes).filter((name) => {
    try {
      return probes[name]?.(ctx) ?? false
    } catch {
      return false
    }
  })
}

/** @param {unknown} value */
function isFunction(value) {
  return typeof value === 'function'
}
