import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decode, WireError } from '../wire/codec.js'
import { messages } from '../wire/messages.js'
import { events, methods } from '../wire/surface.js'

/** @param {() => unknown} fn @param {string} member */
function refuses(fn, member) {
  assert.throws(fn, (error) => {
    assert.ok(error instanceof WireError)
    assert.equal(error.code, 'DRAFT_INVALID_INPUT')
    assert.equal(error.member, member)
    assert.doesNotMatch(error.message, /secret/)
    return true
  })
}

test('a message comes back with exactly its members', () => {
  const draft = { draftId: 'd', expectedRevision: 3, title: '' }
  assert.deepEqual(decode('UpdateRequest', draft), draft)
  assert.deepEqual(decode('Empty', {}), {})
})

test('a missing, unknown or wrong member is named, its value is not', () => {
  refuses(() => decode('DraftRef', {}), 'draftId')
  refuses(() => decode('DraftRef', { draftId: 'd', more: 'secret' }), 'more')
  refuses(() => decode('DraftRef', { draftId: ['secret'] }), 'draftId')
  refuses(() => decode('RevisionRef', { draftId: 'd', expectedRevision: 1.5 }), 'expectedRevision')
  refuses(() => decode('UpdateRequest', { draftId: 'd', expectedRevision: 1, pinned: 'secret' }), 'pinned')
  refuses(() => decode('ReorderRequest', { workspaceId: 'w', draftIds: ['a', 1] }), 'draftIds[1]')
  refuses(() => decode('DraftRef', null), 'DraftRef')
  refuses(() => decode('DraftRef', []), 'DraftRef')
})

test('a member of a member is named by its path', () => {
  const request = {
    workspaceId: '', currentSessionId: '', recentWorkspaceId: '', idempotencyKey: 'k', text: '', agentPresetId: '',
    openEditor: { draftId: 'd', editorId: 'e' },
  }
  refuses(() => decode('NewDraftRequest', request), 'openEditor.generation')
})

test('text that is not well-formed Unicode is refused: it would not survive the way', () => {
  refuses(() => decode('DraftRef', { draftId: '\ud800 secret' }), 'draftId')
  assert.equal(decode('DraftRef', { draftId: '😀 漢字\r\n' }).draftId, '😀 漢字\r\n')
})

test('a hostile member name is not repeated', () => {
  refuses(() => decode('DraftRef', { draftId: 'd', ['secret\n'.repeat(9)]: 1 }), '(member)')
  refuses(() => decode('DraftRef', JSON.parse('{"__proto__": 1, "draftId": "d"}')), '__proto__')
})

test('every method and event names messages that exist, and every type is known', () => {
  const known = new Set(['string', 'int', 'boolean', ...Object.keys(messages)])
  for (const members of Object.values(messages)) {
    for (const type of Object.values(members)) {
      assert.ok(known.has(/** @type {string} */ (type).replace(/(\[\])?\??$/, '')), type)
    }
  }
  for (const { request, response } of Object.values(methods)) assert.ok(known.has(request) && known.has(response))
  for (const name of Object.values(events)) assert.ok(known.has(name))
})
