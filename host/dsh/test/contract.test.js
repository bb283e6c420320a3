import assert from 'node:assert/strict'
import { mkdtempSync, cpSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fromProto } from '../server/convert.js'
import { loadServices } from '../server/protos.js'
import { decode } from '../wire/codec.js'
import { messages } from '../wire/messages.js'
import { methods } from '../wire/surface.js'

const root = join(import.meta.dirname, '..', '..', '..')

function services() {
  const dir = mkdtempSync(join(tmpdir(), 'protos-'))
  cpSync(join(root, 'shared', 'proto', 'draftsessionsv1', 'draft_sessions.proto'), join(dir, 'draft_sessions.proto'))
  cpSync(join(root, 'host', 'dsh', 'server', 'proto', 'go_plugin.proto'), join(dir, 'go_plugin.proto'))
  return loadServices(dir)
}

test('the wire has each member of the contract, with its type, and no other', () => {
  const { service } = services().draftSessions
  for (const [method, { rpc, request, response }] of Object.entries(methods)) {
    if (rpc === '') continue
    const definition = /** @type {any} */ (service[rpc])
    assert.ok(definition, `${method}: no ${rpc} in the contract`)
    assert.deepEqual(members(definition.requestType), wire(request), `${method} request`)
    assert.deepEqual(members(definition.responseType), wire(response), `${method} response`)
  }
})

/** @param {any} type as proto-loader describes it @returns {Record<string, string>} */
function members(type) {
  /** @type {Record<string, string>} */
  const out = {}
  for (const field of type.type.field) {
    const name = field.name.replace(/_(\w)/g, (/** @type {string} */ _, /** @type {string} */ c) => c.toUpperCase())
    const kind = { TYPE_STRING: 'string', TYPE_BOOL: 'boolean', TYPE_INT64: 'int', TYPE_INT32: 'int' }[/** @type {string} */ (field.type)] ?? field.typeName
    // The parser keeps a proto3 `optional` as a oneof of its own.
    const optional = field.oneofIndex !== null && type.type.oneofDecl[field.oneofIndex]?.name === `_${field.name}` ? '?' : ''
    out[name] = kind + (field.label === 'LABEL_REPEATED' ? '[]' : optional)
  }
  return out
}

/** @param {keyof typeof messages} name @returns {Record<string, string>} */
function wire(name) {
  // An unset message is absent on the wire without being optional in the contract.
  return Object.fromEntries(Object.entries(messages[name]).map(([member, type]) =>
    [member, /^[A-Z].*\?$/.test(type) ? type.slice(0, -1) : type]))
}

test('a request keeps what is absent apart from what is empty', () => {
  const update = /** @type {any} */ (services().draftSessions.service['Update'])
  const back = (/** @type {object} */ request) => update.requestDeserialize(update.requestSerialize(request))
  assert.equal(back({ draftId: 'd', expectedRevision: 1, title: '' })._title, 'title')
  assert.equal(back({ draftId: 'd', expectedRevision: 1 })._title, undefined)
})

test('an answer of the plugin passes the codec, with empty and unset members', () => {
  const bind = /** @type {any} */ (services().draftSessions.service['Bind'])
  const raw = bind.responseDeserialize(bind.responseSerialize({ draft: { id: 'd', revision: 2 ** 40 } }))
  const { draft, recreated } = decode('BindResponse', fromProto(raw))
  assert.equal(draft.revision, 2 ** 40)
  assert.deepEqual([draft.text, draft.conflicts, draft.pinned, recreated], ['', [], false, false])
  const sidebar = /** @type {any} */ (services().draftSessions.service['GetSidebar'])
  const unset = decode('Sidebar', fromProto(sidebar.responseDeserialize(sidebar.responseSerialize({}))))
  assert.equal('storage' in unset, false)
})
