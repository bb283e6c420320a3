import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { HostLog } from '../server/log.js'

/** @param {import('node:test').TestContext} t */
function folder(t) {
  const dir = mkdtempSync(join(tmpdir(), 'log-'))
  t.after(() => { rmSync(dir, { recursive: true }) })
  return dir
}

test('one call is one line in a file that only its owner reads', (t) => {
  const path = join(folder(t), 'storages', 'host.log')
  const log = new HostLog(path)
  log.info('first\nline', { error: 'two\nlines' })
  log.warn('second')
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  assert.equal(lines.length, 2)
  assert.match(lines[0] ?? '', /^\S+Z info first line error="two\\nlines"$/)
  assert.match(lines[1] ?? '', /^\S+Z warn second$/)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.equal(statSync(join(path, '..')).mode & 0o777, 0o700)
})

test('the file is bounded, with one older file beside it, over restarts too', (t) => {
  const path = join(folder(t), 'host.log')
  for (let start = 0; start < 3; start++) {
    const log = new HostLog(path, 1000)
    for (let i = 0; i < 40; i++) log.info(`line ${start}-${i}`)
    log.info('x'.repeat(10_000))
    log.info('after')
  }
  assert.ok(statSync(path).size <= 1000)
  assert.ok(statSync(`${path}.1`).size <= 5000)
  assert.match(readFileSync(path, 'utf8'), /after\n$/)
})

test('a folder that cannot be written is nobody\'s problem', (t) => {
  const blocked = join(folder(t), 'file')
  new HostLog(blocked).info('a file, not a folder')
  new HostLog(join(blocked, 'host.log')).info('lost')
  assert.match(readFileSync(blocked, 'utf8'), /not a folder\n$/)
})
