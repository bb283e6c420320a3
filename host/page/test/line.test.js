import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Line } from '../line.js'

/** @typedef {import('../line.js').Edit} Edit */
/** @typedef {import('../line.js').Failure} Failure */

const draft = { text: '', textRevision: 1, textHash: 'hash-1' }

/** A line to a stand-in for the plugin, and what it was asked. */
function stand() {
  const world = {
    text: '',
    /** @type {Edit[]} */
    edits: [],
    flushes: 0,
    reopened: 0,
    /** What the next opening or edit fails with. @type {Partial<Failure> | undefined} */
    failure: undefined,
    /** @type {Promise<void>} */
    slow: Promise.resolve(),
  }
  const answer = async () => {
    await world.slow
    if (world.failure) throw world.failure
  }
  const line = new Line({
    editorId: 'editor', draftId: () => 'draft',
    openEditor: async () => {
      await answer()
      return { epoch: 'epoch', generation: 1, draft, show: 'record' }
    },
    edit: edit => {
      world.edits.push(edit)
      return answer()
    },
    flush: async () => { world.flushes++ },
    closeEditor: async () => {},
    failureOf: error => ({ code: '', message: '', passing: false, .../** @type {object} */ (error) }),
    current: () => ({ text: world.text, contentJson: '' }),
    reopen: () => { world.reopened++ },
    gone: () => {},
    changed: () => {},
  })
  /** The word that an edit is on disk. @param {number} textRevision */
  const save = (textRevision, seq = 1) => line.onSaved({
    editorId: 'editor', generation: 1, seq, textRevision, textHash: `hash-${textRevision}`, conflictId: '', newDraftId: '',
  })
  const begin = () => line.begin({ text: world.text, contentJson: '' }, undefined)
  return { line, world, save, begin }
}

/** Let every answer that is ready arrive. */
const answers = () => new Promise(resolve => { setImmediate(resolve) })

test('an opening is asked for again where that can help, and that is said', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  for (const [failure, again] of /** @type {[Partial<Failure>, boolean][]} */ ([
    [{ code: 'UNREACHABLE', passing: true }, true], [{ code: 'OPERATION_CONFLICT' }, true],
    [{ code: 'SESSION_UNAVAILABLE' }, true], [{ code: 'DRAFT_STORAGE_BUSY' }, true], [{ code: 'INVALID_ARGUMENT' }, false],
  ])) {
    const { line, world, begin } = stand()
    world.failure = failure
    await begin()
    assert.equal(line.phase, 'closed')
    assert.equal(line.failure?.retrying, again, failure.code)
    t.mock.timers.tick(60_000)
    assert.equal(world.reopened, again ? 1 : 0, failure.code)
  }
})

test('an edit of an opening that the plugin does not know begins again, and that is said', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { line, world, begin } = stand()
  await begin()
  world.failure = { code: 'OPERATION_UNKNOWN' }
  world.text = 'a'
  line.push()
  await answers()
  assert.equal(line.failure?.retrying, true)
  t.mock.timers.tick(60_000)
  assert.equal(world.reopened, 1)
})

test('settling waits for an opening and for the disk, and has it written', async () => {
  const { line, world, save, begin } = stand()
  const { promise, resolve } = Promise.withResolvers()
  world.slow = /** @type {Promise<void>} */ (promise)
  world.text = 'a'
  const opening = begin()
  let settled = false
  const settling = line.settle().then(whether => {
    settled = true
    return whether
  })
  resolve(undefined)
  await opening
  while (world.flushes === 0) await answers()
  assert.deepEqual([settled, world.edits.map(({ text }) => text)], [false, ['a']], 'the plugin has it, the disk does not')
  save(2)
  assert.equal(await settling, true)
})

test('settling gives up on a line that is closed', async () => {
  assert.equal(await stand().line.settle(), false)
})

test('whoever leaves has the plugin write, unless it has written', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { line, world, save, begin } = stand()
  await begin()
  line.flush()
  t.mock.timers.tick(1_000)
  assert.equal(world.flushes, 0, 'nothing to write')
  world.text = 'a'
  line.flush()
  await answers()
  t.mock.timers.tick(1_000)
  assert.deepEqual([world.edits.length, world.flushes], [1, 1])
  save(2)
  line.flush()
  t.mock.timers.tick(1_000)
  assert.equal(world.flushes, 1)
})

test('an older save that comes late does not bring its base back', async () => {
  const { line, world, save, begin } = stand()
  await begin()
  world.text = 'a'
  line.push()
  await answers()
  line.takeOver({ text: 'elsewhere', textRevision: 5, textHash: 'hash-5' })
  save(2)
  assert.deepEqual(line.base, { text: 'elsewhere', contentJson: '', textRevision: 5, hash: 'hash-5' })
})
