import assert from 'node:assert/strict'
import { test } from 'node:test'
import { heir, movable } from '../sidebar/order.js'
import { isUndo } from '../undo.js'

test('the focus of a row that is gone goes to the next one that is left, else to the one before', () => {
  const shown = ['a', 'b', 'c', 'd']
  assert.equal(heir(shown, ['a', 'c', 'd'], 'b'), 'c')
  assert.equal(heir(shown, ['a', 'd'], 'b'), 'd', 'the next one went too')
  assert.equal(heir(shown, ['a', 'b', 'c'], 'd'), 'c')
  assert.equal(heir(shown, ['a'], 'd'), 'a')
  assert.equal(heir(shown, ['c', 'b', 'a', 'd'], 'b'), 'b', 'it only moved')
  assert.equal(heir(shown, [], 'b'), undefined)
})

test('a row moves only among those that are pinned as it is', () => {
  const rows = [{ pinned: true }, { pinned: true }, { pinned: false }, { pinned: false }]
  assert.deepEqual(rows.map((_, i) => [movable(rows, i, -1), movable(rows, i, 1)]),
    [[false, true], [true, false], [false, true], [true, false]])
})

test('the undo chord, by its letter or where there are no Latin letters by its place', () => {
  const keys = { key: 'z', code: 'KeyZ', shiftKey: false, ctrlKey: true, metaKey: false, altKey: false, isComposing: false }
  for (const change of [{}, { key: 'Z' }, { ctrlKey: false, metaKey: true }, { code: 'KeyY' }, { key: 'я' }]) {
    assert.equal(isUndo({ ...keys, ...change }), true, JSON.stringify(change))
  }
  for (const change of [{ ctrlKey: false }, { metaKey: true }, { shiftKey: true }, { altKey: true }, { isComposing: true }, { key: 'y' }]) {
    assert.equal(isUndo({ ...keys, ...change }), false, JSON.stringify(change))
  }
})
