import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GateClosed, StartError } from '../server/reasons.js'
import { Supervisor } from '../server/supervisor.js'

/** @type {import('../wire/types.js').Verdict} */
const verdict = { mode: 'full', capabilities: ['drafts'], overridden: true, reasons: [] }
const quiet = /** @type {any} */ ({ info() {}, warn() {} })

/**
 * A supervisor over processes that the test ends; time passes by itself.
 * @param {(n: number) => void} [beforeConnect] may throw
 * @param {Partial<import('../server/supervisor.js').SupervisorOptions>} [more]
 */
function world(beforeConnect = () => {}, more = {}) {
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
    ...more,
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
        ended: promise, version: '1', epoch: `e${processes.length}`, pid: 1, verdict,
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
  const tries = /** @type {number[]} */ ([])
  const { supervisor, modes, until } = world((n) => { tries.push(n); throw new StartError('no such file') })
  supervisor.start()
  await until('stock')
  assert.deepEqual(modes, ['starting', 'stock'])
  assert.equal(supervisor.status.reasons[0]?.code, 'PLUGIN_START_FAILED')
  assert.match(supervisor.status.reasons[0]?.found ?? '', /no such file/)
  assert.equal(tries.length, 1)
  // A person may have mended it.
  assert.equal(supervisor.status.rearmable, true)
  supervisor.rearm()
  await until('stock', 2)
  assert.equal(tries.length, 2)
})

test('a mismatch is not tried again, by nobody', async () => {
  const tries = /** @type {number[]} */ ([])
  const { supervisor, until } = world((n) => { tries.push(n); throw new GateClosed([{ code: 'CHECKSUM_MISMATCH', subject: 's', expected: 'e', found: 'f', message: 'm' }]) })
  supervisor.start()
  await until('stock')
  supervisor.rearm()
  assert.deepEqual([supervisor.status.mode, supervisor.status.rearmable, tries.length], ['stock', false, 1])
})

test('the status tells what works and what was overridden; in stock mode nothing', async () => {
  const { supervisor, processes, until } = world()
  supervisor.start()
  await until('full')
  supervisor.tellPages([{ code: 'PAGE_STALE', subject: 's', expected: 'e', found: 'f', message: 'm' }])
  const { capabilities, overridden, pages } = supervisor.status
  assert.deepEqual([capabilities, overridden, pages.length], [['drafts'], true, 1])
  processes[0]?.end('it exited with 1')
  await until('full', 3)
  assert.equal(supervisor.status.pages.length, 0, 'another process judges anew')
  await supervisor.stop([])
  assert.deepEqual([supervisor.status.capabilities, supervisor.status.overridden], [[], false])
})

test('a person need not wait for the next start', async () => {
  const { supervisor, processes, until } = world(() => {}, {
    wait: (_, signal) => new Promise((_resolve, reject) => { signal.addEventListener('abort', () => { reject(new Error('aborted')) }) }),
  })
  supervisor.start()
  await until('full')
  processes[0]?.end('it exited with 1')
  await until('paused')
  await new Promise((resolve) => { setImmediate(resolve) })
  supervisor.rearm()
  await until('full', 2)
})

test('a request to start again is heard once the plugin was given up, and only then', async () => {
  /** @type {{ yes: (taken: boolean) => void, signal: AbortSignal }[]} */
  const requests = []
  const { supervisor, processes, until } = world(() => {}, {
    asked: signal => new Promise((yes) => { requests.push({ yes, signal }) }),
  })
  supervisor.start()
  for (let n = 0; n < 5; n++) {
    await until('full', n + 1)
    assert.equal(requests.length, 0)
    processes[n]?.end('it exited with 2')
  }
  await until('stock')
  requests[0]?.yes(true)
  await until('full', 6)
  assert.equal(requests[0]?.signal.aborted, true)
  assert.equal(supervisor.status.mode, 'full')
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
