import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { HostCallError, Once, openChannel } from '../server/channel.js'
import { hostFeatures } from '../server/features.js'
import { hostCalls } from '../server/hostcalls.js'
import { findNeighbour } from '../server/neighbour.js'
import { makeService } from '../server/remote.js'
import { CallError } from '../server/rpc.js'

class Stream extends EventEmitter {
  /** @type {any[]} */
  written = []
  /** @param {any} message */
  write(message) { this.written.push(message) }
}
const settle = () => new Promise((resolve) => { setImmediate(resolve) })

test('the channel says hello, is ready when the plugin says so, and answers calls', async () => {
  const stream = new Stream()
  const effects = /** @type {string[]} */ ([])
  const handlers = {
    createSession: async (/** @type {any} */ r) => { effects.push(r.sessionId); return { sessionId: r.sessionId } },
    readSession: async () => { throw new HostCallError('session-not-found', 'gone') },
  }
  const { ready, ended } = openChannel(stream, { hello: { host: 'dsh' }, handlers, once: new Once() })
  assert.deepEqual(stream.written, [{ id: 0, hello: { host: 'dsh' } }])
  stream.emit('data', { id: 0 })
  await ready
  const create = { call: 'createSession', idempotencyKey: 'k', createSession: { sessionId: 's' } }
  stream.emit('data', { id: 1, ...create })
  stream.emit('data', { id: 2, ...create })
  stream.emit('data', { id: 3, call: 'readSession', idempotencyKey: '', readSession: {} })
  stream.emit('data', { id: 4, call: 'unheardOf', idempotencyKey: '' })
  stream.emit('data', { id: 5, ...create })
  stream.emit('data', { id: 5, cancel: true })
  await settle()
  assert.deepEqual(effects, ['s'], 'the same key has its effect once')
  assert.deepEqual(stream.written.slice(1), [
    { id: 1, createSession: { sessionId: 's' } },
    { id: 2, createSession: { sessionId: 's' } },
    { id: 3, error: { code: 'session-not-found', message: 'gone' } },
    { id: 4, error: { code: 'unsupported', message: 'this host does not know that call' } },
  ].sort((a, b) => stream.written.findIndex(w => w.id === a.id) - stream.written.findIndex(w => w.id === b.id)))
  stream.emit('end')
  await ended
})

test('a failed side effect may be tried again under its key', async () => {
  const once = new Once()
  let tries = 0
  const effect = async () => { tries += 1; if (tries === 1) throw new Error('first'); return { tries } }
  await assert.rejects(once.run('k', effect))
  assert.deepEqual(await once.run('k', effect), { tries: 2 })
  assert.deepEqual(await once.run('k', effect), { tries: 2 })
})

const events = [
  { type: 'session/created', seq: 0, data: {} },
  { type: 'agent-preset/selected', seq: 1, data: { agentPreset: 'code' } },
  { type: 'user/message', seq: 2, data: { source: { kind: 'hook' } } },
  { type: 'user/message', seq: 3, data: { source: { kind: 'user', rpcId: 'r' } } },
  { type: 'user/message', seq: 4, data: { source: { kind: 'user' } } },
]

/** @param {Record<string, any>} services @param {any} [apiProxy] */
const context = (services, apiProxy) => /** @type {any} */ ({ apiProxy, get: (/** @type {string} */ name) => services[name] })

test('a session is read whole; not there and not readable are told apart', async () => {
  const sessionPersistence = {
    async inspect(/** @type {string} */ id) { if (id === 'cold') return { meta: { id, agentPreset: 'standard' }, events }; throw new Error('no') },
    async list() { return [{ id: 'broken' }] },
  }
  const { readSession } = hostCalls(context({ sessionPersistence, permissionPresets: { current: () => 'read-only' } }))
  assert.deepEqual(await readSession?.({ sessionId: 'cold' }), {
    exists: true, permission: 'read-only', agentPresetId: 'code', lastSeq: 4,
    userMessages: [{ seq: 3, promptId: 'r' }, { seq: 4, promptId: '' }],
  })
  assert.equal(/** @type {any} */ (await readSession?.({ sessionId: 'gone' })).exists, false)
  await assert.rejects(async () => readSession?.({ sessionId: 'broken' }), { code: 'session-history-unavailable' })
})

test('invariant 13: exactly the reserved session is created, with its permission, and flushed', async () => {
  const did = /** @type {string[]} */ ([])
  const session = { id: 's', events: [] }
  const { createSession } = hostCalls(context({
    sessions: { get: () => session, flush: async () => { did.push('flush') } },
    permissionPresets: { current: () => 'workspace-write', set: (/** @type {any} */ _, /** @type {string} */ name) => { did.push(name) } },
  }, { sessions: { async create(/** @type {any} */ { payload }) { did.push(JSON.stringify(payload)); return { result: { ok: true, value: { sessionId: payload.sessionId, agentPreset: 'standard' } } } } } }))
  const result = await createSession?.({ sessionId: 's', workspaceId: 'w', agentPresetId: '', permission: 'read-only' })
  assert.deepEqual(result, { sessionId: 's', agentPresetId: 'standard' })
  assert.deepEqual(did, ['{"workspaceId":"w","sessionId":"s"}', 'read-only', 'flush'])
})

test('a host error keeps its code', async () => {
  const { createSession } = hostCalls(context({}, { sessions: { create: async () => ({ result: { ok: false, error: { code: 'workspace-not-found', message: 'm' } } }) } }))
  await assert.rejects(async () => createSession?.({ sessionId: 's', workspaceId: 'w', agentPresetId: '', permission: '' }), { code: 'workspace-not-found' })
})

test('a feature is there when all of it is; a probe that throws finds none', () => {
  const there = context({ sessions: { get() {}, flush() {} }, sessionPersistence: { inspect() {} }, commands: {} },
    { sessions: { create() {}, get prompt() { throw new Error('no') } } })
  assert.deepEqual(hostFeatures(there), ['host.create', 'host.flush'])
})

test('another drafts plugin is found where it is configured, and where it has claimed the namespace', () => {
  /** @param {any[]} entries @param {any} [service] */
  const find = (entries, service) => findNeighbour(/** @type {any} */ ({
    get: (/** @type {string} */ name) => name === 'loader' ? { entries: () => entries } : service,
    typert: { local: { get: () => undefined } },
  }))
  assert.equal(find([{ options: { name: 'draft-sessions-dsh' } }]), undefined)
  assert.equal(find([{ options: { name: 'dsh-draft-sessions' }, disabled: true }]), undefined)
  assert.equal(find([{ options: { name: 'dsh-draft-sessions' } }])?.code, 'OTHER_PLUGIN')
  assert.equal(find([{ options: { name: 'file:///p/node_modules/dsh-draft-sessions/lib/index.js' } }])?.code, 'OTHER_PLUGIN')
  assert.equal(find([], {})?.code, 'OTHER_PLUGIN')
})

test('every remote failure is an answer, never a throw', async () => {
  const status = { mode: /** @type {const} */ ('full'), version: '1', epoch: 'e', reasons: [], capabilities: ['drafts'], overridden: false, rearmable: false, pages: [] }
  let link = /** @type {any} */ ({ call: async () => { throw new CallError('DRAFT_NOT_FOUND', 'no such draft', true) } })
  const service = makeService({ status: () => status, rearm: () => {}, report: async () => { throw new CallError('OPERATION_UNKNOWN', 'off', false) }, link: () => link })
  assert.deepEqual(await service.status({}), { ok: true, value: status })
  assert.equal(/** @type {any} */ (await service.report({ pageId: 'p', features: [], served: [], faults: [] })).error.code, 'OPERATION_UNKNOWN')
  assert.deepEqual(await service.get({ draftId: 'd' }), { ok: false, error: { code: 'DRAFT_NOT_FOUND', message: 'no such draft' } })
  assert.deepEqual(await service.get(/** @type {any} */ ({})), { ok: false, error: { code: 'DRAFT_INVALID_INPUT', message: 'draftId is missing' } })
  link = { call: async () => ({ id: 5 }) }
  assert.equal(/** @type {any} */ (await service.get({ draftId: 'd' })).error.code, 'DRAFT_INVALID_INPUT')
  link = undefined
  assert.equal(/** @type {any} */ (await service.get({ draftId: 'd' })).error.code, 'OPERATION_UNKNOWN')
})
