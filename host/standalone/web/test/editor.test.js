import assert from 'node:assert/strict'
import test from 'node:test'
import { ApiError, unreachable } from '../assets/api.js'
import { answers, hashOf, standEditor, standLocks, standStorage, StandPlugin } from './stand.js'

test('one edit is in flight, and the newest text goes next', async () => {
  const { editor, plugin } = standEditor()
  await editor.begin()
  for (const text of ['a', 'ab', 'abc']) editor.edit(text)
  assert.deepEqual(plugin.edits.map(({ text }) => text), ['a'])
  await answers()
  assert.deepEqual(plugin.edits.map(({ text, seq }) => [text, seq]), [['a', 1], ['abc', 2]])
  assert.equal(editor.state.save, 'saving')
  editor.onSaved(plugin.save(plugin.edits[0]))
  assert.equal(editor.state.save, 'saving')
  editor.onSaved(plugin.save(plugin.edits[1]))
  assert.equal(editor.state.save, 'saved')
})

test('nothing of a composition is forwarded until it ends', async () => {
  const { editor, plugin } = standEditor()
  await editor.begin()
  editor.edit('a')
  editor.edit('ab')
  editor.composing = true
  await answers()
  assert.deepEqual(plugin.edits.map(({ text }) => text), ['a'])
  editor.composing = false
  editor.edit('ab中')
  await answers()
  assert.deepEqual(plugin.edits.map(({ text }) => text), ['a', 'ab中'])
})

test('what is typed while a draft is opened stays behind its text', async () => {
  const plugin = new StandPlugin()
  plugin.change('the draft')
  const { editor, world } = standEditor({ plugin })
  const opening = editor.begin()
  editor.edit('!')
  await opening
  assert.equal(editor.text, 'the draft!')
  assert.equal(world.wrote, 1)
  await answers()
  assert.deepEqual(plugin.edits.map(({ text }) => text), ['the draft!'])
})

test('what another host put behind a text stays until the text is changed', async () => {
  const plugin = new StandPlugin()
  const contentJson = '{"occurrences":[]}'
  plugin.records.set('draft', { text: 'see @a.go', textRevision: 2, contentJson })
  const { editor } = standEditor({ plugin })
  await editor.begin()
  await answers()
  assert.equal(editor.state.save, 'saved')
  assert.deepEqual(plugin.edits, [], 'looking at it changes nothing')
  editor.edit('see')
  await answers()
  editor.onSaved(plugin.save(plugin.edits[0]))
  editor.edit('see @a.go')
  await answers()
  assert.deepEqual(plugin.edits.map(({ text, contentJson }) => [text, contentJson]), [['see', ''], ['see @a.go', '']])
})

test('a restarted plugin is asked again, with the text and what it is based on', async () => {
  const { editor, plugin } = standEditor()
  await editor.begin()
  editor.edit('one')
  await answers()
  editor.onSaved(plugin.save(plugin.edits[0]))
  editor.edit('one two')
  await answers()
  editor.pause()
  editor.edit('one two three')
  plugin.epoch = 'epoch-2'
  await editor.resume()
  const asked = plugin.calls.filter(({ operation }) => operation === 'open-editor').at(-1)?.request
  assert.equal(asked.hostText, 'one two three')
  assert.equal(asked.baseTextRevision, 2)
  assert.equal(asked.baseHash, hashOf('one'))
  assert.equal(editor.text, 'one two three')
  assert.equal(editor.state.save, 'saving')
  editor.onSaved(plugin.save({ ...asked, generation: editor.ref.generation, seq: 0, text: 'one two three' }))
  assert.equal(editor.state.save, 'saved')
})

test('a text that was emptied by hand while the plugin was away stays empty', async () => {
  const { editor, plugin } = standEditor()
  await editor.begin()
  editor.edit('one')
  await answers()
  editor.onSaved(plugin.save(plugin.edits[0]))
  editor.pause()
  editor.edit('')
  await editor.resume()
  await answers()
  assert.equal(editor.text, '')
  assert.equal(plugin.edits.at(-1).text, '')
})

test('a change from elsewhere comes in when nobody writes, and waits while somebody does', async () => {
  const { editor, plugin, world } = standEditor()
  await editor.begin()
  editor.onTextChanged(plugin.change('theirs'))
  assert.equal(editor.text, 'theirs')
  world.engaged = true
  editor.onTextChanged(plugin.change('theirs again'))
  assert.equal(editor.text, 'theirs')
  assert.equal(editor.state.elsewhere, true)
  await editor.elsewhere.show()
  assert.equal(editor.text, 'theirs again')
  assert.equal(editor.state.elsewhere, false)
  editor.dispose({ close: false })
})

test('the file was replaced by an older one: what is shown becomes a copy before the draft is shown, and that is said', async () => {
  const { editor, plugin } = standEditor()
  plugin.records.set('draft', { text: 'newest', textRevision: 5 })
  await editor.begin()
  plugin.records.set('draft', { text: 'old', textRevision: 1 })
  editor.onTextChanged({ ...plugin.change('old'), replaced: true })
  await answers()
  const edit = plugin.edits.at(-1)
  assert.deepEqual([edit.text, edit.baseTextRevision, editor.text], ['newest', 5, 'newest'])
  assert.deepEqual([editor.state.save, editor.state.elsewhere, editor.state.replaced], ['saving', true, true])
  editor.onSaved({ ...plugin.save({ ...edit, text: 'old' }), conflictId: 'copy' })
  await answers()
  assert.deepEqual([editor.text, editor.state.elsewhere, editor.state.conflictId, editor.state.replaced], ['old', false, 'copy', true])
  assert.equal(plugin.calls.filter(({ operation }) => operation === 'open-editor').length, 2, 'its first opening makes copies only')
  editor.elsewhere.dismiss()
  assert.deepEqual([editor.state.conflictId, editor.state.replaced], ['', false])
  editor.dispose({ close: false })
})

test('the file was replaced by one without the draft: its text becomes a draft again', async () => {
  const { editor, plugin, world } = standEditor()
  plugin.records.set('draft', { text: 'only here', textRevision: 5 })
  await editor.begin()
  assert.equal(editor.rescue(), true)
  await answers()
  const edit = plugin.edits.at(-1)
  assert.equal(edit.text, 'only here')
  plugin.records.set('anew', { text: 'only here', textRevision: 1 })
  editor.onSaved({ ...plugin.save(edit), newDraftId: 'anew' })
  await answers()
  assert.deepEqual([editor.draftId, editor.text, world.became], ['anew', 'only here', ['anew']])
  editor.dispose({ close: false })
})

test('only what another host put behind the same text changed: nothing is said, and it is kept', async () => {
  const { editor, plugin, world } = standEditor()
  await editor.begin()
  world.engaged = true
  plugin.records.set('draft', { text: 'same', textRevision: 2 })
  editor.onTextChanged(plugin.change('same'))
  assert.equal(editor.state.elsewhere, true)
  await editor.elsewhere.show()
  editor.onTextChanged({ ...plugin.change('same'), contentJson: '{"references":1}' })
  assert.deepEqual([editor.state.elsewhere, editor.state.save], [false, 'saved'])
  editor.push()
  await answers()
  assert.equal(plugin.edits.length, 0)
  editor.dispose({ close: false })
})

test('a change back to what is shown takes the place of the one that waited', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { editor, plugin, world } = standEditor()
  plugin.records.set('draft', { text: 'shown', textRevision: 2 })
  await editor.begin()
  world.engaged = true
  editor.onTextChanged(plugin.change('theirs'))
  assert.equal(editor.state.elsewhere, true)
  editor.onTextChanged(plugin.change('shown'))
  world.engaged = false
  t.mock.timers.tick(600)
  assert.deepEqual([editor.text, editor.base.textRevision, editor.state.elsewhere], ['shown', 4, false])
  editor.dispose({ close: false })
})

test('a text that became a copy leaves what the next edit is based on', async () => {
  const { editor, plugin } = standEditor()
  await editor.begin()
  plugin.change('theirs')
  editor.edit('mine')
  await answers()
  editor.onSaved({ ...plugin.save({ ...plugin.edits[0], text: 'theirs' }), conflictId: 'copy' })
  assert.equal(editor.state.conflictId, 'copy')
  editor.edit('mine too')
  await answers()
  assert.equal(plugin.edits.at(-1).baseTextRevision, 1)
})

test('an answer of an earlier opening is none of this one', async () => {
  const { editor, plugin } = standEditor()
  await editor.begin()
  /** @type {(() => void)[]} */
  const held = []
  plugin.before = operation => operation === 'edit' ? new Promise(resolve => { held.push(resolve) }) : undefined
  editor.edit('one')
  await answers()
  editor.pause()
  await editor.resume()
  editor.edit('one two')
  editor.edit('one two three')
  await answers()
  assert.equal(held.length, 2)
  held[0]?.()
  await answers()
  assert.deepEqual([editor.open, editor.state.save], [true, 'saving'])
  assert.deepEqual(plugin.edits.map(({ text }) => text), ['one', 'one two'])
})

test('an older change and one of its own are no change from elsewhere', async () => {
  const { editor, plugin } = standEditor()
  await editor.begin()
  const change = plugin.change('one')
  editor.onTextChanged({ ...change, editorId: 'editor' })
  assert.equal(editor.text, '')
  editor.onTextChanged({ ...change, textRevision: 1 })
  assert.equal(editor.text, '')
})

test('without an answer the words wait in the browser and are tried again', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { editor, plugin, storage } = standEditor()
  await editor.begin()
  plugin.before = operation => { if (operation === 'edit') throw new ApiError(unreachable, '') }
  editor.edit('kept')
  await answers()
  assert.deepEqual([editor.state.save, editor.state.code, editor.state.retrying], ['not_saved', unreachable, true])
  t.mock.timers.tick(100)
  assert.equal(JSON.parse(storage.getItem('draft-sessions.unsaved.editor.draft') ?? '').text, 'kept')
  plugin.before = () => {}
  t.mock.timers.tick(400)
  await answers()
  editor.onSaved(plugin.save(plugin.edits.at(-1)))
  assert.equal(editor.state.save, 'saved')
  assert.equal(storage.getItem('draft-sessions.unsaved.editor.draft'), null)
})

test('a text over the limit is not sent and says why', async () => {
  const { editor, plugin } = standEditor()
  await editor.begin()
  editor.edit('x'.repeat((1 << 20) + 1))
  assert.equal(editor.state.code, 'TEXT_TOO_LARGE')
  assert.equal(plugin.edits.length, 0)
  editor.edit('short')
  await answers()
  assert.equal(plugin.edits.length, 1)
})

test('lone surrogates never leave the page', async () => {
  const { editor, plugin } = standEditor()
  await editor.begin()
  editor.edit('a\ud800b')
  await answers()
  assert.equal(plugin.edits[0].text, 'a\ufffdb')
})

test('a draft that cannot be made yet takes its words, and is made once the host is back', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const plugin = new StandPlugin()
  plugin.before = () => { throw new ApiError(unreachable, '') }
  const { editor, world, storage } = standEditor({ plugin, start: { draftId: 'new', creating: { workspaceId: 'workspace', idempotencyKey: 'new' } } })
  await editor.begin()
  editor.edit('begun')
  t.mock.timers.tick(100)
  assert.equal(editor.writable, true)
  assert.deepEqual(JSON.parse(storage.getItem('draft-sessions.unsaved.editor.new') ?? '').creating, { workspaceId: 'workspace', idempotencyKey: 'new' })
  plugin.before = () => {}
  t.mock.timers.tick(1_500)
  await answers()
  await answers()
  assert.equal(world.created, 1)
  assert.equal(plugin.calls.filter(({ operation }) => operation === 'open-editor').at(-1)?.request.hostText, 'begun')
  assert.equal(editor.text, 'begun')
})

test('words for a draft that was sent meanwhile go on in the draft that the plugin made of them', async () => {
  const { editor, plugin, world } = standEditor()
  await editor.begin()
  editor.edit('late')
  await answers()
  plugin.change('late', 'newer')
  editor.onSaved(plugin.save(plugin.edits[0], { newDraftId: 'newer' }))
  assert.deepEqual(world.became, ['newer'])
  await answers()
  assert.equal(editor.open, true)
  assert.equal(editor.ref.draftId, 'newer')
  assert.equal(editor.text, 'late')
})

test('words for a draft that is gone when the page comes back become a draft of their own', async () => {
  const { editor, plugin, world } = standEditor()
  await editor.begin()
  editor.pause()
  editor.edit('only here')
  plugin.records.delete('draft')
  await editor.resume()
  await answers()
  assert.equal(world.gone, 0)
  assert.equal(world.became.length, 1)
  const made = plugin.calls.find(({ operation }) => operation === 'new')?.request
  assert.deepEqual([made.workspaceId, made.idempotencyKey], ['workspace', editor.draftId])
  assert.equal(editor.text, 'only here')
})

test('a draft that is gone with nothing unsaved is gone', async () => {
  const { editor, plugin, world } = standEditor()
  plugin.records.delete('draft')
  await editor.begin()
  assert.equal(world.gone, 1)
})

test('a page leaves what it could not save to the next one, and takes nothing of a page that lives', async () => {
  const storage = standStorage()
  const locks = standLocks()
  const first = standEditor({ storage, locks, editorId: 'first' })
  await first.editor.begin()
  first.editor.pause()
  first.editor.edit('unsaved')
  first.editor.keepNow()
  const second = standEditor({ storage, locks, editorId: 'second' })
  assert.deepEqual(await second.unsaved.left(), [])
  locks.held.delete('draft-sessions.editor.first')
  const left = await second.unsaved.left()
  assert.deepEqual(left.map(({ editorId, entry }) => [editorId, entry.draftId, entry.text]), [['first', 'draft', 'unsaved']])
  assert.equal(left[0]?.entry.base?.editorId, 'first')
  second.unsaved.remove('first', 'draft')
  assert.deepEqual(await second.unsaved.left(), [])
})
