import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hostCalls } from '../server/hostcalls.js'

/** @param {Record<string, any>} services @param {any} [apiProxy] */
const context = (services, apiProxy) => /** @type {any} */ ({ apiProxy, get: (/** @type {string} */ name) => services[name] })

test('a prompt takes the way of the page, whoever stands in it, under the id of the submission', async () => {
  const prompts = /** @type {any[]} */ ([])
  let result = /** @type {any} */ ({ ok: true, value: { accepted: true } })
  const sessions = { async prompt(/** @type {any} */ request) { prompts.push(request); return { result } } }
  const { sendPrompt } = hostCalls(context({}, { sessions }))
  assert.deepEqual(await sendPrompt?.({ sessionId: 's', promptId: 'p', text: ' do it\n' }), {})
  assert.deepEqual(prompts, [{ rpcId: 'p', payload: { sessionId: 's', mode: 'queue', content: [{ type: 'text', text: 'do it' }] } }])
  result = { ok: false, error: { code: 'model-unavailable', message: 'no such model' } }
  await assert.rejects(async () => sendPrompt?.({ sessionId: 's', promptId: 'q', text: 'x' }), { code: 'model-unavailable' })
})

test('an answer is read piece by piece, up to the end of its turn', async () => {
  const data = (/** @type {string} */ type, /** @type {object} */ value = {}) => ({ type, data: value })
  const chunk = (/** @type {string} */ text) => data('assistant/chunk', { chunk: { type: 'text-delta', text } })
  const message = (/** @type {string} */ text) => data('assistant/message', { message: { content: [{ type: 'thinking', text: 'no' }, { type: 'text', text }] } })
  const log = [
    data('user/message', { source: { kind: 'user', rpcId: 'other' } }), message('not ours'), data('turn/end', { reason: { kind: 'completed' } }),
    data('user/message', { source: { kind: 'user', rpcId: 'p' } }),
    data('step/start'), chunk('one '), chunk('two'), message('one two'), data('step/end'),
    data('step/start'), message(' three'),
    data('turn/end', { reason: { kind: 'error', error: { code: 'NO_KEY', message: 'none' } } }), message('later'),
  ].map((event, seq) => ({ ...event, seq }))
  const events = log.slice(0, 6)
  const { readAnswer } = hostCalls(context({ sessions: { get: () => ({ events, header: {} }) } }))
  const read = (/** @type {number} */ afterSeq) => readAnswer?.({ sessionId: 's', submissionId: 'p', afterSeq })
  assert.deepEqual(await read(0), { text: 'one ', nextSeq: 5, done: false, outcome: '', message: '' })
  events.push(...log.slice(6))
  assert.deepEqual(await read(5), { text: 'two three', nextSeq: 11, done: true, outcome: 'failed', message: 'NO_KEY: none' })
  assert.deepEqual(await readAnswer?.({ sessionId: 's', submissionId: 'none', afterSeq: 0 }), { text: '', nextSeq: 0, done: false, outcome: '', message: '' })
})
