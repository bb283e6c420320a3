import assert from 'node:assert/strict'
import { test } from 'node:test'
import { heir, movable } from '../sidebar/order.js'
import { installUndo, isUndo } from '../undo.js'

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

test('the undo chord takes back in the drafts and nowhere, and is left alone elsewhere', () => {
  class Element {
    /** @param {string} place */
    constructor(place) { this.place = place }

    closest() { return this.place === 'row' || this.place === 'title' ? this : null }

    matches() { return this.place === 'title' }
  }
  const body = new Element('body')
  Object.assign(globalThis, { Element, document: { body, documentElement: {} } })
  try {
    /** @type {(event: any) => void} */
    let pressed = () => {}
    let offered = true
    let taken = 0
    const undo = () => {
      if (offered) taken++
      return offered
    }
    installUndo(undo, /** @type {any} */ ({ addEventListener: (/** @type {string} */ _, /** @type {any} */ listener) => { pressed = listener } }))
    /** @param {Element} target */
    const press = target => {
      let kept = true
      pressed({ key: 'z', code: 'KeyZ', ctrlKey: true, metaKey: false, shiftKey: false, altKey: false, isComposing: false, target,
        preventDefault: () => { kept = false }, stopPropagation: () => {} })
      return kept
    }
    assert.deepEqual([press(new Element('row')), press(body), taken], [false, false, 2])
    assert.deepEqual([press(new Element('composer')), press(new Element('title')), taken], [true, true, 2])
    offered = false
    assert.deepEqual([press(new Element('row')), press(body), taken], [false, true, 2], 'the composer is not undone from a row')
  } finally {
    for (const name of ['Element', 'document']) delete (/** @type {any} */ (globalThis))[name]
  }
})
