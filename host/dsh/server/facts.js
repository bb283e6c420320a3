/** What the gate decides on: the versions that really run. */
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { compatibilityFile } from './paths.js'

/**
 * @param {string} baseUrl of the running loader
 * @returns {{ host: string, hostVersion: string, nodeVersion: string, packages: Record<string, string> }}
 *   a GateRequest; a version that cannot be found is `''`
 */
export function collectFacts(baseUrl) {
  const binary = realpathOf(process.argv[1])
  /** @type {Record<string, string>} */
  const packages = {}
  for (const [name, pin] of Object.entries(pins())) {
    packages[name] = reported(pin, versionFrom(baseUrl, name), versionFrom(binary, name))
  }
  return { host: 'dsh', hostVersion: versionAbove(binary), nodeVersion: process.versions.node, packages }
}

/**
 * One version for the gate: where the loader and DSH's own installation differ,
 * the one that does not fit. DSH's own need not see the package at all.
 * @param {string} pin
 * @param {string} loaded
 * @param {string} own
 */
export function reported(pin, loaded, own) {
  if (own === '' || own === loaded) return loaded
  return loaded === pin ? own : loaded
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
