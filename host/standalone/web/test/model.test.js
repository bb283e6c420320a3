import assert from 'node:assert/strict'
import test from 'node:test'
import { entriesOf, orderAfterMove, orderAfterStep } from '../assets/entries.js'
import { applyEvent, applyPage, applyState, emptyModel, trouble } from '../assets/model.js'

/** @param {object} more @returns {any} */
const row = more => ({ draftId: 'd1', sessionId: '', workspaceId: 'w1', workspacePath: '/one', title: '', pinned: false, conflicts: 0, ...more })
/** @param {object} more @returns {any} */
const session = more => ({ id: 's1', workspaceId: 'w1', workspacePath: '/one', title: 'One', blank: false, archived: false, trashedAt: 0, updatedAt: 1, ...more })

/** @param {any[]} rows @param {any[]} sessions @param {object} [more] */
function state(rows, sessions, more) {
  return /** @type {any} */ ({
    plugin: { mode: 'full', epoch: 'e', message: '' }, agents: [],
    workspaces: [{ id: 'w1', name: 'one', path: '/one', missing: false, sessionCount: sessions.length, sessions }, { id: 'w2', name: '', path: '/two', missing: false, sessionCount: 0, sessions: [] }],
    sidebar: { rows, sessionIds: rows.map(({ sessionId }) => sessionId), notices: [], storage: null }, ...more,
  })
}

/** @param {any} model @param {object} [shown] */
const keys = (model, shown) => entriesOf(model, { closed: new Set(), ...shown }).map(({ key }) => key)

test('drafts come first in the plugin\'s order, then the sessions, the newest first', () => {
  const model = emptyModel()
  applyState(model, state([row({ draftId: 'b' }), row({ draftId: 'a' })], [session({ id: 'old', updatedAt: 1 }), session({ id: 'new', updatedAt: 2 })]))
  assert.deepEqual(keys(model), ['w:w1', 'd:b', 'd:a', 's:new', 's:old', 'w:w2'])
  assert.deepEqual(keys(model, { closed: new Set(['w1']) }), ['w:w1', 'w:w2'])
})

test('a draft\'s own session, blank ones, archived ones and those in the trash are no rows', () => {
  const model = emptyModel()
  applyState(model, state([row({ sessionId: 'mine' })], [session({ id: 'mine' }), session({ id: 'blank', blank: true, title: '' }), session({ id: 'shown' })]))
  assert.deepEqual(keys(model), ['w:w1', 'd:d1', 's:shown', 'w:w2'])
  applyEvent(model, 'session', session({ id: 'shown', archived: true }))
  assert.deepEqual(keys(model), ['w:w1', 'd:d1', 'w:w2'])
  applyEvent(model, 'session', session({ id: 'shown', trashedAt: 5 }))
  assert.deepEqual(keys(model), ['w:w1', 'd:d1', 'w:w2'])
  applyEvent(model, 'session', session({ id: 'shown' }))
  applyEvent(model, 'session-removed', { id: 'shown' })
  assert.deepEqual(keys(model), ['w:w1', 'd:d1', 'w:w2'])
})

test('a draft is in the workspace of its id, then of its path, and else under its path', () => {
  const model = emptyModel()
  applyState(model, state([row({ draftId: 'id', workspaceId: 'w2', workspacePath: '/x' }), row({ draftId: 'path', workspaceId: 'old', workspacePath: '/two' }), row({ draftId: 'gone', workspaceId: 'old', workspacePath: '/gone/folder' })], []))
  assert.deepEqual(keys(model), ['w:w1', 'w:w2', 'd:id', 'd:path', 'w:gone:/gone/folder', 'd:gone'])
  const gone = entriesOf(model, { closed: new Set() }).find(({ key }) => key === 'w:gone:/gone/folder')
  assert.equal(gone?.kind === 'workspace' && gone.name, 'folder')
})

test('a search shows what was found, unfolded, and only the workspaces that have some', () => {
  const model = emptyModel()
  applyState(model, state([row({ draftId: 'a' }), row({ draftId: 'b' })], [session({ id: 's' })]))
  assert.deepEqual(keys(model, { closed: new Set(['w1']), found: { drafts: new Set(['b']), sessions: [] } }), ['w:w1', 'd:b'])
  assert.deepEqual(keys(model, { found: { drafts: new Set(), sessions: [session({ id: 'other' })] } }), ['w:w1', 's:other'])
})

test('places in the tree are counted for those who do not see it', () => {
  const model = emptyModel()
  applyState(model, state([row({ draftId: 'a' })], [session({ id: 's' })]))
  const entries = entriesOf(model, { closed: new Set() })
  assert.deepEqual(entries.map(({ level, at, of }) => [level, at, of]), [[1, 1, 2], [2, 1, 2], [2, 2, 2], [1, 2, 2]])
})

test('more sessions are offered until the host has none', () => {
  const model = emptyModel()
  const first = state([], [session({ id: 's1' })])
  first.workspaces[0].sessionCount = 3
  applyState(model, first)
  assert.equal(keys(model).includes('m:w1'), true)
  assert.equal(applyPage(model, 'w1', [session({ id: 's1' }), session({ id: 's2' })], false), 1)
  assert.equal(keys(model).includes('m:w1'), true)
  applyPage(model, 'w1', [session({ id: 's3' })], true)
  assert.equal(keys(model).includes('m:w1'), false)
})

test('an order never crosses the pinned ones', () => {
  const rows = [row({ draftId: 'p', pinned: true }), row({ draftId: 'a' }), row({ draftId: 'b' })]
  assert.deepEqual(orderAfterStep(rows, 'a', 1), ['p', 'b', 'a'])
  assert.equal(orderAfterStep(rows, 'a', -1), undefined)
  assert.equal(orderAfterStep(rows, 'p', -1), undefined)
  assert.deepEqual(orderAfterMove(rows, 'b', 1), ['p', 'b', 'a'])
  assert.equal(orderAfterMove(rows, 'b', 2), undefined)
  assert.equal(orderAfterMove(rows, 'b', 0), undefined)
})

test('what is wrong with the drafts', () => {
  const model = emptyModel()
  applyState(model, state([], []))
  assert.equal(trouble(model), undefined)
  applyEvent(model, 'plugin', { mode: 'full', epoch: '', message: '' })
  assert.equal(trouble(model), 'starting')
  applyEvent(model, 'plugin', { mode: 'stock', epoch: '', message: '' })
  assert.equal(trouble(model), 'stock')
  applyState(model, state([], [], { sidebar: { rows: [], sessionIds: [], notices: [], storage: { code: 'DRAFT_STORAGE_INVALID', message: '' } } }))
  assert.equal(trouble(model), 'storage')
})
