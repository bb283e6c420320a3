import assert from 'node:assert/strict'
import { afterEach, beforeEach, mock, test } from 'node:test'
import { Actions } from '../actions.js'
import { RemoteError } from '../remote.js'
import { Store } from '../store.js'
import { answers } from './stand.js'

beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  // What the page asks of its document when a draft is shown.
  Object.assign(globalThis, { document: { activeElement: null, body: null }, HTMLTextAreaElement: class {} })
})
afterEach(() => {
  mock.timers.reset()
  for (const name of ['document', 'HTMLTextAreaElement']) delete (/** @type {any} */ (globalThis))[name]
})

/** @param {number} ms */
async function pass(ms) {
  for (let past = 0; past < ms; past += 50) {
    mock.timers.tick(50)
    await answers()
  }
}

/** A page whose plugin answers as `answer` says. @param {{ mode?: string, answer: () => void }} options */
function standPage({ mode = 'full', answer }) {
  const modes = new Store({ mode: /** @type {any} */ (mode) })
  const sessions = new Store({ current: 'here', byId: /** @type {any} */ ({ made: {} }) })
  const told = /** @type {any[]} */ ([])
  const keys = /** @type {string[]} */ ([])
  const opened = /** @type {string[]} */ ([])
  const world = { editedMs: Infinity, focused: 0 }
  const field = { blur: () => {}, focus: () => { world.focused++ } }
  const actions = new Actions(/** @type {any} */ ({
    ctx: {
      sessions: { list: sessions, open: (/** @type {string} */ id) => opened.push(id) },
      workspaces: { list: new Store({ items: [{}], baselinesReady: true, recentWorkspaceId: undefined, archivedSessionIds: [] }) },
    },
    bridge: { current: undefined, tell: () => {} },
    call: async (/** @type {string} */ method, /** @type {any} */ request) => {
      if (method === 'bind') return { draft: { id: 'draft', sessionId: 'made', state: 'ready' }, recreated: false }
      keys.push(request.idempotencyKey)
      answer()
      return { id: 'draft', sessionId: 'made', state: 'ready' }
    },
    ready: () => modes.getSnapshot().mode === 'full',
    modes,
    creating: () => {},
    revealRow: () => {},
    toast: (/** @type {any} */ toast) => {
      told.push(toast)
      return () => { toast.gone = true }
    },
    field: () => field,
    editedWithin: (/** @type {number} */ ms) => world.editedMs <= ms,
  }))
  return { actions, modes, sessions, told, keys, opened, world }
}

const down = () => { throw new RemoteError('OPERATION_UNKNOWN', 'no plugin') }

test('while drafts are paused a new one waits, says so, and is made when they are back', async () => {
  const { actions, modes, told, keys, opened, world } = standPage({ mode: 'paused', answer: () => {} })
  const made = actions.newDraft()
  await pass(5_000)
  assert.deepEqual(told.map(({ key, level, stays }) => [key, level, stays]), [['toast.waiting', 'info', true]])
  assert.equal(keys.length, 0)
  assert.equal(world.focused, 1, 'one can go on writing meanwhile')
  modes.set({ mode: 'full' })
  await pass(1_000)
  await made
  assert.deepEqual([keys.length, opened, told[0].gone, told.length], [1, ['made'], true, 1])
})

test('a plugin that dies with the request is asked again with the same key', async () => {
  let calls = 0
  const { actions, keys, opened, told } = standPage({ answer: () => { if (++calls < 3) down() } })
  const made = actions.newDraft()
  await pass(3_000)
  await made
  assert.equal(keys.length, 3)
  assert.equal(new Set(keys).size, 1)
  assert.deepEqual([opened, told.map(({ key }) => key)], [['made'], ['toast.waiting']])
})

test('whoever went on meanwhile is not taken away, and can open it', async () => {
  for (const goOn of [
    (/** @type {ReturnType<typeof standPage>} */ page) => { page.sessions.set({ current: 'elsewhere' }) },
    (/** @type {ReturnType<typeof standPage>} */ page) => { page.world.editedMs = 0 },
  ]) {
    const page = standPage({ mode: 'paused', answer: () => {} })
    const made = page.actions.newDraft()
    await pass(1_000)
    goOn(page)
    page.modes.set({ mode: 'full' })
    await pass(1_000)
    await made
    assert.deepEqual([page.keys.length, page.opened, page.told.at(-1).key], [1, [], 'toast.made'])
    page.told.at(-1).action.run()
    await pass(100)
    assert.deepEqual(page.opened, ['made'])
  }
})

test('who cancels gets none, and the next request is another one', async () => {
  const { actions, modes, told, keys } = standPage({ mode: 'paused', answer: () => {} })
  const made = actions.newDraft()
  await pass(1_000)
  told[0].action.run()
  await made
  modes.set({ mode: 'full' })
  await pass(1_000)
  assert.equal(keys.length, 0)
  await actions.newDraft()
  assert.equal(keys.length, 1)
})

test('after a minute it gives up and says so; the next request may find what the first one made', async () => {
  let dead = true
  const { actions, modes, told, keys, opened } = standPage({ answer: () => { if (dead) down() } })
  const made = actions.newDraft()
  await pass(100)
  modes.set({ mode: 'paused' })
  await pass(70_000)
  await made
  assert.deepEqual([told.at(-1).key, told.at(-1).level, told.at(-1).params.code], ['toast.failed', 'error', 'PAUSED'])
  modes.set({ mode: 'full' })
  dead = false
  await actions.newDraft()
  assert.deepEqual([new Set(keys).size, opened], [1, ['made']])
})

test('a refusal is said at once', async () => {
  const { actions, told, keys } = standPage({ answer: () => { throw new RemoteError('DRAFT_LIMIT_REACHED', 'too many') } })
  await actions.newDraft()
  assert.deepEqual([keys.length, told.map(({ key, params }) => [key, params.code])], [1, [['toast.failed', 'DRAFT_LIMIT_REACHED']]])
})
