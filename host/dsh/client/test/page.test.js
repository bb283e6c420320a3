import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Bases } from '../bridge/base.js'
import { livesElsewhere, textHash } from '../bridge/leftovers.js'
import { dictionaries, reasonText } from '../locale.js'
import { RemoteError, caller, unreachable } from '../remote.js'
import { isNewDraftChord } from '../shortcut.js'
import { hidingHook, withoutSessions } from '../sidebar/hidden.js'
import { saveOf } from '../state.js'
import { Store } from '../store.js'
import { hashOf, standStorage } from './stand.js'

test('both languages say everything, with the same blanks', () => {
  const { en, zh } = dictionaries
  assert.deepEqual(Object.keys(zh), Object.keys(en))
  const blanks = (/** @type {string} */ text) => [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).sort()
  for (const [key, text] of Object.entries(en)) {
    assert.deepEqual(blanks(zh[key] ?? ''), blanks(text), key)
    assert.notEqual(zh[key]?.trim(), '', key)
  }
})

test('a reason is said in the person\'s language, an unknown one in the plugin\'s words', () => {
  const t = (/** @type {string} */ key) => dictionaries.en[key] ?? key
  assert.equal(reasonText(t, 'DRAFT_STORAGE_IO', 'x'), 'the draft file cannot be written')
  assert.equal(reasonText(t, 'NEW_CODE', 'what the plugin says'), 'what the plugin says')
  assert.equal(reasonText(t, 'NEW_CODE', ''), 'NEW_CODE')
})

test('the chords, and nothing else', () => {
  const keys = { code: 'KeyN', shiftKey: true, ctrlKey: false, metaKey: false, altKey: false, repeat: false, isComposing: false }
  for (const held of [{ ctrlKey: true }, { metaKey: true }, { altKey: true }]) assert.equal(isNewDraftChord({ ...keys, ...held }), true, JSON.stringify(held))
  for (const held of [
    {}, { ctrlKey: true, altKey: true }, { ctrlKey: true, metaKey: true }, { altKey: true, shiftKey: false },
    { altKey: true, code: 'KeyM' }, { altKey: true, repeat: true }, { ctrlKey: true, isComposing: true },
  ]) assert.equal(isNewDraftChord({ ...keys, ...held }), false, JSON.stringify(held))
})

test('hidden sessions are left out, and the same snapshot stays the same', () => {
  const list = { ids: ['a', 'b'], byId: /** @type {any} */ ({ a: { id: 'a' }, b: { id: 'b' }, child: { id: 'child' } }), current: 'b', phase: 'ready' }
  const map = withoutSessions(new Set(['b']))
  assert.deepEqual(map(list), { ...list, ids: ['a'], byId: { a: { id: 'a' }, child: { id: 'child' } } })
  assert.equal(map(list), map(list))
  assert.equal(withoutSessions(new Set(['c']))(list), list)
  const use = hidingHook(select => select(list), new Set(['b']))
  assert.deepEqual(use(shown => shown.ids), ['a'])
})

test('a store tells only of changes', () => {
  const store = new Store({ a: 1, b: 2 })
  let told = 0
  const off = store.subscribe(() => { told++ })
  store.set({ a: 1 })
  store.set({ a: 2 })
  off()
  store.set({ a: 3 })
  assert.deepEqual([told, store.getSnapshot()], [1, { a: 3, b: 2 }])
})

test('a call opens both envelopes and throws with the plugin\'s code', async () => {
  /** @type {any[]} */
  const answers = [
    { ok: true, value: { ok: true, value: { sessionId: 's' } } },
    { ok: true, value: { ok: false, error: { code: 'DRAFT_NOT_FOUND', message: 'gone' } } },
    { ok: false, error: { code: 'carrier/offline', message: 'no network' } },
    undefined,
  ]
  const call = caller(() => ({ chooseSession: async () => answers.shift() }))
  const request = { workspaceId: '', candidateSessionIds: [] }
  assert.deepEqual(await call('chooseSession', request), { sessionId: 's' })
  for (const code of ['DRAFT_NOT_FOUND', unreachable, unreachable]) {
    await assert.rejects(call('chooseSession', request), error => error instanceof RemoteError && error.code === code)
  }
  await assert.rejects(caller(() => undefined)('status', {}), { code: unreachable })
  await assert.rejects(caller(() => ({ status: () => new Promise(() => {}) }))('status', {}, 5), { code: unreachable })
  await assert.rejects(caller(() => ({ status: async () => { throw new Error('boom') } }))('status', {}), { code: unreachable })
})

test('what is remembered comes back, what is not sound does not', () => {
  const storage = standStorage()
  const bases = new Bases(storage, standStorage())
  assert.equal(bases.read('s'), undefined)
  bases.write('s', { draftId: 'd', textRevision: 3, hash: 'h', editorId: 'e' })
  assert.deepEqual(bases.read('s'), { draftId: 'd', textRevision: 3, hash: 'h', editorId: 'e' })
  bases.forget('s')
  assert.equal(bases.read('s'), undefined)
  for (const bad of ['{', 'null', '1', '{"draftId":"d"}', '{"draftId":"d","textRevision":"3","hash":"h"}']) {
    storage.setItem('draft-sessions.base.s', bad)
    assert.equal(bases.read('s'), undefined, bad)
  }
  bases.writeSessions(['a', 'b'])
  assert.deepEqual(bases.readSessions(), ['a', 'b'])
})

test('each tab has a base of its own, and a new one has the browser\'s', () => {
  const browser = standStorage()
  const one = new Bases(browser, standStorage())
  const two = new Bases(browser, standStorage())
  one.write('s', { draftId: 'd', textRevision: 2, hash: 'old' })
  two.write('s', { draftId: 'd', textRevision: 3, hash: 'new' })
  assert.equal(one.read('s')?.hash, 'old')
  assert.equal(two.read('s')?.hash, 'new')
  assert.equal(new Bases(browser, standStorage()).read('s')?.hash, 'new')
  two.forget('s')
  assert.equal(two.read('s'), undefined)
})

test('a storage that refuses changes nothing else', () => {
  const refuse = () => { throw new Error('QuotaExceededError') }
  const bases = new Bases({ getItem: refuse, setItem: refuse, removeItem: refuse }, { getItem: refuse, setItem: refuse, removeItem: refuse })
  bases.write('s', { draftId: 'd', textRevision: 1, hash: 'h' })
  bases.forget('s')
  bases.writeSessions(['a'])
  assert.deepEqual([bases.read('s'), bases.readSessions()], [undefined, []])
})

test('a page hashes a text as the store does', async () => {
  for (const text of ['', 'AAA', '你好 😀\r\n']) assert.equal(await textHash(text), hashOf(text))
})

test('a text is cleared only when it is proven to live elsewhere', async () => {
  const base = { draftId: 'd', textRevision: 1, hash: 'h' }
  const notFound = () => { throw new RemoteError('DRAFT_NOT_FOUND', 'gone') }
  const offline = () => { throw new RemoteError(unreachable, 'offline') }
  /** @param {() => object} get @param {() => object} listTrash @param {boolean} blank */
  const lives = (get, listTrash, blank) => livesElsewhere(
    /** @type {any} */ (async (/** @type {string} */ method) => method === 'get' ? get() : listTrash()), base, { sessionId: 's', blank })
  const trashed = () => ({ entries: [{ draft: { id: 'd' } }] })
  const empty = () => ({ entries: [] })
  assert.equal(await lives(() => ({ sessionId: 'moved' }), empty, true), true)
  assert.equal(await lives(() => ({ sessionId: 's' }), empty, false), false)
  assert.equal(await lives(() => ({ sessionId: '' }), empty, true), false)
  assert.equal(await lives(offline, empty, false), false)
  assert.equal(await lives(notFound, empty, false), true, 'sent')
  assert.equal(await lives(notFound, trashed, true), true, 'deleted')
  assert.equal(await lives(notFound, empty, true), false, 'nothing proves it')
  assert.equal(await lives(notFound, offline, true), false)
})

test('how saving stands: this page\'s own fault first, then the plugin\'s', () => {
  const row = /** @type {any} */ ({ saveState: 'saved', saveCode: '', saveMessage: '' })
  const editor = /** @type {any} */ ({ save: 'saved', code: '', message: '', retrying: false })
  assert.equal(saveOf(row, undefined).state, 'saved')
  assert.equal(saveOf(row, { ...editor, save: 'opening' }).state, 'saved')
  assert.equal(saveOf(row, { ...editor, save: 'saving' }).state, 'saving')
  assert.equal(saveOf({ ...row, saveState: 'saving' }, editor).state, 'saving')
  assert.deepEqual(saveOf({ ...row, saveState: 'not_saved', saveCode: 'DRAFT_STORAGE_IO', saveMessage: 'm' }, { ...editor, save: 'saving' }),
    { state: 'not_saved', code: 'DRAFT_STORAGE_IO', message: 'm', retrying: true })
  assert.equal(saveOf(row, { ...editor, save: 'not_saved', code: 'TEXT_TOO_LARGE' }).code, 'TEXT_TOO_LARGE')
})
