import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GateClosed } from '../server/link.js'
import { StartError } from '../server/process.js'
import { Supervisor } from '../server/supervisor.js'

const quiet = /** @type {any} */ ({ info() {}, warn() {} })

/**
 * A supervisor over processes that the test ends; time passes by itself.
 * @param {(n: number) => void} [beforeConnect] may throw
 */
function world(beforeConnect = () => {}) {
  /** @type {{ end: (why: string) => void, shutdowns: number }[]} */
  const processes = []
  /** @type {string[]} */
  const modes = []
  /** @type {number[]} */
  const waits = []
  const clock = { now: 0 }
  /** @type {(() => void)[]} */
  const wakeups = []
  const supervisor = new Supervisor({
    log: quiet,
    now: () => clock.now,
    wait: async (ms) => { waits.push(ms) },
    onStatus: ({ mode }) => {
      modes.push(mode)
      for (const wake of wakeups.splice(0)) wake()
    },
    connect: async () => {
      beforeConnect(processes.length)
      const { promise, resolve } = Promise.withResolvers()
      const process = { end: resolve, shutdowns: 0 }
      processes.push(/** @type {any} */ (process))
      return /** @type {any} */ ({
        ended: promise, version: '1', epoch: `e${processes.length}`, pid: 1,
        shutdown: async () => { process.shutdowns += 1 },
      })
    },
  })
  /** @param {string} mode */
  const until = async (mode, count = 1) => {
    while (modes.filter(seen => seen === mode).length < count) await new Promise((resolve) => { wakeups.push(() => { resolve(undefined) }) })
  }
  return { supervisor, processes, modes, waits, clock, until }
}

test('invariant 8: a plugin that cannot start means stock, with a reason and no second try', async () => {
  const { supervisor, processes, modes, until } = world(() => { throw new StartError('PLUGIN_START_FAILED', 'no such file') })
  supervisor.start()
  await until('stock')
  assert.deepEqual(modes, ['starting', 'stock'])
  assert.equal(supervisor.status.reasons[0]?.code, 'PLUGIN_START_FAILED')
  supervisor.rearm()
  assert.equal(supervisor.status.mode, 'stock')
  assert.equal(processes.length, 0)
})

test('a closed gate is stock with the gate\'s own reasons, after a restart too', async () => {
  const reasons = [{ code: 'VERSION', subject: 'p', expected: '1', found: '2', message: 'm' }]
  const { supervisor, processes, until } = world((n) => { if (n === 1) throw new GateClosed(reasons) })
  supervisor.start()
  await until('full')
  processes[0]?.end('it exited with 1')
  await until('stock')
  assert.deepEqual(supervisor.status.reasons, reasons)
  assert.equal(supervisor.link, undefined)
})

test('a crash pauses and comes back, waiting longer each time, anew after a healthy minute', async () => {
  const { supervisor, processes, modes, waits, clock, until } = world()
  supervisor.start()
  for (let n = 0; n < 3; n++) {
    await until('full', n + 1)
    processes[n]?.end('it was ended by SIGKILL')
  }
  await until('full', 4)
  clock.now += 61_000
  processes[3]?.end('it was ended by SIGKILL')
  await until('full', 5)
  assert.deepEqual(modes.slice(0, 4), ['starting', 'full', 'paused', 'full'])
  assert.equal(supervisor.status.epoch, 'e5')
  for (const [i, ceiling] of [250, 500, 1000, 250].entries()) {
    assert.ok(/** @type {number} */ (waits[i]) <= ceiling && /** @type {number} */ (waits[i]) >= ceiling / 2, `wait ${i}: ${waits[i]}`)
  }
})

test('five crashes in two minutes are the end until it is rearmed', async () => {
  const { supervisor, processes, until } = world()
  supervisor.start()
  for (let n = 0; n < 5; n++) {
    await until('full', n + 1)
    processes[n]?.end('it exited with 2')
  }
  await until('stock')
  assert.equal(supervisor.status.reasons[0]?.code, 'PLUGIN_CRASHED')
  assert.equal(supervisor.link, undefined)
  supervisor.rearm()
  await until('full', 6)
  assert.ok(supervisor.link)
})

test('invariant 9: stopping ends the process in order and is waited for', async () => {
  const { supervisor, processes, until } = world()
  supervisor.start()
  await until('full')
  await supervisor.stop([])
  assert.equal(processes[0]?.shutdowns, 1)
  assert.equal(supervisor.status.mode, 'stock')
  supervisor.rearm()
  assert.equal(processes.length, 1)
})
