import assert from 'node:assert/strict'
import { test } from 'node:test'
import { candidates, installGuard } from '../guard.js'

/** @param {Partial<import('../guard.js').GuardHost>} [change] */
function stand(change) {
  const list = {
    ids: ['other-folder', 'draft', 'started', 'archived', 'elsewhere', 'blank', 'blank2'],
    byId: /** @type {Record<string, any>} */ ({
      'other-folder': { id: 'other-folder', blank: true, cwd: '/x' },
      'draft': { id: 'draft', blank: true, cwd: '/w' },
      'started': { id: 'started', blank: false, cwd: '/w' },
      'archived': { id: 'archived', blank: true, cwd: '/w' },
      'elsewhere': { id: 'elsewhere', blank: true, cwd: '/w' },
      'blank': { id: 'blank', blank: true, cwd: '/w' },
      'blank2': { id: 'blank2', blank: true, cwd: '/w' },
    }),
    current: undefined, phase: 'ready',
  }
  const all = {
    items: [{ workspaceId: 'w', path: '/w', title: 'w', sessionIds: ['draft', 'started', 'archived', 'blank', 'blank2'] }],
    archivedSessionIds: ['archived'], baselinesReady: true, recentWorkspaceId: 'w',
  }
  /** @type {string[]} */
  const created = []
  class Workspaces {
    list = { getSnapshot: () => all, subscribe: () => () => {} }
    async connectWorkspace() { return 'stock' }
  }
  const workspaces = new Workspaces()
  const sessions = {
    list: { getSnapshot: () => list, subscribe: () => () => {} },
    open: () => {}, scope: () => undefined,
    create: async (/** @type {{ workspaceId: string }} */ { workspaceId }) => {
      created.push(workspaceId)
      return `created-${created.length}`
    },
  }
  /** @type {string[][]} */
  const asked = []
  const guard = installGuard(/** @type {any} */ ({ sessions, workspaces }), {
    mode: async () => 'full',
    choose: async (_, offered) => {
      asked.push(offered)
      return offered.find(id => id !== 'draft') ?? ''
    },
    known: () => new Set(['draft']),
    ...change,
  })
  return { guard, workspaces: /** @type {any} */ (workspaces), sessions, list, all, asked, created }
}

test('the candidates are what DSH would take, in its order', () => {
  const { list, all } = stand()
  assert.deepEqual(candidates(list, all, /** @type {any} */ (all.items[0])), ['draft', 'blank', 'blank2'])
})

test('New Session gets the first blank session that is no draft\'s (invariant 4)', async () => {
  const { workspaces, asked, created } = stand()
  assert.equal(await workspaces.connectWorkspace('w'), 'blank')
  assert.deepEqual([asked, created], [[['draft', 'blank', 'blank2']], []])
})

test('without one a session is created, and only one for calls at once', async () => {
  const { workspaces, created } = stand({ choose: async () => '' })
  assert.deepEqual(await Promise.all([workspaces.connectWorkspace('w'), workspaces.connectWorkspace('w')]), ['created-1', 'created-1'])
  assert.equal(await workspaces.connectWorkspace('w'), 'created-2')
  assert.deepEqual(created, ['w', 'w'])
})

test('without the plugin\'s answer the sessions last known are avoided (invariant 9)', async () => {
  for (const change of /** @type {const} */ ([
    { choose: async () => { throw new Error('no answer') } },
    { mode: async () => 'paused' },
    { mode: async () => 'starting' },
  ])) {
    assert.equal(await stand(/** @type {any} */ (change)).workspaces.connectWorkspace('w'), 'blank')
  }
  const none = stand({ mode: async () => 'paused', known: () => new Set(['draft', 'blank', 'blank2']) })
  assert.equal(await none.workspaces.connectWorkspace('w'), 'created-1')
})

test('in stock mode and for unknown workspaces DSH decides (invariant 8)', async () => {
  assert.equal(await stand({ mode: async () => 'stock' }).workspaces.connectWorkspace('w'), 'stock')
  assert.equal(await stand().workspaces.connectWorkspace('unknown'), 'stock')
})

test('the connected session is known for a moment, for the picker', async () => {
  const { guard, workspaces } = stand()
  assert.equal(guard?.picked(), undefined)
  await workspaces.connectWorkspace('w')
  assert.equal(guard?.picked(), 'blank')
})

test('disposed it leaves DSH as it was, also under somebody else\'s wrapper', async () => {
  const { guard, workspaces } = stand()
  const wrapped = workspaces.connectWorkspace
  workspaces.connectWorkspace = (/** @type {string} */ id) => wrapped(id)
  guard?.dispose()
  assert.equal(await workspaces.connectWorkspace('w'), 'stock')
  const other = stand()
  other.guard?.dispose()
  assert.equal(Object.hasOwn(other.workspaces, 'connectWorkspace'), false)
  assert.equal(await other.workspaces.connectWorkspace('w'), 'stock')
})

test('where DSH is of another shape nothing is wrapped', () => {
  const { sessions, workspaces } = stand()
  assert.equal(installGuard(/** @type {any} */ ({ workspaces: {}, sessions }), /** @type {any} */ ({})), undefined)
  assert.equal(installGuard(/** @type {any} */ ({ workspaces, sessions: { ...sessions, create: undefined } }), /** @type {any} */ ({})), undefined)
})
