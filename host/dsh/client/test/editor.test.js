import assert from 'node:assert/strict'
import { afterEach, beforeEach, mock, test } from 'node:test'
import { RemoteError, unreachable } from '../remote.js'
import { StandPlugin, answers, hashOf, standEditor, standStorage } from './stand.js'

beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'Date'] }))
afterEach(() => mock.timers.reset())

/** @param {number} ms */
async function pass(ms) {
  for (let past = 0; past < ms; past += 50) {
    mock.timers.tick(50)
    await answers()
  }
}

/** @param {string} text */
function pluginWith(text) {
  const plugin = new StandPlugin()
  plugin.record.text = text
  return plugin
}

test('an empty composer shows the draft, and that is no edit', async () => {
  const { editor, input, plugin, bases } = standEditor({ plugin: pluginWith('AAA') })
  await editor.begin()
  assert.equal(input.state.getSnapshot().draft, 'AAA')
  assert.equal(plugin.calls[0]?.request.hostText, undefined)
  assert.equal(plugin.edits.length, 0)
  assert.equal(editor.state.save, 'saved')
  assert.deepEqual(bases.read('session'), { draftId: 'draft', textRevision: 1, hash: hashOf('AAA'), editorId: 'editor' })
})

test('a text that the composer held is told with its base, and stays when the plugin says so', async () => {
  const storage = standStorage()
  const plugin = pluginWith('AAA')
  await standEditor({ plugin, storage, editorId: 'before' }).editor.begin()
  const { editor, input } = standEditor({ plugin, storage, text: 'AAA and more' })
  plugin.decide = () => ({ show: 'host', conflictId: '' })
  await editor.begin()
  const { request } = /** @type {any} */ (plugin.calls.at(-1))
  assert.deepEqual([request.hostText, request.baseTextRevision, request.baseHash, request.baseDraftId, request.baseEditorId],
    ['AAA and more', 1, hashOf('AAA'), 'draft', 'before'])
  assert.equal(input.state.getSnapshot().draft, 'AAA and more')
  assert.equal(editor.state.save, 'saving')
  editor.onSaved(plugin.save({ ...editor.ref, seq: 0, text: 'AAA and more' }))
  assert.equal(editor.state.save, 'saved')
})

test('what is typed while the draft opens stays behind its text', async () => {
  const { editor, input, plugin, type } = standEditor({ plugin: pluginWith('AAA') })
  const opening = editor.begin()
  type('x')
  await opening
  await answers()
  assert.equal(input.state.getSnapshot().draft, 'AAAx')
  assert.deepEqual(plugin.edits.map(edit => edit.text), ['AAAx'])
})

test('a text that changed while the draft opened is asked for again, and overwrites nothing', async () => {
  const { editor, input, plugin, type } = standEditor({ plugin: pluginWith('theirs'), text: 'mine' })
  plugin.decide = () => ({ show: 'record', conflictId: 'copy' })
  const opening = editor.begin()
  type('quite different')
  await opening
  await answers()
  assert.equal(plugin.edits.length, 0)
  await pass(50)
  assert.equal(plugin.calls.filter(({ method }) => method === 'openEditor').at(-1)?.request.hostText, 'quite different')
  assert.equal(input.state.getSnapshot().draft, 'theirs')
  assert.equal(editor.state.conflictId, 'copy')
})

test('one edit is in flight, and the newest text goes next (invariant 5: each names its opening)', async () => {
  const { editor, plugin, type } = standEditor()
  await editor.begin()
  for (const text of ['a', 'ab', 'abc', 'abcd']) type(text)
  assert.deepEqual(plugin.edits.map(edit => edit.text), ['a'])
  await answers()
  assert.deepEqual(plugin.edits.map(({ text, seq, generation, epoch, draftId, editorId }) => [text, seq, generation, epoch, draftId, editorId]),
    [['a', 1, 1, 'epoch-1', 'draft', 'editor'], ['abcd', 2, 1, 'epoch-1', 'draft', 'editor']])
})

test('only the word that it is on disk makes it saved (invariant 1)', async () => {
  const { editor, plugin, type, bases } = standEditor()
  await editor.begin()
  type('a')
  await answers()
  assert.equal(editor.state.save, 'saving')
  editor.onSaved(plugin.save(plugin.edits[0]))
  assert.equal(editor.state.save, 'saved')
  assert.equal(bases.read('session')?.hash, hashOf('a'))
})

test('the word of a save may come before the answer to its edit', async () => {
  const { editor, plugin, type } = standEditor()
  await editor.begin()
  plugin.before = (method, request) => { if (method === 'edit') editor.onSaved(plugin.save(request)) }
  type('a')
  await answers()
  assert.equal(editor.state.save, 'saved')
  assert.equal(editor.base.text, 'a')
})

test('words about another opening or another editor change nothing (invariant 5)', async () => {
  const { editor, plugin, type, bases } = standEditor()
  await editor.begin()
  type('a')
  await answers()
  const saved = plugin.save(plugin.edits[0])
  editor.onSaved({ ...saved, generation: 99 })
  editor.onSaved({ ...saved, editorId: 'other' })
  assert.equal(editor.state.save, 'saving')
  assert.notEqual(bases.read('session')?.hash, hashOf('a'))
})

test('an answer that comes after the draft was opened again is ignored', async () => {
  const { editor, plugin, type } = standEditor()
  await editor.begin()
  /** @type {(value?: unknown) => void} */
  let late = () => {}
  plugin.before = async method => { if (method === 'edit') await new Promise(resolve => { late = resolve }) }
  type('a')
  plugin.before = () => {}
  plugin.epoch = 'epoch-2'
  await editor.begin()
  await answers()
  const sent = plugin.edits.length
  late()
  await answers()
  assert.equal(plugin.edits.length, sent)
  assert.equal(editor.epoch, 'epoch-2')
})

test('an editor that the plugin does not know any more is opened again', async () => {
  const { editor, plugin, type } = standEditor()
  await editor.begin()
  plugin.epoch = 'epoch-2'
  type('a')
  await answers()
  assert.equal(editor.state.save, 'not_saved')
  await pass(600)
  assert.equal(editor.epoch, 'epoch-2')
  assert.equal(plugin.calls.filter(({ method }) => method === 'openEditor').at(-1)?.request.hostText, 'a')
})

test('two openings at once are asked for one after the other, and the last one counts', async () => {
  const { editor, plugin, type } = standEditor()
  /** @type {(() => void)[]} */
  const held = []
  plugin.before = async method => { if (method === 'openEditor') await new Promise(resolve => { held.push(() => resolve(undefined)) }) }
  const both = [editor.begin(), editor.begin()]
  await answers()
  assert.equal(held.length, 1)
  held.shift()?.()
  await answers()
  held.shift()?.()
  await Promise.all(both)
  plugin.before = () => {}
  type('a')
  await answers()
  assert.equal(plugin.edits.length, 1)
  assert.equal(editor.state.save, 'saving')
  editor.onSaved(plugin.save(plugin.edits[0]))
  assert.equal(editor.state.save, 'saved')
})

test('the word of a save may come before the answer that opens the editor', async () => {
  const { editor, plugin } = standEditor({ text: 'kept by DSH' })
  /** @type {() => void} */
  let answer = () => {}
  plugin.before = async method => { if (method === 'openEditor') await new Promise(resolve => { answer = () => resolve(undefined) }) }
  const opened = editor.begin()
  await answers()
  const edit = { editorId: 'editor', generation: 1, seq: 0, text: 'kept by DSH' }
  plugin.decide = () => ({ show: 'host', conflictId: '' })
  editor.onSaved(plugin.save(edit))
  plugin.record = { ...plugin.record, text: '' }
  answer()
  await opened
  await answers()
  assert.equal(editor.state.save, 'saved')
})

test('an edit that did not get through is tried again, and says so meanwhile', async () => {
  const { editor, plugin, type } = standEditor()
  await editor.begin()
  plugin.before = method => { if (method === 'edit') throw new RemoteError(unreachable, 'offline') }
  type('a')
  await answers()
  assert.deepEqual([editor.state.save, editor.state.code, editor.state.retrying], ['not_saved', unreachable, true])
  plugin.before = () => {}
  await pass(600)
  assert.equal(editor.state.save, 'saving')
})

test('a text over the limit is not sent and says why; a shorter one is', async () => {
  const { editor, plugin, type } = standEditor()
  await editor.begin()
  type('x'.repeat((1 << 20) + 1))
  assert.deepEqual([editor.state.save, editor.state.code], ['not_saved', 'TEXT_TOO_LARGE'])
  assert.equal(plugin.edits.length, 0)
  type('')
  assert.equal(editor.state.save, 'saved')
  type('small')
  assert.deepEqual(plugin.edits.map(edit => edit.text), ['small'])
})

test('a change from elsewhere comes in when nobody writes', async () => {
  const { editor, input, plugin, bases } = standEditor({ plugin: pluginWith('one') })
  await editor.begin()
  editor.onTextChanged(plugin.change('two'))
  assert.equal(input.state.getSnapshot().draft, 'two')
  assert.equal(bases.read('session')?.textRevision, 2)
  assert.equal(plugin.edits.length, 0)
})

test('a change from elsewhere waits while somebody writes or composes, and is told', async () => {
  const { editor, input, plugin, world } = standEditor({ plugin: pluginWith('one') })
  await editor.begin()
  world.edited = true
  editor.onTextChanged(plugin.change('two'))
  await pass(1_000)
  assert.equal(input.state.getSnapshot().draft, 'one')
  assert.equal(editor.state.elsewhere, true)
  world.edited = false
  world.composing = true
  await pass(1_000)
  assert.equal(input.state.getSnapshot().draft, 'one')
  world.composing = false
  await pass(1_000)
  assert.equal(input.state.getSnapshot().draft, 'two')
  assert.equal(editor.state.elsewhere, false)
})

test('both changed: this text goes into a copy, on its old base, and stays here (invariant 6)', async () => {
  const { editor, input, plugin, world, type } = standEditor({ plugin: pluginWith('one') })
  await editor.begin()
  type('one mine')
  await answers()
  const theirs = plugin.change('one theirs')
  editor.onTextChanged(theirs)
  const { textRevision } = plugin.record
  editor.onSaved({ ...plugin.save({ ...plugin.edits[0], text: 'one theirs' }), conflictId: 'copy' })
  world.edited = false
  await pass(5_000)
  assert.equal(input.state.getSnapshot().draft, 'one mine')
  assert.deepEqual([editor.state.elsewhere, editor.state.conflictId], [true, 'copy'])
  type('one mine, more')
  assert.equal(plugin.edits.at(-1).baseTextRevision, 1)
  await answers()
  editor.onSaved({ ...plugin.save({ ...plugin.edits.at(-1), text: 'one theirs' }), conflictId: 'copy' })
  await editor.elsewhere.show()
  assert.equal(input.state.getSnapshot().draft, 'one theirs')
  assert.deepEqual([editor.state.elsewhere, editor.state.conflictId], [false, ''])
  type('one theirs!')
  assert.equal(plugin.edits.at(-1).baseTextRevision, textRevision)
})

test('keeping mine lets the two texts change places', async () => {
  const { editor, input, plugin, type } = standEditor({ plugin: pluginWith('one') })
  await editor.begin()
  type('mine')
  await answers()
  editor.onTextChanged(plugin.change('theirs'))
  editor.onSaved({ ...plugin.save({ ...plugin.edits[0], text: 'theirs' }), conflictId: 'copy' })
  plugin.before = method => { if (method === 'resolveConflict') plugin.change('mine') }
  await editor.elsewhere.keepMine()
  const { request } = /** @type {any} */ (plugin.calls.at(-1))
  assert.deepEqual(request, { draftId: 'draft', conflictId: 'copy', keepAsDraft: false, take: true })
  assert.equal(input.state.getSnapshot().draft, 'mine')
  assert.deepEqual([editor.state.save, editor.state.elsewhere, editor.state.conflictId], ['saved', false, ''])
})

test('what is written while the plugin is down is told when it is back', async () => {
  const { editor, plugin, type } = standEditor({ plugin: pluginWith('one') })
  await editor.begin()
  editor.pause()
  assert.equal(editor.state.dirty, false, 'all is saved, though drafts are paused')
  type('one two')
  assert.equal(editor.state.dirty, true)
  await pass(10_000)
  assert.equal(plugin.edits.length, 0)
  editor.resume()
  plugin.epoch = 'epoch-2'
  plugin.decide = () => ({ show: 'host', conflictId: '' })
  await editor.begin()
  assert.equal(plugin.calls.at(-1)?.request.hostText, 'one two')
})

test('a text that was accepted and not saved when the plugin died is told again', async () => {
  const { editor, type } = standEditor()
  await editor.begin()
  type('a')
  await answers()
  editor.pause()
  assert.equal(editor.dirty, true)
})

test('emptied by a person while the plugin was down is an edit when it is back, if nothing else changed', async () => {
  for (const changed of [false, true]) {
    const { editor, input, plugin, type } = standEditor({ plugin: pluginWith('one') })
    await editor.begin()
    editor.pause()
    type('')
    if (changed) plugin.change('two')
    editor.resume()
    await editor.begin()
    assert.deepEqual(plugin.edits.map(edit => edit.text), changed ? [] : [''])
    assert.equal(input.state.getSnapshot().draft, changed ? 'two' : '')
  }
})

test('late words tell which draft they became, once each save', async () => {
  const { editor, plugin, type, world, bases } = standEditor({ plugin: pluginWith('one') })
  await editor.begin()
  type('one late')
  await answers()
  editor.onSaved({ ...plugin.save(plugin.edits[0]), newDraftId: 'new' })
  assert.deepEqual(world.became, ['new'])
  assert.equal(editor.base.text, 'one late')
  assert.equal(bases.read('session')?.hash, hashOf('one'))
})

test('a draft that is gone is told, a passing fault is tried again', async () => {
  const { editor, plugin, world } = standEditor()
  plugin.before = () => { throw new RemoteError('DRAFT_NOT_FOUND', 'gone') }
  await editor.begin()
  assert.equal(world.gone, 1)
  plugin.before = () => { throw new RemoteError('OPERATION_CONFLICT', 'being sent') }
  await editor.begin()
  assert.equal(editor.state.save, 'not_saved')
  plugin.before = () => {}
  await pass(600)
  assert.equal(editor.state.save, 'saved')
})

test('the last words of a page that closes are an edit like others', async () => {
  const { editor, plugin, type } = standEditor()
  await editor.begin()
  assert.equal(editor.lastEdit(), undefined)
  plugin.before = (/** @type {string} */ method) => method === 'edit' ? new Promise(() => {}) : undefined
  type('a')
  type('ab')
  assert.deepEqual([editor.lastEdit()?.text, editor.lastEdit()?.seq], ['ab', 3])
})

test('nothing happens after the editor is given up', async () => {
  const { editor, plugin, type } = standEditor()
  await editor.begin()
  editor.dispose({ close: true })
  type('a')
  editor.onTextChanged(plugin.change('b'))
  await pass(10_000)
  assert.deepEqual(plugin.calls.map(({ method }) => method), ['openEditor', 'closeEditor'])
})
