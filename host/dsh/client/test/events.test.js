import assert from 'node:assert/strict'
import { afterEach, beforeEach, mock, test } from 'node:test'
import { openEvents } from '../events.js'

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
afterEach(() => mock.timers.reset())

class StandSource extends EventTarget {
  closed = false

  close() {
    this.closed = true
  }

  /** @param {string} type @param {string} data */
  say(type, data) {
    this.dispatchEvent(Object.assign(new Event(type), { data }))
  }
}

function stand() {
  /** @type {StandSource[]} */
  const sources = []
  /** @type {unknown[]} */
  const told = []
  const close = openEvents({
    onStatus: status => told.push(status.mode),
    onEvent: event => told.push(event.kind),
    onLost: () => told.push('lost'),
  }, () => {
    const source = new StandSource()
    sources.push(source)
    return /** @type {any} */ (source)
  })
  return { sources, told, close, last: () => /** @type {StandSource} */ (sources.at(-1)) }
}

test('status and events arrive, half a message does not', () => {
  const { told, last } = stand()
  last().say('status', '{"mode":"full"}')
  last().say('event', '{"kind":"sidebar"')
  last().say('event', '{"kind":"saved","value":{}}')
  assert.deepEqual(told, ['full', 'saved'])
})

test('a lost connection is told and comes back, later each time, soon again after a good one', () => {
  const { told, sources, last } = stand()
  for (const ms of [1_000, 2_000, 4_000]) {
    const count = sources.length
    last().say('error', '')
    assert.equal(last().closed, true)
    mock.timers.tick(ms - 1)
    assert.equal(sources.length, count)
    mock.timers.tick(1)
    assert.equal(sources.length, count + 1)
  }
  last().say('status', '{"mode":"full"}')
  last().say('error', '')
  mock.timers.tick(1_000)
  assert.equal(sources.length, 5)
  assert.deepEqual(told, ['lost', 'lost', 'lost', 'full', 'lost'])
})

test('closed it stays closed', () => {
  const { sources, told, last, close } = stand()
  last().say('error', '')
  close()
  mock.timers.tick(60_000)
  last().say('error', '')
  assert.deepEqual([sources.length, told], [1, ['lost']])
})
