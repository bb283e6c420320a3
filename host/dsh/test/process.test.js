import assert from 'node:assert/strict'
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { PluginProcess } from '../server/process.js'
import { GateClosed, StartError } from '../server/reasons.js'

/**
 * Start a shell script where the plugin should be.
 * @param {string} script
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<any>} what it was refused with
 */
async function refused(script, env = {}) {
  const logged = /** @type {string[]} */ ([])
  const log = /** @type {any} */ ({ info: (/** @type {string} */ line) => { logged.push(line) }, warn: (/** @type {string} */ line) => { logged.push(line) } })
  const launch = { binary: '/bin/sh', args: ['-c', script], store: '/nowhere/drafts.json', env: { PATH: process.env['PATH'], ...env }, services: /** @type {any} */ ({}), log }
  const error = await PluginProcess.start(launch, new AbortController().signal).then(() => undefined, (/** @type {unknown} */ failed) => failed)
  const left = (await readdir(tmpdir())).filter(name => name.startsWith(`draft-sessions-${process.pid}-`))
  assert.deepEqual(left, [], 'its socket folder is gone')
  return { error, logged }
}

/** @param {number} pid */
async function gone(pid) {
  for (;;) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
    // One that nobody has reaped yet has ended too.
    if (stat === '' || stat.includes(') Z ')) return
    await new Promise((resolve) => { setTimeout(resolve, 5) })
  }
}

test('the last twenty lines of stderr are in the error of a start', async () => {
  const { error } = await refused('i=0; while [ $i -lt 30 ]; do i=$((i+1)); echo "line $i." >&2; done; exit 3')
  assert.ok(error instanceof StartError)
  assert.match(error.message, /exited with 3/)
  const lines = [...error.message.matchAll(/line (\d+)\./g)].map(([, n]) => Number(n))
  assert.deepEqual(lines, Array.from({ length: 20 }, (_, n) => n + 11))
})

test('a binary that is not there, or no binary, is a failed start', async () => {
  const launch = { args: [], store: '/nowhere', env: {}, services: /** @type {any} */ ({}), log: /** @type {any} */ ({ info() {}, warn() {} }) }
  for (const binary of ['/nowhere/draft-sessions', '/etc/hostname']) {
    await assert.rejects(PluginProcess.start({ ...launch, binary }, new AbortController().signal), StartError, binary)
  }
})

test('invariant 9: with a process goes what it started, also when it ends by itself', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'ds-group-'))
  t.after(() => rm(dir, { recursive: true }))
  for (const [name, rest] of /** @type {[string, string][]} */ ([['killed', 'echo garbage; wait'], ['ends', 'exit 1']])) {
    const { error } = await refused(`sleep 1000 & echo $! > "${dir}/${name}"; ${rest}`)
    assert.ok(error instanceof (name === 'killed' ? GateClosed : StartError), name)
    await gone(Number(await readFile(join(dir, name), 'utf8')))
  }
})

test('invariant 8: a line without an end is no handshake, and a flood of lines is not all logged', async () => {
  const { error } = await refused('yes | tr -d "\\n"')
  assert.ok(error instanceof GateClosed)
  assert.equal(error.reasons[0]?.code, 'HANDSHAKE_INVALID')
  const { logged } = await refused('i=0; while [ $i -lt 1000 ]; do i=$((i+1)); echo flood >&2; done; exit 3')
  assert.ok(logged.length < 1000, `${logged.length} lines`)
})

test('one that says nothing is given up after its deadline', async () => {
  const { error } = await refused('sleep 1000', { DRAFT_SESSIONS_START_SECONDS: '1' })
  assert.match(error.message, /no handshake within 1 s/)
})
