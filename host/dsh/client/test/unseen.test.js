import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Bases } from '../bridge/base.js'
import { Unseen, behind } from '../bridge/unseen.js'
import { StandInput, StandPlugin, answers, hashOf, standEditor, standStorage } from './stand.js'

test('what was written without seeing the draft goes behind its text, and is no conflict (invariant 6)', async () => {
  const plugin = new StandPlugin()
  plugin.change('kept words')
  const { editor, input, type } = standEditor({ plugin, unseen: true })
  type('typed blindly')
  void editor.begin()
  await answers()
  assert.equal(plugin.calls[0]?.request.hostText, undefined, 'an unseen draft is not compared with what was typed')
  assert.equal(input.state.getSnapshot().draft, 'kept words\n\ntyped blindly')
  assert.equal(plugin.edits.at(-1).text, 'kept words\n\ntyped blindly')
  assert.equal(editor.state.conflictId, '')
})

test('where nothing was written the draft\'s text comes in', async () => {
  const plugin = new StandPlugin()
  plugin.change('kept words')
  const { editor, input } = standEditor({ plugin, unseen: true })
  void editor.begin()
  await answers()
  assert.equal(input.state.getSnapshot().draft, 'kept words')
  assert.equal(plugin.edits.length, 0)
})

test('two texts stand apart, an empty one needs no room', () => {
  assert.equal(behind('a', 'b'), 'a\n\nb')
  assert.equal(behind('a\n', 'b'), 'a\n\nb')
  assert.equal(behind('', 'b'), 'b')
  assert.equal(behind('a', ''), 'a')
})

test('a draft is unseen in a composer that has nothing of it, unless it is known to be empty', () => {
  const input = new StandInput()
  const bases = new Bases(standStorage(), standStorage())
  /** @type {string[][]} */
  const told = []
  const row = /** @type {any} */ ({ draftId: 'd', sessionId: 's', textRevision: 2, title: 'kept' })
  const unseen = new Unseen({
    ctx: /** @type {any} */ ({ sessions: { scope: () => ({}) }, get: () => ({ input: { for: () => input } }) }),
    bases, row: sessionId => sessionId === 's' ? row : undefined, changed: ids => { told.push([...ids]) },
  })
  unseen.look('of no draft')
  bases.write('s', { draftId: 'd', textRevision: 2, hash: hashOf('') })
  unseen.look('s')
  assert.deepEqual(told, [])
  bases.write('s', { draftId: 'd', textRevision: 1, hash: hashOf('') })
  input.setDraft('what DSH kept of it')
  unseen.look('s')
  assert.deepEqual(told, [])
  input.setDraft('')
  unseen.look('s')
  unseen.look('s')
  assert.deepEqual([unseen.take('s'), unseen.take('s')], [true, false])
  assert.deepEqual(told, [['s'], []])
})
