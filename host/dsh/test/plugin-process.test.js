import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { clientIdentity, toPem } from '../server/certificate.js'
import { pluginEnvironment } from '../server/environment.js'
import { parseHandshake } from '../server/handshake.js'
import { parseLogLine, startDeadline } from '../server/process.js'

test('the plugin gets what it needs of the environment and no secret', () => {
  const env = pluginEnvironment(
    { PATH: '/bin', HOME: '/h', DEEPSEEK_API_KEY: 'secret', NODE_OPTIONS: '--x', DRAFT_SESSIONS_STORE: '/elsewhere', DRAFT_SESSIONS_LIMIT: '25' },
    { store: '/home/drafts.json', socketDir: '/s', certificate: 'PEM' })
  assert.deepEqual(env, {
    PATH: '/bin', HOME: '/h', DRAFT_SESSIONS_LIMIT: '25',
    DRAFT_SESSIONS_PLUGIN: '0196a3f0-draft-sessions', DRAFT_SESSIONS_STORE: '/home/drafts.json',
    PLUGIN_PROTOCOL_VERSIONS: '1', PLUGIN_UNIX_SOCKET_DIR: '/s', PLUGIN_CLIENT_CERT: 'PEM',
  })
})

test('a handshake is taken apart, and any other line says what does not fit', () => {
  const { socket, certificate } = parseHandshake('1|1|unix|/s/plugin1|grpc|AAEC\n')
  assert.equal(socket, '/s/plugin1')
  assert.deepEqual([...certificate], [0, 1, 2])
  for (const [line, code, problem] of /** @type {[string, string, RegExp][]} */ ([
    ['hello', 'HANDSHAKE_INVALID', /a handshake line/],
    ['2|1|unix|/s|grpc|AA', 'HANDSHAKE_INVALID', /core protocol 1/],
    ['1|9|unix|/s|grpc|AA', 'PROTOCOL_MISMATCH', /^1$/],
    ['1|1|tcp|127.0.0.1:1|grpc|AA', 'HANDSHAKE_INVALID', /unix socket/],
    ['1|1|unix|/s|netrpc|AA', 'HANDSHAKE_INVALID', /unix socket/],
    ['1|1|unix|/s|grpc|', 'HANDSHAKE_INVALID', /a certificate/],
  ])) {
    assert.throws(() => parseHandshake(line), (/** @type {any} */ { reasons: [reason] }) => {
      assert.equal(reason.code, code, line)
      assert.match(reason.expected, problem, line)
      assert.ok(reason.found !== '' && reason.message !== '', line)
      return true
    })
  }
})

test('the client certificate is what AutoMTLS asks for', async () => {
  const { certificate, privateKey } = await clientIdentity()
  const parsed = new X509Certificate(certificate)
  assert.equal(parsed.subjectAltName, 'DNS:localhost')
  assert.equal(parsed.ca, true)
  assert.deepEqual(parsed.keyUsage?.toSorted(), ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2'])
  assert.equal(parsed.publicKey.asymmetricKeyDetails?.namedCurve, 'prime256v1')
  assert.ok(parsed.verify(parsed.publicKey))
  assert.match(privateKey, /^-----BEGIN PRIVATE KEY-----/)
  assert.equal(new X509Certificate(toPem(parsed.raw)).fingerprint256, parsed.fingerprint256)
})

test('lines of the plugin are taken with their level and fields, foreign ones as they are', () => {
  assert.deepEqual(
    parseLogLine('{"@level":"error","@message":"m","@timestamp":"t","@caller":"c","code":"X"}'),
    { level: 'error', message: 'm', fields: { code: 'X' } })
  assert.deepEqual(parseLogLine('panic: boom'), { level: 'warn', message: 'panic: boom', fields: {} })
  assert.equal(parseLogLine('x'.repeat(1000)).message.length, 300)
})

test('a slow machine can be given more time to start, within reason', () => {
  for (const [value, ms] of /** @type {[string | undefined, number][]} */ ([[undefined, 10_000], ['60', 60_000], ['0', 10_000], ['1e9', 10_000], ['x', 10_000]])) {
    assert.equal(startDeadline({ DRAFT_SESSIONS_START_SECONDS: value }), ms, value)
  }
})
