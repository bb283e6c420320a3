import assert from 'node:assert/strict'
import { test } from 'node:test'
import { byWorkspace, recognise } from '../sidebar/placement.js'

/** @param {Record<string, string>} attributes @param {string} text @param {...any} children @returns {any} */
const element = (attributes, text, ...children) => ({
  getAttribute: (/** @type {string} */ name) => attributes[name] ?? null,
  textContent: text + children.map(child => child.textContent).join(''),
  children, firstElementChild: children[0] ?? null,
})
/** @param {string} title @param {boolean} expanded */
const workspaceRow = (title, expanded) => element({ 'role': 'treeitem', 'aria-expanded': String(expanded) }, title)
const sessionRow = element({ 'role': 'treeitem', 'aria-selected': 'false' }, 'session')
/** @param {string} title @param {boolean} expanded */
const group = (title, expanded) => element({}, '', element({}, '', workspaceRow(title, expanded)), element({}, '', sessionRow))
/** @param {...any} groups */
const tree = (...groups) => element({ role: 'tree' }, '', ...groups)

const workspaces = ['alpha', 'beta'].map(title => ({ workspaceId: title, title, path: `/${title}`, sessionIds: [] }))

test('the grouped tree is recognised, each group with its workspace', () => {
  const found = recognise(tree(group('alpha', true), group('beta', false)), workspaces)
  assert.deepEqual(found?.map(({ workspaceId, expanded }) => [workspaceId, expanded]), [['alpha', true], ['beta', false]])
})

test('a last group of sessions outside every workspace is left alone', () => {
  const ungrouped = element({}, '', workspaceRow('Ungrouped', true))
  assert.deepEqual(recognise(tree(group('alpha', true), group('beta', true), ungrouped), workspaces)?.length, 2)
})

test('every other shape is not recognised', () => {
  const flat = element({}, '', element({}, '', sessionRow))
  for (const [what, found] of Object.entries({
    'no tree': recognise(null, workspaces),
    'no workspaces': recognise(tree(), []),
    'a group too few': recognise(tree(group('alpha', true)), workspaces),
    'two groups too many': recognise(tree(...['alpha', 'beta', 'c', 'd'].map(title => group(title, true))), workspaces),
    'another order': recognise(tree(group('beta', true), group('alpha', true)), workspaces),
    'the flat list': recognise(tree(flat, flat), workspaces),
    'an empty group': recognise(tree(group('alpha', true), element({}, '')), workspaces),
  })) assert.equal(found, undefined, what)
})

test('drafts stand in the workspace of their id, else of their folder, else by themselves', () => {
  /** @param {string} draftId @param {string} workspaceId @param {string} workspacePath */
  const row = (draftId, workspaceId, workspacePath) => /** @type {any} */ ({ draftId, workspaceId, workspacePath })
  const rows = [row('1', 'alpha', '/alpha'), row('2', 'old id', '/beta'), row('3', 'gone', '/gone'), row('4', 'alpha', '/renamed')]
  const { placed, gone } = byWorkspace(rows, workspaces)
  assert.deepEqual([...placed].map(([id, list]) => [id, list.map(({ draftId }) => draftId)]), [['alpha', ['1', '4']], ['beta', ['2']]])
  assert.deepEqual(gone.map(({ draftId }) => draftId), ['3'])
})
