/**
 * What the gate decides on: the versions that really run, and the features that are
 * really there. A version is asked of everybody who could know it, since a mirror of
 * a package that lies in a profile says nothing about what runs; the plugin compares.
 */
import { access, readFile, realpath } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { hostFeatures } from './features.js'
import { protocolVersion } from './handshake.js'
import { within } from './manifest.js'
import { compatibilityFile } from './paths.js'
import { messageOf } from './reasons.js'

/**
 * @typedef {import('./host.js').HostContext} HostContext
 * @typedef {'loaded' | 'own' | 'served'} Source loaded: by the running loader; own: by the host's binary; served: to the page
 * @typedef {{ subject: string, source: Source, version: string, where: string, problem: string }} FactAnswer
 * @typedef {{ version: string, where: string }} Found version '': none
 */

/** How long one source may take to answer, in ms. */
const answerMs = 2_000
const none = { version: '', where: '' }

/**
 * @param {HostContext} ctx
 * @param {{ override?: string, binary?: string, table?: string, ms?: number }} [options]
 *   override: the version of the host that the user runs at their own risk; the others for tests
 * @returns a GateRequest about the host; a source that could not be asked says why
 */
export async function collectFacts(ctx, { override = '', binary = process.argv[1] ?? '', table = compatibilityFile, ms = answerMs } = {}) {
  const { package: hostPackage, pins } = await within(pinned(table), ms)
  const own = realpath(binary)
  // Awaited with each answer below; unheard until then it would end the host.
  own.catch(() => {})
  const host = await answer(hostPackage, 'own', ms, true, async () => versionAbove(await own))
  /** @type {Promise<FactAnswer | undefined>[]} */
  const asked = [
    Promise.resolve(host),
    // A profile need not name the host itself.
    answer(hostPackage, 'loaded', ms, false, () => versionFrom(ctx.baseUrl, hostPackage)),
  ]
  for (const name of Object.keys(pins)) {
    asked.push(
      answer(name, 'loaded', ms, true, () => versionFrom(ctx.baseUrl, name)),
      // DSH's own installation need not see the package from where its binary is.
      answer(name, 'own', ms, false, async () => versionFrom(await own, name)),
      answer(name, 'served', ms, ctx.get('clientModules') !== undefined, () => servedVersion(ctx, name)),
    )
  }
  const answers = await Promise.all(asked)
  return {
    host: 'dsh', hostVersion: host?.version ?? '', packages: {}, nodeVersion: process.versions.node, protocol: protocolVersion,
    answers: answers.filter(found => found !== undefined),
    features: hostFeatures(ctx), probed: ['host'], override,
  }
}

/**
 * @param {string} subject
 * @param {Source} source
 * @param {number} ms
 * @param {boolean} known whether this source must know the subject
 * @param {() => Promise<Found>} ask
 * @returns {Promise<FactAnswer | undefined>} undefined: it need not know and does not
 */
async function answer(subject, source, ms, known, ask) {
  try {
    const { version, where } = await within(Promise.resolve().then(ask), ms)
    return version === '' && !known ? undefined : { subject, source, version, where, problem: '' }
  } catch (error) {
    return { subject, source, version: '', where: '', problem: messageOf(error) }
  }
}

/** @param {string} table @returns {Promise<{ package: string, pins: Record<string, string> }>} */
async function pinned(table) {
  return JSON.parse(await readFile(table, 'utf8')).hosts.dsh
}

/**
 * The version of a package as resolved from a file, whatever it exports.
 * @param {string} from a path or file URL
 * @param {string} name
 * @returns {Promise<Found>}
 */
async function versionFrom(from, name) {
  for (const folder of createRequire(from).resolve.paths(name) ?? []) {
    const manifest = join(folder, name, 'package.json')
    if (await exists(manifest)) return versionIn(manifest)
  }
  return none
}

/**
 * What DSH serves to pages: their boot manifest is made of the same table.
 * @param {HostContext} ctx
 * @param {string} name
 * @returns {Promise<Found>}
 */
async function servedVersion(ctx, name) {
  const file = ctx.get('clientModules')?.clientPath?.(name)
  return typeof file === 'string' ? versionAbove(await realpath(file)) : none
}

/** @param {string} file @returns {Promise<Found>} of the package that it belongs to */
async function versionAbove(file) {
  for (let dir = dirname(file); dir !== dirname(dir); dir = dirname(dir)) {
    const manifest = join(dir, 'package.json')
    if (await exists(manifest)) return versionIn(manifest)
  }
  return none
}

/** @param {string} path */
function exists(path) {
  return access(path).then(() => true, () => false)
}

/** @param {string} manifest @returns {Promise<Found>} */
async function versionIn(manifest) {
  const { version } = JSON.parse(await readFile(manifest, 'utf8'))
  return { version: typeof version === 'string' ? version : '', where: dirname(manifest) }
}
