import assert from 'node:assert/strict'
import { afterEach, beforeEach, mock, test } from 'node:test'
import { StandPlugin, answers, standEditor } from './stand.js'

beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'Date'] }))
afterEach(() => mock.timers.reset())

/** @param {number} ms */
async function pass(ms) {
  for (let past = 0; past < ms; past += 50) {
    mock.timers.tick(50)
    await answers()
  }
}

/** A draft at revision 5 that is shown, saved, and of which an older file holds `old`. */
async function replaced({ engaged = false } = {}) {
  const plugin = new StandPlugin()
  plugin.record = { text: 'newest', contentJson: '', textRevision: 5 }
  const stand = standEditor({ plugin })
  await stand.editor.begin()
  stand.world.edited = engaged
  plugin.record = { text: 'old', contentJson: '', textRevision: 2 }
  stand.editor.onTextChanged({ ...plugin.change('old'), textRevision: 2, replaced: true })
  plugin.record.textRevision = 2
  await answers()
  const edit = plugin.edits.at(-1)
  return { ...stand, edit, kept: () => stand.editor.onSaved({ ...plugin.save({ ...edit, text: 'old' }), textRevision: 2, conflictId: 'copy' }) }
}

test('the file was replaced: what is shown becomes a copy before the record is shown, and that is said', async () => {
  const { editor, input, plugin, edit, kept, bases } = await replaced()
  assert.deepEqual([edit.text, edit.baseTextRevision], ['newest', 5])
  await pass(2_000)
  assert.equal(input.state.getSnapshot().draft, 'newest', 'nothing says yet that it is kept')
  kept()
  await pass(1_000)
  assert.equal(input.state.getSnapshot().draft, 'old')
  assert.deepEqual([editor.state.elsewhere, editor.state.conflictId, editor.state.replaced], [false, 'copy', true])
  assert.equal(plugin.calls.filter(({ method }) => method === 'openEditor').length, 2, 'its first opening makes copies only')
  assert.equal(bases.read('session')?.textRevision, 2)
  editor.elsewhere.dismiss()
  assert.deepEqual([editor.state.conflictId, editor.state.replaced], ['', false])
})

test('the file was replaced while somebody writes: the text stays until they decide', async () => {
  const { editor, input, plugin, world, type, kept } = await replaced({ engaged: true })
  kept()
  await pass(2_000)
  assert.equal(input.state.getSnapshot().draft, 'newest')
  assert.deepEqual([editor.state.elsewhere, editor.state.conflictId, editor.state.replaced], [true, 'copy', true])
  await editor.elsewhere.show()
  await answers()
  assert.equal(input.state.getSnapshot().draft, 'old')
  world.edited = false
  type('old, again')
  assert.deepEqual([plugin.edits.at(-1).generation, plugin.edits.at(-1).baseTextRevision], [2, 2])
})

test('the file was replaced by one that has the same text: nothing is said', async () => {
  const plugin = new StandPlugin()
  plugin.record = { text: 'same', contentJson: '', textRevision: 5 }
  const { editor } = standEditor({ plugin })
  await editor.begin()
  plugin.record.textRevision = 1
  editor.onTextChanged({ ...plugin.change('same'), replaced: true })
  await pass(1_000)
  assert.equal(plugin.edits.length, 0)
  assert.deepEqual([editor.state.elsewhere, editor.state.conflictId, editor.state.replaced], [false, '', false])
  assert.equal(editor.base.textRevision, 2)
})

/** Both wrote; this page's text is the copy, and still shown. */
async function conflict() {
  const plugin = new StandPlugin()
  plugin.record = { text: 'one', contentJson: '', textRevision: 1 }
  const stand = standEditor({ plugin })
  await stand.editor.begin()
  stand.type('mine')
  await answers()
  stand.editor.onTextChanged(plugin.change('theirs'))
  stand.editor.onSaved({ ...plugin.save({ ...plugin.edits[0], text: 'theirs' }), conflictId: 'copy' })
  return stand
}

test('once its copy is a draft of its own, the draft is shown and nothing more is said', async () => {
  const { editor, input, plugin } = await conflict()
  await editor.elsewhere.resolved('another copy')
  assert.equal(editor.state.conflictId, 'copy')
  await editor.elsewhere.resolved('copy')
  assert.equal(input.state.getSnapshot().draft, 'theirs')
  assert.deepEqual([editor.state.elsewhere, editor.state.conflictId], [false, ''])
  assert.equal(plugin.edits.length, 1, 'no other copy is made')
})

test('a copy that another page decided about is not spoken of any more', async () => {
  const { editor, input, plugin, world } = await conflict()
  const asked = () => plugin.calls.filter(({ method }) => method === 'get').length
  world.edited = false
  plugin.conflicts = [{ id: 'copy' }]
  await editor.elsewhere.look({ revision: 7 })
  await editor.elsewhere.look({ revision: 7 })
  assert.deepEqual([editor.state.conflictId, asked()], ['copy', 1])
  plugin.conflicts = []
  await editor.elsewhere.look({ revision: 8 })
  assert.deepEqual([editor.state.conflictId, editor.state.elsewhere], ['', false])
  assert.equal(input.state.getSnapshot().draft, 'theirs')
})

test('a copy that went while somebody writes here leaves their text, and showing the draft keeps it', async () => {
  const { editor, input, plugin } = await conflict()
  plugin.conflicts = []
  await editor.elsewhere.look({ revision: 8 })
  assert.deepEqual([editor.state.conflictId, editor.state.elsewhere], ['', true])
  assert.equal(input.state.getSnapshot().draft, 'mine')
  const shown = editor.elsewhere.show()
  await answers()
  assert.deepEqual([plugin.edits.at(-1).text, plugin.edits.at(-1).baseTextRevision], ['mine', 1])
  editor.onSaved({ ...plugin.save({ ...plugin.edits.at(-1), text: 'theirs' }), conflictId: 'another' })
  await pass(200)
  await shown
  assert.equal(input.state.getSnapshot().draft, 'theirs')
})

test('where the record is shown, taking mine back puts it in', async () => {
  const plugin = new StandPlugin()
  plugin.record = { text: 'theirs', contentJson: '', textRevision: 4 }
  plugin.decide = () => ({ show: 'record', conflictId: 'copy' })
  const { editor, input } = standEditor({ plugin, text: 'mine' })
  await editor.begin()
  assert.equal(input.state.getSnapshot().draft, 'theirs')
  assert.deepEqual([editor.state.elsewhere, editor.state.conflictId], [false, 'copy'])
  plugin.before = method => { if (method === 'resolveConflict') plugin.change('mine') }
  await editor.elsewhere.keepMine()
  await answers()
  assert.equal(input.state.getSnapshot().draft, 'mine')
  assert.equal(plugin.edits.length, 0, 'what was shown does not come back over it')
  assert.deepEqual([editor.state.save, editor.state.conflictId], ['saved', ''])
})

test('nothing is put in while an input method composes', async () => {
  const plugin = new StandPlugin()
  plugin.record = { text: 'record', contentJson: '', textRevision: 4 }
  const { editor, input, world } = standEditor({ plugin })
  world.composing = true
  await editor.begin()
  await pass(2_000)
  assert.equal(input.state.getSnapshot().draft, '')
  world.composing = false
  await pass(1_000)
  assert.equal(input.state.getSnapshot().draft, 'record')
})
