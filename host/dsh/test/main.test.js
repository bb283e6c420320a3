import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apply, inject, overrideOf } from '../server/main.js'

/**
 * A DSH with some services: what waits for one that is not there waits for ever.
 * @param {Record<string, any>} services
 */
function host(services) {
  const undo = /** @type {(() => void)[]} */ ([])
  const provided = /** @type {Record<string, any>} */ ({})
  const ctx = {
    baseUrl: import.meta.url,
    get: (/** @type {string} */ name) => services[name] ?? provided[name],
    on: () => () => {},
    effect: (/** @type {() => () => void} */ run) => { const dispose = run(); undo.push(dispose); return dispose },
    inject: (/** @type {string[]} */ names, /** @type {(scope: any) => void} */ run) => {
      let disposed = false
      queueMicrotask(() => { if (!disposed && names.every(name => services[name] !== undefined)) run(scope) })
      return { dispose: () => { disposed = true } }
    },
    reflect: { provide: (/** @type {string} */ name, /** @type {any} */ value) => { provided[name] = value; return () => { delete provided[name] } } },
  }
  const scope = Object.assign(Object.create(ctx), services)
  const lines = /** @type {{ message: string, fields: any }[]} */ ([])
  const wakeups = /** @type {(() => void)[]} */ ([])
  const write = (/** @type {string} */ message, /** @type {any} */ fields) => {
    lines.push({ message, fields })
    for (const wake of wakeups.splice(0)) wake()
  }
  const log = /** @type {any} */ ({ info: write, warn: write })
  /** @returns {Promise<any>} the first reason that the log names */
  const reason = async () => {
    for (;;) {
      const found = lines.find(line => line.fields?.reasons?.length > 0)
      if (found) return found.fields.reasons[0]
      await new Promise((resolve) => { wakeups.push(() => { resolve(undefined) }) })
    }
  }
  return { ctx: /** @type {any} */ (ctx), log, lines, reason, undo }
}

const webServer = { register: () => () => {} }
const typert = { register: () => () => {}, local: { get: () => undefined } }
const apiProxy = { sessions: { prompt() {}, create() {} }, workspace: { list() {} } }
const boom = () => { throw new Error('boom') }

/** @param {import('node:test').TestContext} t */
function alive(t) {
  const timer = setInterval(() => {}, 1000)
  t.after(() => { clearInterval(timer) })
}

test('invariant 8: the bundle waits for nothing, so DSH starts without what it needs', async (t) => {
  alive(t)
  assert.deepEqual(inject, [])
  for (const missing of ['webServer', 'typert', 'apiProxy']) {
    const services = /** @type {Record<string, any>} */ ({ webServer, typert, apiProxy })
    delete services[missing]
    const { ctx, log, reason } = host(services)
    assert.equal(apply(ctx, undefined, { ms: 5, log }), undefined)
    const { code, subject } = await reason()
    assert.deepEqual([code, subject], ['HOST_SERVICE_MISSING', missing])
  }
})

test('invariant 8: a service that throws is a reason, never an exception', async (t) => {
  alive(t)
  for (const [name, services] of Object.entries({
    'a web server that takes no route': { webServer: { register: boom }, typert, apiProxy },
    'a registry that cannot be asked': { webServer, typert: { register: boom, get local() { return boom() } }, apiProxy },
    'a loader that cannot be asked': { webServer, typert, apiProxy, loader: { entries: boom, getTasks: boom } },
  })) {
    const { ctx, log, reason } = host(services)
    assert.equal(apply(ctx, undefined, { log }), undefined)
    const { code, found } = await reason()
    assert.deepEqual([code, found], ['HOST_SEAM_FAILED', 'boom'], name)
  }
})

test('a newer host that no longer exports what is needed is a reason', async (t) => {
  alive(t)
  // Here the host's package is not to be found at all.
  const { ctx, log, reason } = host({ webServer, typert, apiProxy })
  apply(ctx, undefined, { log })
  const { code, found } = await reason()
  assert.equal(code, 'HOST_SEAM_FAILED')
  assert.match(found, /dsh-typert-protocol/)
})

test('invariant 8: a context of another shape is no exception either', () => {
  for (const ctx of [{}, { inject: boom, effect: boom, get: boom, on: boom }, { inject: () => ({}), effect: boom }]) {
    const { log } = host({})
    assert.equal(apply(/** @type {any} */ (ctx), undefined, { log }), undefined)
  }
})

test('switched off before anything came, nothing is left to happen', async (t) => {
  alive(t)
  const { ctx, log, lines, undo } = host({})
  apply(ctx, undefined, { ms: 20, log })
  for (const dispose of undo) dispose()
  await new Promise((resolve) => { setTimeout(resolve, 60) })
  assert.deepEqual(lines, [])
})

test('the untested version comes from the profile first, then from the environment', () => {
  const env = { DRAFT_SESSIONS_OVERRIDE: ' 0.1.5-rc.2 ' }
  assert.equal(overrideOf({ override: '0.2.0' }, env), '0.2.0')
  for (const config of [undefined, null, {}, { override: '' }, { override: 1 }]) assert.equal(overrideOf(config, env), '0.1.5-rc.2')
  assert.equal(overrideOf(undefined, {}), '')
})
