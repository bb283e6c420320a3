/** The bundle package's command: runs the platform's binary, so that `npx draft-sessions-dsh` works. */
import { spawnSync } from 'node:child_process'
import { constants } from 'node:os'
import { pluginBinary } from './paths.js'

const { status, signal, error } = spawnSync(pluginBinary, process.argv.slice(2), { stdio: 'inherit' })
if (error) {
  console.error(`draft-sessions: there is no binary for ${process.platform} on ${process.arch} (${error.message})`)
}
process.exitCode = signal ? 128 + constants.signals[signal] : status ?? 1
