import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maxTextBytes, tooLarge } from '../../../page/content.js'
import { Composer } from '../bridge/composer.js'
import { occurrencesOf, project } from '../bridge/projection.js'
import { StandInput } from './stand.js'

/** @param {number} offset @param {string} label @param {string} path */
const file = (offset, label, path) => ({
  source: 'reference', ref: path, offset, length: label.length + 1, label, appearance: 'file', clipboardText: path,
})

test('a text without references is itself, whatever it holds', () => {
  for (const draft of ['', 'a', 'a\r\nb', '你好 😀', ' \n']) {
    assert.deepEqual(project({ draft, occurrences: [] }), { text: draft, contentJson: '' })
  }
})

test('a lone surrogate is replaced, a pair is not', () => {
  assert.equal(project({ draft: 'a\ud800b\udc00', occurrences: [] }).text, 'a\ufffdb\ufffd')
  assert.equal(project({ draft: '\ud83d\ude00', occurrences: [] }).text, '😀')
})

test('references are saved with what they send, at offsets of the saved text', () => {
  const draft = '😀 see @app.ts and @b.md!'
  const { text, contentJson } = project({ draft, occurrences: [file(7, 'app.ts', '@src/deep/app.ts'), file(19, 'b.md', '@b.md')] })
  assert.equal(text, '😀 see @src/deep/app.ts and @b.md!')
  const { occurrences } = JSON.parse(contentJson)
  assert.deepEqual(occurrences.map((/** @type {any} */ o) => text.slice(o.offset, o.offset + o.length)), ['@src/deep/app.ts', '@b.md'])
  assert.deepEqual(Object.keys(occurrences[0]), ['source', 'ref', 'offset', 'length', 'label', 'appearance', 'clipboardText'])
})

test('what does not fit the text is not taken for a reference', () => {
  const text = 'see @a and @b'
  const sound = { source: 's', ref: 'r', offset: 4, length: 2, label: 'a', clipboardText: '@a' }
  const json = (/** @type {object[]} */ ...occurrences) => JSON.stringify({ occurrences })
  assert.deepEqual(occurrencesOf(text, json(sound)), [sound])
  assert.deepEqual(occurrencesOf(text, json({ ...sound, offset: 11, clipboardText: '@b' }, sound)).map(o => o.offset), [4, 11])
  for (const bad of ['', '{', '{}', '{"occurrences":1}', json({ ...sound, offset: 5 }), json({ ...sound, length: 0 }), json({ ...sound, ref: 1 }), json(sound, sound).slice(0, -1)]) {
    assert.deepEqual(occurrencesOf(text, bad), [], bad)
  }
  assert.equal(occurrencesOf(text, json(sound, { ...sound, offset: 5 }, sound)).length, 1)
})

test('a saved text comes back exactly, with its chips', () => {
  for (const draft of ['see @app.ts', 'see @app.ts.', '@app.ts,@app.ts x', 'x @app.ts  y', '@app.ts\n']) {
    const input = new StandInput()
    const occurrences = [...draft.matchAll(/@app\.ts/g)].map(match => file(match.index, 'app.ts', '@src/deep/app.ts'))
    input.set({ draft, occurrences })
    const saved = project(input.state.getSnapshot())
    const other = new StandInput()
    assert.equal(new Composer(other).write(saved), true, draft)
    assert.equal(other.state.getSnapshot().draft, draft)
    assert.deepEqual(project(other.state.getSnapshot()), saved)
  }
})

test('where chips are refused the text is written plainly', () => {
  const input = new StandInput()
  input.takesChips = false
  const text = 'see @src/deep/app.ts'
  const contentJson = JSON.stringify({ occurrences: [{ ...file(4, 'app.ts', '@src/deep/app.ts'), length: 16 }] })
  assert.equal(new Composer(input).write({ text, contentJson }), true)
  assert.equal(input.state.getSnapshot().draft, text)
})

test('nothing is written while DSH has the text', () => {
  const input = new StandInput()
  for (const phase of /** @type {const} */ (['submitting', 'adjudicating', 'claimed'])) {
    input.set({ phase })
    assert.equal(new Composer(input).write({ text: 'x', contentJson: '' }), false)
    assert.equal(input.state.getSnapshot().draft, '')
  }
})

test('the limit counts bytes', () => {
  assert.equal(tooLarge('x'.repeat(maxTextBytes)), false)
  assert.equal(tooLarge('x'.repeat(maxTextBytes + 1)), true)
  assert.equal(tooLarge('你'.repeat(maxTextBytes / 3)), false)
  assert.equal(tooLarge('你'.repeat(maxTextBytes / 3 + 1)), true)
})
