import assert from 'node:assert/strict'
import { test } from 'node:test'
import { observeCommands, observePrompts, observeSessions, replace, WatchedSessions } from '../server/observers.js'
import { Outbox } from '../server/outbox.js'
import { CallError } from '../server/rpc.js'

const quiet = /** @type {any} */ ({ info() {}, warn() {} })
const request = (text = 'hello') => ({ rpcId: 'r1', payload: { sessionId: 's', content: [{ type: 'text', text }, { type: 'image' }] } })
const settle = () => new Promise((resolve) => { setImmediate(resolve) })

/** @param {(rpc: string, request: any) => Promise<unknown>} answer */
function world(answer) {
  /** @type {[string, any][]} */
  const calls = []
  /** @type {any} */
  let link = { call: (/** @type {string} */ rpc, /** @type {any} */ r) => { calls.push([rpc, r]); return answer(rpc, r) } }
  const saved = link
  const outbox = new Outbox(() => link, quiet, 1)
  const plugin = { link: () => link, outbox, log: quiet }
  const admitted = /** @type {any[]} */ ([])
  /** @type {Record<string, Function>} */
  const listeners = {}
  const ctx = /** @type {any} */ ({
    apiProxy: { sessions: { async prompt(/** @type {any} */ r) { admitted.push(r); return { rpcId: r.rpcId, result: { ok: true, value: {} } } } } },
    get: () => ctx.commands,
    commands: { async execute() { return { result: { kind: 'success' } } } },
    on: (/** @type {string} */ name, /** @type {Function} */ fn) => { listeners[name] = fn; return () => { delete listeners[name] } },
  })
  return { ctx, plugin, calls, admitted, listeners, outbox, down: () => { link = undefined }, up: () => { link = saved; outbox.drain() } }
}

test('a prompt is announced with its text parts, admitted, and its outcome told', async () => {
  const { ctx, plugin, calls, admitted } = world(async () => ({ decision: 'PROCEED' }))
  observePrompts(ctx, plugin, new WatchedSessions())
  const response = await ctx.apiProxy.sessions.prompt(request())
  await settle()
  assert.equal(response.result.ok, true)
  assert.equal(admitted.length, 1)
  assert.deepEqual(calls, [
    ['BeforePrompt', { sessionId: 's', promptId: 'r1', text: 'hello', hasImages: true }],
    ['AfterPrompt', { sessionId: 's', promptId: 'r1', accepted: true, code: '' }],
  ])
})

test('a refused prompt is answered in the host\'s own words and not admitted', async () => {
  const { ctx, plugin, admitted } = world(async () => ({ decision: 'REFUSE', message: 'being sent' }))
  observePrompts(ctx, plugin, new WatchedSessions())
  assert.deepEqual(await ctx.apiProxy.sessions.prompt(request()), {
    rpcId: 'r1', result: { ok: false, error: { code: 'agent-busy', message: 'being sent', details: { reason: 'being sent' } } },
  })
  assert.equal(admitted.length, 0)
})

test('invariant 8: a plugin that fails or is down lets the prompt through', async () => {
  const { ctx, plugin, admitted, down } = world(async () => { throw new CallError('OPERATION_UNKNOWN', 'late', false) })
  observePrompts(ctx, plugin, new WatchedSessions())
  await ctx.apiProxy.sessions.prompt(request())
  down()
  await ctx.apiProxy.sessions.prompt(request())
  assert.equal(admitted.length, 2)
})

test('a prompt that waited too long is refused: the page may have sent it again', async (t) => {
  t.mock.timers.enable({ apis: ['Date'] })
  const { ctx, plugin, admitted, calls } = world(async (rpc) => {
    if (rpc === 'BeforePrompt') t.mock.timers.tick(26_000)
    return { decision: 'PROCEED' }
  })
  observePrompts(ctx, plugin, new WatchedSessions())
  const { result } = await ctx.apiProxy.sessions.prompt(request())
  await settle()
  assert.equal(result.error.code, 'agent-busy')
  assert.equal(admitted.length, 0)
  assert.equal(calls.at(-1)?.[1].accepted, false)
})

test('a refused command throws, a failing one is told as such', async () => {
  const { ctx, plugin, calls } = world(async (_, { line }) => line === '/plan no' ? { decision: 'REFUSE', message: 'not now' } : { decision: 'PROCEED' })
  const agent = { session: { id: 's', seq: 8 } }
  observeCommands(ctx, plugin, new WatchedSessions())
  await assert.rejects(ctx.commands.execute(agent, '/plan no'), /not now/)
  await ctx.commands.execute(agent, '/plan yes')
  await settle()
  assert.equal(calls[1]?.[1].lastSeq, 7)
  assert.deepEqual([calls[2]?.[0], calls[2]?.[1].succeeded, calls[2]?.[1].commandId], ['AfterCommand', true, calls[1]?.[1].commandId])
})

test('only drafts\' and prompted sessions are observed, by what matters', async () => {
  const { ctx, plugin, calls, listeners } = world(async () => ({}))
  const watched = new WatchedSessions()
  watched.setDrafts(['mine'])
  observeSessions(ctx, plugin, watched)
  const emit = listeners['session/event']
  emit?.({ id: 'other' }, { type: 'user/message', seq: 1, data: { source: { kind: 'user' } } })
  emit?.({ id: 'mine' }, { type: 'user/message', seq: 2, data: { source: { kind: 'user', rpcId: 'r' } } })
  emit?.({ id: 'mine' }, { type: 'user/message', seq: 3, data: { source: { kind: 'hook' } } })
  emit?.({ id: 'mine' }, { type: 'permission/preset', seq: 4, data: { preset: 'read-only' } })
  emit?.({ id: 'mine' }, { type: 'agent-preset/selected', seq: 5, data: { agentPreset: 'code' } })
  await settle()
  assert.deepEqual(calls.map(([, r]) => r), [
    { sessionId: 'mine', userMessage: { seq: 2, promptId: 'r' } },
    { sessionId: 'mine', permission: 'read-only' },
    { sessionId: 'mine', agentPreset: 'code' },
  ])
})

test('observations wait for the plugin and keep their order, the failed first', async () => {
  let fail = true
  const { outbox, calls, down, up } = world(async () => { if (fail) throw new CallError('OPERATION_UNKNOWN', 'gone', false) })
  outbox.push('ObserveSession', { n: 1 })
  down()
  outbox.push('ObserveSession', { n: 2 })
  await new Promise((resolve) => { setTimeout(resolve, 10) })
  fail = false
  up()
  await new Promise((resolve) => { setTimeout(resolve, 10) })
  assert.deepEqual(calls.slice(1).map(([, r]) => r.n), [1, 2])
})

test('a replaced method is given back, unless another wrapper lies around it', () => {
  class Owner { greet() { return 'stock' } }
  const owner = new Owner()
  const undo = replace(owner, 'greet', original => /** @this {Owner} */ function () { return `ours ${original.call(this)}` })
  assert.equal(owner.greet(), 'ours stock')
  undo()
  assert.equal(owner.greet(), 'stock')
  assert.equal(Object.hasOwn(owner, 'greet'), false)

  const again = replace(owner, 'greet', original => /** @this {Owner} */ function () { return `ours ${original.call(this)}` })
  const ours = owner.greet
  owner.greet = () => `theirs ${ours.call(owner)}`
  again()
  assert.equal(owner.greet(), 'theirs stock')
})
