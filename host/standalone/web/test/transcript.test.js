import assert from 'node:assert/strict'
import test from 'node:test'
import { Transcript } from '../assets/transcript.js'

/** @param {number} seq @param {string} type @param {object} [data] */
const event = (seq, type, data = {}) => ({ seq, at: seq, type, data: { submissionId: 'p', ...data } })
/** @param {Transcript} transcript */
const keys = transcript => transcript.items.map(({ key }) => key)

test('what is not shown is not shown, and an event is taken once', () => {
  const transcript = new Transcript()
  const events = [event(1, 'session/created'), event(2, 'prompt/received'), event(3, 'user/message', { text: 'hello' }), event(4, 'assistant/message', { html: '<p>hi</p>' }), event(5, 'turn/ended', { outcome: 'completed' })]
  transcript.add(events, { more: false })
  transcript.add(events.slice(2))
  assert.deepEqual(keys(transcript), ['u3', 'a4'])
  assert.equal(transcript.lastSeq, 5)
  assert.equal(transcript.promptOf('p'), 'hello')
})

test('a later state of a tool call or plan replaces the earlier where it stands', () => {
  const transcript = new Transcript()
  transcript.add([event(1, 'tool/call', { toolCallId: 't', status: 'pending' }), event(2, 'plan', { entries: [1] }), event(3, 'assistant/message')])
  transcript.add([event(4, 'tool/call', { toolCallId: 't', status: 'completed' }), event(5, 'plan', { entries: [1, 2] })])
  assert.deepEqual(keys(transcript), ['tp/t', 'pp', 'a3'])
  assert.equal(transcript.items[0]?.data.status, 'completed')
  assert.equal(transcript.items[1]?.data.entries.length, 2)
})

test('a permission request and its answer are one item', () => {
  const transcript = new Transcript()
  transcript.add([event(1, 'permission/asked', { requestId: 'r', title: 'Write?', options: [] })])
  assert.equal('answer' in (transcript.items[0] ?? {}), false)
  transcript.add([event(2, 'permission/answered', { requestId: 'r', optionId: 'yes' })])
  assert.deepEqual([keys(transcript), transcript.items[0]?.data.title, transcript.items[0]?.answer?.optionId], [['qr'], 'Write?', 'yes'])
})

test('what is being written goes when it is in the log, and with the turn', () => {
  const transcript = new Transcript()
  const live = { session: 's', submissionId: 'p', kind: /** @type {const} */ ('message'), text: '', html: '' }
  transcript.add([event(1, 'user/message')])
  transcript.setLive(live)
  transcript.add([event(2, 'assistant/thought')])
  assert.equal(transcript.live, live)
  transcript.add([event(3, 'assistant/message')])
  assert.equal(transcript.live, undefined)
  transcript.setLive(live)
  transcript.add([event(4, 'turn/ended', { outcome: 'cancelled' })])
  assert.equal(transcript.live, undefined)
  assert.deepEqual(keys(transcript), ['u1', 'h2', 'a3', 'e4'])
})

test('an older page goes before what is shown, and knows less than it', () => {
  const transcript = new Transcript()
  transcript.add([event(4, 'assistant/message'), event(5, 'tool/call', { toolCallId: 't', status: 'completed' })], { more: true })
  transcript.add([event(1, 'user/message'), event(2, 'tool/call', { toolCallId: 't', status: 'pending' }), event(3, 'assistant/message')], { more: false })
  assert.deepEqual(keys(transcript), ['u1', 'tp/t', 'a3', 'a4'])
  assert.equal(transcript.items[1]?.data.status, 'completed')
  assert.deepEqual([transcript.firstSeq, transcript.lastSeq, transcript.more], [1, 5, false])
  transcript.add([event(6, 'tool/call', { toolCallId: 't', status: 'failed' })])
  assert.equal(transcript.items[1]?.data.status, 'failed')
})
