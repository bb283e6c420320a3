import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { PushHub } from '../server/push.js'
import { isTrusted } from '../server/trust.js'

const sidebar = { epoch: 'e', rows: [], sessionIds: ['s'], notices: [], trashCount: 0 }

class Response extends EventEmitter {
  text = ''
  status = 0
  writableLength = 0
  destroyed = false
  /** @param {number} status */
  writeHead(status) { this.status = status; return this }
  /** @param {string} text */
  write(text) { this.text += text; return true }
  end() { return this }
  destroy() { this.destroyed = true }
}

/** @param {import('../wire/types.js').Mode} mode */
function hub(mode) {
  const state = { mode }
  const push = new PushHub({
    status: () => ({ mode: state.mode, version: '1', epoch: 'e', reasons: [], capabilities: [], overridden: false, rearmable: false, pages: [] }),
    sidebar: () => sidebar, trustedHosts: () => [],
  })
  const connect = (headers = {}, method = 'GET') => {
    const response = new Response()
    push.route.handler(/** @type {any} */ ({ method, headers: { host: '127.0.0.1:1', ...headers } }), /** @type {any} */ (response))
    return response
  }
  return { push, state, connect }
}

test('a connection begins with the status and, in full mode, the sidebar', (t) => {
  const { push, state, connect } = hub('starting')
  t.after(() => { push.close() })
  const response = connect()
  assert.equal(response.text, 'event: status\ndata: {"mode":"starting","version":"1","epoch":"e","reasons":[],"capabilities":[],"overridden":false,"rearmable":false,"pages":[]}\n\n')
  response.text = ''
  state.mode = 'full'
  push.status()
  assert.match(response.text, /^event: status\ndata: .*\n\nevent: event\ndata: \{"kind":"sidebar",.*"sessionIds":\["s"\].*\n\n$/)
})

test('a reader that does not read is dropped, the others go on', (t) => {
  const { push, connect } = hub('full')
  t.after(() => { push.close() })
  const [slow, quick] = [connect(), connect()]
  slow.writableLength = 9 << 20
  push.event({ kind: 'removed', value: { draftId: 'd', sessionId: 's', reason: 'sent' } })
  assert.equal(slow.destroyed, true)
  assert.match(quick.text, /"kind":"removed"/)
  const seen = slow.text
  push.status()
  assert.equal(slow.text, seen)
})

test('pages of other sites get nothing', (t) => {
  const { push, connect } = hub('full')
  t.after(() => { push.close() })
  assert.equal(connect({ origin: 'http://evil.example' }).status, 403)
  assert.equal(connect({ origin: 'http://evil.example' }).text, '')
  assert.equal(connect({}, 'POST').status, 405)
})

test('trust: loopback or a trusted host, this origin or none, never another site', () => {
  /** @type {[boolean, Record<string, string>][]} */
  const cases = [
    [true, { host: '127.0.0.1:5' }],
    [true, { host: 'localhost:5', origin: 'http://localhost:5', 'sec-fetch-site': 'same-origin' }],
    [true, { host: '[::1]:5' }],
    [true, { host: 'lan.example:5' }],
    [true, { host: 'exact.example:7' }],
    [false, {}],
    [false, { host: 'evil.example' }],
    [false, { host: '127.0.0.1.evil.example' }],
    [false, { host: 'exact.example:8' }],
    [false, { host: 'user@127.0.0.1' }],
    [false, { host: '127.0.0.1/evil' }],
    [false, { host: 'localhost:5', origin: 'http://localhost:6' }],
    [false, { host: 'localhost:5', origin: 'null' }],
    [false, { host: 'localhost:5', 'sec-fetch-site': 'cross-site' }],
    [false, { host: 'localhost:5', 'sec-fetch-site': 'same-site' }],
  ]
  for (const [trusted, headers] of cases) {
    assert.equal(isTrusted(headers, ['lan.example', 'exact.example:7']), trusted, JSON.stringify(headers))
  }
})
