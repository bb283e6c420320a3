/**
 * Starts and ends the plugin of a staged bundle again and again, and prints what is
 * there afterwards beside what was there after the first rounds (cycles_test.go).
 * Usage: node cycles.js <bundle> <rounds> <folder of the draft file>
 */
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { PluginProcess } from '../server/process.js'
import { loadServices } from '../server/protos.js'
import { call } from '../server/rpc.js'

const [bundle = '', rounds = '0', folder = ''] = process.argv.slice(2)
const services = loadServices(join(bundle, 'proto'))
const log = { info() {}, warn() {}, close() {} }
const launch = {
  binary: join(bundle, 'bin', 'draft-sessions'), args: ['plugin'], store: join(folder, 'drafts.json'), env: process.env, services,
  log: /** @type {any} */ (log),
}
/** @type {number[]} */
const pids = []

/** @param {number} round */
async function cycle(round) {
  const plugin = await PluginProcess.start(launch, new AbortController().signal)
  pids.push(plugin.pid)
  await call(plugin.drafts, 'Info', {}, 10_000)
  if (round % 2 === 0) {
    await plugin.shutdown()
  } else {
    plugin.kill()
    await plugin.ended
  }
}

/** What must not grow. */
function standing() {
  return {
    descriptors: readdirSync('/dev/fd').length,
    resources: process.getActiveResourcesInfo().length,
    listeners: process.listenerCount('exit'),
    sockets: readdirSync(tmpdir()).filter(name => name.startsWith(`draft-sessions-${process.pid}-`)).length,
    processes: pids.filter(isAlive).length,
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    return process.kill(pid, 0)
  } catch {
    return false // It has ended.
  }
}

/** @param {ReturnType<typeof standing>} before */
async function settled(before) {
  let after = standing()
  for (let tries = 0; tries < 200; tries++) {
    after = standing()
    if (Object.entries(before).every(([name, count]) => /** @type {any} */ (after)[name] <= count)) break
    await sleep(100) // Closed connections take a moment.
  }
  return after
}

for (let round = 0; round < 4; round++) await cycle(round)
await sleep(500)
const before = standing()
for (let round = 0; round < Number(rounds); round++) await cycle(round)
const after = await settled(before)
console.log(JSON.stringify({ before, after }))
