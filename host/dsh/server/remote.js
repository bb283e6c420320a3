/** The remote methods: checked, handed to the plugin, checked again, never thrown. */
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { decode, WireError } from '../wire/codec.js'
import { descriptors } from '../wire/descriptors.js'
import { deadlines, methods, namespace, packageName, unavailableCode } from '../wire/surface.js'
import { fromProto } from './convert.js'
import { within } from './manifest.js'
import { CallError } from './rpc.js'

/**
 * @typedef {object} Behind what answers
 * @property {() => import('../wire/types.js').Status} status
 * @property {() => void} rearm
 * @property {(report: import('../wire/types.js').PageReport) => Promise<import('../wire/types.js').Verdict>} report
 * @property {() => Pick<import('./link.js').Link, 'call'> | undefined} link
 */

/**
 * The service behind the namespace.
 * @param {Behind} behind
 * @returns {import('../wire/types.js').Service}
 */
export function makeService(behind) {
  /** @type {Record<string, (request: unknown) => Promise<unknown>>} */
  const service = {}
  for (const method of /** @type {import('../wire/types.js').MethodName[]} */ (Object.keys(methods))) {
    service[method] = async (request) => {
      try {
        return { ok: true, value: await answer(behind, method, request) }
      } catch (error) {
        return { ok: false, error: failure(error) }
      }
    }
  }
  return /** @type {any} */ (service)
}

/** @param {Behind} behind @param {import('../wire/types.js').MethodName} name @param {unknown} request */
async function answer(behind, name, request) {
  const method = methods[name]
  const checked = decode(method.request, request)
  if (name === 'report') return behind.report(/** @type {any} */ (checked))
  if (name === 'rearm') behind.rearm()
  if (method.rpc === '') return behind.status()
  const link = behind.link()
  if (!link) throw new CallError(unavailableCode, 'Drafts are not available at the moment.', false)
  const ms = 'slow' in method ? deadlines.slow : deadlines.normal
  return decode(method.response, fromProto(await link.call(method.rpc, checked, ms)))
}

/** @param {unknown} error */
function failure(error) {
  if (error instanceof CallError || error instanceof WireError) return { code: error.code, message: error.message }
  return { code: unavailableCode, message: 'The drafts plugin failed.' }
}

/**
 * Claim the namespace.
 * @param {import('./host.js').HostContext} ctx
 * @param {import('../wire/types.js').Service} service
 * @returns {Promise<() => void>} gives it up; what others see of it is gone when that returns
 */
export async function register(ctx, service) {
  // Resolved at run time: a copy of our own would be another instance.
  const protocol = createRequire(ctx.baseUrl).resolve('@deepseek-ai/dsh-typert-protocol')
  const { bindTypertRemote } = await within(import(pathToFileURL(protocol).href))
  const bound = Object.assign(service, { typertRemote: bindTypertRemote(service, namespace, {}) })
  const withdraw = ctx.reflect.provide(namespace, bound)
  try {
    const unregister = ctx.typert.register({
      package: packageName, face: 'host', schemas: [],
      model: { services: [], events: [], objects: [] }, invocations: descriptors,
    })
    return () => {
      unregister()
      withdraw()
    }
  } catch (error) {
    withdraw()
    throw error
  }
}
