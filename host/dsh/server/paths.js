/** Where things lie: the home of this DSH, our folder in it, and the staged bundle. */
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The bundle's folder; this file is bundled into its lib/index.js. */
export const bundleRoot = dirname(dirname(fileURLToPath(import.meta.url)))

/** The plugin binary; hosts start it as `draft-sessions plugin`. */
export const pluginBinary = join(bundleRoot, 'bin', process.platform === 'win32' ? 'draft-sessions.exe' : 'draft-sessions')

/** The pins that this bundle was tested with. */
export const compatibilityFile = join(bundleRoot, 'compatibility.json')

/**
 * The folder of ours in the home of that environment: the draft file and our log.
 * @param {NodeJS.ProcessEnv} env
 */
export function storageDir(env) {
  const home = env['DSH_HOME']?.trim() ? resolve(env['DSH_HOME'].trim()) : join(homedir(), '.dsh')
  return join(home, 'storages', 'dsh-draft-sessions')
}
