/** Where things lie: the home of this DSH, our folder in it, and the staged bundle. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageName } from '../wire/surface.js'

/** The bundle's folder; this file is bundled into its lib/index.js. */
export const bundleRoot = dirname(dirname(fileURLToPath(import.meta.url)))

/** The plugin binary; hosts start it as `draft-sessions plugin`. It need not be there. */
export const pluginBinary = findBinary(bundleRoot, process.platform, process.arch)

/** The pins that this bundle was tested with. */
export const compatibilityFile = join(bundleRoot, 'compatibility.json')

/**
 * The binary for a platform of Node: the bundle's own, or that of the platform's
 * package where Node finds it from the bundle.
 * @param {string} root the bundle's folder
 * @param {string} platform
 * @param {string} arch
 */
export function findBinary(root, platform, arch) {
  const file = platform === 'win32' ? 'draft-sessions.exe' : 'draft-sessions'
  const own = join(root, 'bin', file)
  if (existsSync(own)) return own
  const name = `${packageName}-${goPlatform(platform, arch)}`
  for (const folder of createRequire(join(root, 'package.json')).resolve.paths(name) ?? []) {
    const found = join(folder, name, 'bin', file)
    if (existsSync(found)) return found
  }
  return own
}

/**
 * Go's names of a platform, as packages and manifests have them.
 * @param {string} platform
 * @param {string} arch
 */
export function goPlatform(platform, arch) {
  return `${platform === 'win32' ? 'windows' : platform}-${arch === 'x64' ? 'amd64' : arch}`
}

/**
 * The folder of ours in the home of that environment: the draft file and our log.
 * @param {NodeJS.ProcessEnv} env
 */
export function storageDir(env) {
  const home = env['DSH_HOME']?.trim() ? resolve(env['DSH_HOME'].trim()) : join(homedir(), '.dsh')
  return join(home, 'storages', 'dsh-draft-sessions')
}
