/** What the gate decides on: the versions that really run, and the features that are really there. */
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { hostFeatures } from './features.js'
import { protocolVersion } from './handshake.js'
import { compatibilityFile } from './paths.js'

/** @typedef {{ subject: string, source: 'loaded' | 'own' | 'served', version: string, where: string, problem: string }} FactAnswer */

/**
 * @param {import('./host.js').HostContext} ctx
 * @returns a GateRequest; a version that was looked for and not found is `''`
 */
export function collectFacts(ctx) {
  const binary = realpathOf(process.argv[1])
  return {
    host: 'dsh',
    hostVersion: versionAbove(binary),
    nodeVersion: process.versions.node,
    protocol: protocolVersion,
    answers: Object.keys(pins()).flatMap(name => answersAbout(name, versionFrom(ctx.baseUrl, name), versionFrom(binary, name))),
    features: hostFeatures(ctx),
    probed: ['host'],
  }
}

/**
 * What the running loader and DSH's own installation resolve; the plugin compares
 * them. DSH's own need not see the package at all.
 * @param {string} subject
 * @param {string} loaded
 * @param {string} own
 * @returns {FactAnswer[]}
 */
export function answersAbout(subject, loaded, own) {
  /** @type {FactAnswer[]} */
  const answers = [{ subject, source: 'loaded', version: loaded, where: '', problem: '' }]
  if (own !== '') answers.push({ subject, source: 'own', version: own, where: '', problem: '' })
  return answers
}

/** @returns {Record<string, string>} package name to the pinned version */
function pins() {
  return JSON.parse(readFileSync(compatibilityFile, 'utf8')).hosts.dsh.pins
}

/** @param {string | undefined} path */
function realpathOf(path) {
  try {
    return realpathSync(path ?? '')
  } catch {
    return ''
  }
}

/**
 * The version of a package as resolved from a file, whatever it exports.
 * @param {string} from a path or file URL
 * @param {string} name
 */
function versionFrom(from, name) {
  if (from === '') return ''
  try {
    for (const folder of createRequire(from).resolve.paths(name) ?? []) {
      const manifest = join(folder, name, 'package.json')
      if (existsSync(manifest)) return versionIn(manifest)
    }
  } catch {
    // Not a place to resolve from.
  }
  return ''
}

/** @param {string} file the version of the package that it belongs to */
function versionAbove(file) {
  for (let dir = dirname(file); file !== '' && dir !== dirname(dir); dir = dirname(dir)) {
    const manifest = join(dir, 'package.json')
    if (existsSync(manifest)) return versionIn(manifest)
  }
  return ''
}

/** @param {string} manifest */
function versionIn(manifest) {
  const { version } = JSON.parse(readFileSync(manifest, 'utf8'))
  return typeof version === 'string' ? version : ''
}
