import assert from 'node:assert/strict'
import test from 'node:test'
import { Events } from '../assets/events.js'

/** An EventSource whose events the test sends. */
class StandSource {
  /** @type {Map<string, (message: any) => void>} */
  #listeners = new Map()
  closed = false
  url
  /** @param {string} url */
  constructor(url) {
    this.url = url
  }

  /** @param {string} name @param {(message: any) => void} listener */
  addEventListener(name, listener) {
    this.#listeners.set(name, listener)
  }

  close() {
    this.closed = true
  }

  /** @param {string} name @param {string} [data] */
  send(name, data = '{}') {
    this.#listeners.get(name)?.({ data })
  }
}

/** @param {import('node:test').TestContext} t */
function stand(t) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const sources = /** @type {StandSource[]} */ ([])
  const got = /** @type {[string, any][]} */ ([])
  const world = { lost: 0, session: '', after: 0 }
  const events = new Events({
    onEvent: (name, data) => { got.push([name, data]) },
    onLost: () => { world.lost++ },
    followed: () => ({ session: world.session, after: world.after }),
  }, url => {
    const source = new StandSource(url)
    sources.push(source)
    return /** @type {any} */ (source)
  })
  t.after(() => events.close())
  return { events, sources, got, world }
}

test('a connection that ends is made again, each time a little later, and at once when asked', t => {
  const { events, sources, world } = stand(t)
  sources[0]?.send('error')
  assert.deepEqual([world.lost, sources.length, sources[0]?.closed], [1, 1, true])
  t.mock.timers.tick(400)
  sources[1]?.send('error')
  t.mock.timers.tick(400)
  assert.equal(sources.length, 2)
  t.mock.timers.tick(400)
  assert.equal(sources.length, 3)
  sources[2]?.send('error')
  events.retry()
  assert.equal(sources.length, 4)
})

test('it asks for the session that is followed', t => {
  const { sources, world, events } = stand(t)
  world.session = 'a b'
  world.after = 7
  sources[0]?.send('error')
  events.retry()
  assert.equal(sources[1]?.url, '/api/events?session=a%20b&after=7')
})

test('of many lists only the newest is read, and half a message is none', t => {
  const { sources, got } = stand(t)
  sources[0]?.send('hello', '{"stream":"s","session":""}')
  for (const epoch of ['1', '2', '3']) sources[0]?.send('sidebar', JSON.stringify({ epoch }))
  sources[0]?.send('saved', '{"draftId":')
  t.mock.timers.tick(100)
  assert.deepEqual(got.map(([name, { epoch }]) => [name, epoch]), [['hello', undefined], ['sidebar', '3']])
})

test('nothing of a connection that was replaced arrives', t => {
  const { sources, got, events } = stand(t)
  sources[0]?.send('sidebar', '{"epoch":"old"}')
  sources[0]?.send('error')
  events.retry()
  sources[0]?.send('saved')
  t.mock.timers.tick(100)
  assert.deepEqual(got, [])
})

test('a tab that sleeps holds no connection and is not lost; it wakes at once', t => {
  const { sources, events, world } = stand(t)
  sources[0]?.send('hello', '{"stream":"s","session":""}')
  events.sleep()
  t.mock.timers.tick(60_000)
  assert.deepEqual([sources.length, sources[0]?.closed, world.lost], [1, true, 0])
  events.retry()
  assert.equal(sources.length, 2)
})
