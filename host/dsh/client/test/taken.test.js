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

/** @param {string} text */
function pluginWith(text) {
  const plugin = new StandPlugin()
  plugin.record.text = text
  return plugin
}

test('emptied by a person is an edit', async () => {
  const { editor, plugin, type } = standEditor({ plugin: pluginWith('AAA') })
  await editor.begin()
  type('')
  assert.deepEqual(plugin.edits.map(edit => edit.text), [''])
})

test('emptied by DSH is none, and the text comes back (invariant 5)', async () => {
  const { editor, input, plugin } = standEditor({ plugin: pluginWith('AAA') })
  await editor.begin()
  input.setDraft('')
  await pass(2_000)
  assert.equal(plugin.edits.length, 0)
  assert.equal(input.state.getSnapshot().draft, 'AAA')
})

test('a text that DSH\'s picker moved goes with its draft, however recently it was written', async () => {
  const { editor, input, plugin, world } = standEditor({ plugin: pluginWith('AAA') })
  await editor.begin()
  world.edited = true
  world.picked = 'target'
  input.setDraft('')
  await pass(2_000)
  assert.deepEqual(world.moved, [{ held: { text: 'AAA', contentJson: '' }, target: 'target' }])
  assert.equal(plugin.edits.length, 0)
  editor.moveFailed()
  assert.equal(input.state.getSnapshot().draft, 'AAA')
})

test('a rejected send changes nothing, and writing goes on', async () => {
  const { editor, input, plugin, type } = standEditor({ plugin: pluginWith('AAA') })
  await editor.begin()
  input.set({ phase: 'submitting' })
  assert.equal(editor.sending?.text, 'AAA')
  input.set({ phase: 'plain' })
  await pass(1_000)
  assert.equal(plugin.edits.length, 0)
  type('AAA!')
  assert.deepEqual(plugin.edits.map(edit => edit.text), ['AAA!'])
})

test('an accepted send is no edit, and neither is what is written after it (invariant 2)', async () => {
  const { editor, input, plugin, world, type } = standEditor({ plugin: pluginWith('AAA') })
  await editor.begin()
  world.edited = true
  input.set({ phase: 'submitting' })
  world.standing = 'converting'
  input.set({ phase: 'plain', draft: '' })
  await pass(1_000)
  world.standing = 'started'
  type('next')
  await pass(60_000)
  assert.equal(plugin.edits.length, 0)
})

test('a send that the host lost brings the text back (invariant 2)', async () => {
  const { editor, input, plugin } = standEditor({ plugin: pluginWith('AAA') })
  await editor.begin()
  input.set({ phase: 'submitting' })
  input.set({ phase: 'plain', draft: '' })
  await pass(9_000)
  assert.equal(input.state.getSnapshot().draft, 'AAA')
  assert.equal(plugin.edits.length, 0)
})

test('a host that restarts during a send does not make the text empty', async () => {
  const { editor, input, plugin, world } = standEditor({ plugin: pluginWith('AAA') })
  await editor.begin()
  world.edited = true
  input.set({ phase: 'submitting' })
  input.set({ phase: 'plain', draft: '' })
  editor.pause()
  editor.resume()
  plugin.epoch = 'epoch-2'
  await editor.begin()
  await pass(10_000)
  assert.equal(input.state.getSnapshot().draft, 'AAA')
  assert.equal(plugin.edits.length, 0)
})

test('a command that starts nothing takes its own line along', async () => {
  const { editor, input, plugin, world, type } = standEditor({ plugin: pluginWith('/permission read-only') })
  await editor.begin()
  input.set({ phase: 'adjudicating' })
  input.set({ phase: 'submitting' })
  world.standing = 'converting'
  input.set({ phase: 'plain', draft: '' })
  await pass(1_000)
  editor.onTextChanged(plugin.change(''))
  type('the task')
  world.standing = 'blank'
  await pass(4_000)
  assert.deepEqual(plugin.edits.map(edit => [edit.text, edit.baseTextRevision]), [['the task', 2]])
})

test('what is typed after a command waits no longer than the plugin does', async () => {
  const { editor, input, plugin, world, type } = standEditor({ plugin: pluginWith('/permission read-only') })
  await editor.begin()
  input.set({ phase: 'submitting' })
  world.standing = 'converting'
  input.set({ phase: 'plain', draft: '' })
  await pass(600)
  type('the task')
  world.standing = 'blank'
  await pass(600)
  assert.deepEqual(plugin.edits.map(edit => edit.text), ['the task'])
})
