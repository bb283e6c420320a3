import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { asked, pending, take } from '../server/rearm.js'

/** @param {import('node:test').TestContext} t */
async function folder(t) {
  const dir = await mkdtemp(join(tmpdir(), 'ds-rearm-'))
  t.after(() => rm(dir, { recursive: true }))
  await mkdir(join(dir, 'run'))
  const request = (/** @type {unknown} */ value) => writeFile(join(dir, 'run', 'rearm'), JSON.stringify(value))
  return { dir, request, ask: (/** @type {string} */ id) => request({ schema: 1, id }) }
}

test('a request is taken once, by its id, and leaves nothing', async (t) => {
  const { dir, ask } = await folder(t)
  assert.equal(await take(dir, ''), false)
  await ask('a')
  assert.equal(await take(dir, 'b'), false)
  const taken = await Promise.all([take(dir, 'a'), take(dir, 'a'), take(dir, 'a')])
  assert.equal(taken.filter(Boolean).length, 1)
  assert.deepEqual(await readdir(join(dir, 'run')), [])
})

test('what is no request is none', async (t) => {
  const { dir, request } = await folder(t)
  for (const value of [{ schema: 2, id: 'a' }, { schema: 1 }, 'a', null]) {
    await request(value)
    assert.equal(await pending(dir), '', JSON.stringify(value))
  }
})

test('only a request that comes later is for a host that has given up', async (t) => {
  const { dir, ask } = await folder(t)
  const stop = new AbortController()
  const alive = setInterval(() => {}, 1000)
  t.after(() => { clearInterval(alive) })
  await ask('old')
  const ignored = asked(dir, stop.signal, 5)
  await new Promise((resolve) => { setTimeout(resolve, 50) })
  assert.equal(await pending(dir), 'old')
  stop.abort()
  assert.equal(await ignored, false)

  const answered = asked(dir, new AbortController().signal, 5)
  // Asked again and again: one that came before the first look is an old one.
  let done = false
  const asking = (async () => {
    for (let n = 0; !done; n++) {
      await ask(`new ${n}`)
      await new Promise((resolve) => { setTimeout(resolve, 30) })
    }
  })()
  assert.equal(await answered, true)
  done = true
  await asking
})
