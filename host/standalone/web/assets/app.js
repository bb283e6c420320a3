/** The page's parts put together: what is known, what is on screen, and who tells whom. */
import { Actions } from './actions.js'
import { asApiError, drafts, get, sessionPath } from './api.js'
import { Desk } from './desk.js'
import { Unsaved } from './editor/unsaved.js'
import { Events } from './events.js'
import { Following } from './following.js'
import { uuidv7 } from './ids.js'
import { chooseLanguage, load, reasonText } from './locale.js'
import { applyEvent, applyState, emptyModel, rowOf, trouble } from './model.js'
import { remembered } from './remembered.js'
import { Replies } from './replies.js'

/**
 * @typedef {{ kind: 'none' } | { kind: 'draft' | 'session', id: string }} Selection
 * @typedef {{ id: number, text: string, level: 'info' | 'error', kind?: string, action?: { label: string, run: () => void } }} Toast
 */

const editorEvents = new Set(['saved', 'not_saved', 'text_changed', 'removed'])
const sessionEvents = new Set(['log', 'live', 'permission'])
const toastMs = 8_000
/** How long a tab that is not seen keeps its connection, in milliseconds. */
const sleepMs = 30_000
/** How long a draft is on screen before its session is looked after, in milliseconds. */
const bindMs = 80

export class App {
  model = emptyModel()
  /** @type {Selection} */
  selection = { kind: 'none' }
  /** @type {'connecting' | 'ok' | 'lost' | 'unauthorized'} */
  connection = 'connecting'
  /** The first state is there. */
  loaded = false
  language
  t
  /** @type {Toast[]} */
  toasts = []
  /** Workspaces that are folded in the list. */
  closed = new Set(remembered.closed())
  /** Another number after every change of {@link closed}. */
  folded = 0
  replies = new Replies(localStorage)
  /** The workspace that was used last. */
  recentWorkspace = ''
  editorId = uuidv7()
  unsaved = new Unsaved(localStorage, this.editorId, navigator.locks)

  /** Called after every change, once for all that changed together. @type {() => void} */
  render = () => {}
  /** The language was changed: everything is built anew. @type {() => void} */
  rebuild = () => {}
  /** An editor changed its own text. @type {(draftId: string) => void} */
  showText = () => {}
  /** A draft's words are another draft now. @type {(oldId: string, newId: string) => void} */
  moveField = () => {}
  /** @type {() => boolean} */
  atField = () => false
  /** The keyboard goes to the text on screen, or to the list where there is none. @type {() => void} */
  focusMain = () => {}
  /** Something that only a screen reader tells. @type {(text: string) => void} */
  announce = () => {}

  #toastId = 0
  #scheduled = false
  #rescued = false
  /** Events that came while the state was on its way. @type {[string, any][] | undefined} */
  #held
  #refreshing = 0
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #binding
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #sleeping

  desk = new Desk({
    call: drafts,
    editorId: this.editorId,
    unsaved: this.unsaved,
    model: () => this.model,
    ready: () => this.ready,
    atField: () => this.atField(),
    changed: () => this.changed(),
    wrote: editor => this.showText(editor.draftId),
    created: (_, draft) => this.actions.created(draft),
    became: (editor, oldId) => {
      this.moveField(oldId, editor.draftId)
      if (this.selection.kind === 'draft' && this.selection.id === oldId) this.select({ kind: 'draft', id: editor.draftId })
    },
    left: (editor, how) => this.actions.left(editor, how),
  })

  following = new Following({
    follow: () => { void this.events?.follow() },
    changed: () => this.changed(),
    session: session => applyEvent(this.model, 'session', session),
    failed: (code, message) => {
      this.fail({ code, message })
      if (code === 'not-found') this.select({ kind: 'none' })
    },
  })

  actions = new Actions(this)
  /** @type {Events | undefined} */
  events

  /** @param {import('./locale.js').Language} chosen @param {import('./locale.js').Translate} t */
  constructor(chosen, t) {
    this.language = chosen
    this.t = t
  }

  start() {
    const hash = parseHash(location.hash) ?? remembered.selection()
    this.selection = hash ?? { kind: 'none' }
    this.events = new Events({
      onEvent: (name, data) => this.#onEvent(name, data),
      onLost: () => this.#lost(),
      followed: () => this.following.wanted,
    })
    addEventListener('online', () => this.events?.retry())
    addEventListener('hashchange', () => {
      const selection = parseHash(location.hash)
      if (selection && !same(selection, this.selection)) this.select(selection, { push: false })
    })
    const keep = () => this.desk.keepNow()
    addEventListener('pagehide', keep)
    document.addEventListener('visibilitychange', () => {
      clearTimeout(this.#sleeping)
      if (document.visibilityState === 'visible') return this.events?.retry()
      keep()
      this.#sleepLater()
    })
  }

  /** A tab that is not seen lets go of its connection once everything is saved. */
  #sleepLater() {
    this.#sleeping = setTimeout(() => {
      const busy = [...this.desk.editors.values()].some(editor => editor.dirty) || this.actions.sending.size > 0
      if (busy) this.#sleepLater()
      else if (this.connection === 'ok') this.events?.sleep()
    }, sleepMs)
  }

  // ---- what is known ----

  /** Whether the plugin can be called. */
  get ready() {
    return this.connection === 'ok' && this.model.state.plugin.mode === 'full' && this.model.state.plugin.epoch !== ''
  }

  get trouble() {
    return trouble(this.model)
  }

  /** @param {string} code @param {string} [message] */
  reason(code, message = '') {
    return reasonText(this.t, code, message)
  }

  /** @param {string} draftId */
  row(draftId) {
    return rowOf(this.model, draftId)
  }

  /** The session behind what is on screen, if it is known. */
  get session() {
    if (this.selection.kind === 'none') return undefined
    const id = this.selection.kind === 'session' ? this.selection.id : this.row(this.selection.id)?.sessionId
    return id ? this.model.sessions.get(id) : undefined
  }

  // ---- the connection ----

  /** @param {string} name @param {any} data */
  #onEvent(name, data) {
    if (name === 'hello') {
      void this.#refresh()
      return
    }
    if (editorEvents.has(name)) return this.desk.onEvent(name, data)
    if (sessionEvents.has(name)) return this.following.onEvent(name, data)
    if (this.#held) {
      this.#held.push([name, data])
      return
    }
    this.#apply(name, data)
  }

  /** @param {string} name @param {any} data */
  #apply(name, data) {
    const before = this.ready
    const { epoch } = this.model.state.plugin
    applyEvent(this.model, name, data)
    if (name === 'plugin') {
      if (before && !this.ready) this.desk.pause()
      else if (this.ready && (!before || data.epoch !== epoch)) this.desk.resume()
    } else if (name === 'sidebar' && this.ready) {
      this.actions.sidebarChanged()
      this.desk.look()
    }
    this.changed()
  }

  async #refresh() {
    const turn = ++this.#refreshing
    this.#held = []
    try {
      const state = await get('/api/state')
      if (turn !== this.#refreshing) return
      const first = !this.loaded
      const back = this.connection === 'lost'
      applyState(this.model, state)
      this.connection = 'ok'
      this.loaded = true
      const held = this.#held
      this.#held = undefined
      if (first) this.#open()
      for (const [name, data] of held) applyEvent(this.model, name, data)
      if (this.ready) this.desk.resume()
      else this.desk.pause()
      if (!first) void this.following.load()
      if (back) this.announce(this.t('back'))
      if (!this.#rescued && this.ready) {
        this.#rescued = true
        void this.#rescue()
      }
      this.changed()
    } catch (error) {
      if (turn !== this.#refreshing) return
      this.#held = undefined
      if (asApiError(error).code === 'unauthorized') this.#unauthorized()
      else this.events?.failed()
    }
  }

  /** Words that pages which are gone could not save. */
  async #rescue() {
    const wanted = parseHash(location.hash)
    await this.desk.rescue(await this.unsaved.left())
    // A draft that had not been made yet is shown again as well.
    if (this.selection.kind === 'none' && wanted?.kind === 'draft' && this.desk.editors.has(wanted.id)) this.select(wanted)
    this.changed()
  }

  #lost() {
    if (this.connection === 'unauthorized') return
    if (this.connection !== 'lost') {
      const was = this.connection
      this.connection = 'lost'
      this.desk.pause()
      if (was === 'ok') this.announce(this.t('lost'))
      this.changed()
    }
    // A cookie that is of no use any more ends the stream in the same way.
    get('/api/state').catch(error => { if (asApiError(error).code === 'unauthorized') this.#unauthorized() })
  }

  #unauthorized() {
    this.connection = 'unauthorized'
    this.desk.pause()
    this.changed()
  }

  // ---- what is on screen ----

  /** The first state is there: show what was shown before. */
  #open() {
    const { selection } = this
    if (selection.kind === 'draft' && !this.row(selection.id) && !this.desk.editors.has(selection.id)) this.selection = { kind: 'none' }
    // Whoever comes back goes on writing; on a phone that would open its keyboard.
    this.#shown({ focus: document.activeElement === document.body && this.selection.kind !== 'none' && innerWidth > 760 })
  }

  /** @param {Selection} selection @param {{ push?: boolean, focus?: boolean, creating?: object }} [how] */
  select(selection, { push = true, focus = false, creating } = {}) {
    this.selection = selection
    remembered.select(selection)
    const hash = selection.kind === 'none' ? '#' : `#/${selection.kind}/${encodeURIComponent(selection.id)}`
    if (push && location.hash !== hash) history.pushState(null, '', hash)
    this.#shown({ focus, creating })
  }

  /** @param {{ focus: boolean, creating?: object }} how */
  #shown({ focus, creating }) {
    const { selection } = this
    if (selection.kind === 'draft') {
      const { workspaceId } = this.row(selection.id) ?? { workspaceId: /** @type {{ workspaceId?: string } | undefined} */ (creating)?.workspaceId ?? '' }
      if (workspaceId !== '') this.recentWorkspace = workspaceId
      void this.following.show('')
      this.desk.show(selection.id, creating)
      // Its text comes first; who only passes by asks for nothing more.
      clearTimeout(this.#binding)
      if (!creating) this.#binding = setTimeout(() => { void this.actions.bind(selection.id) }, bindMs)
    } else {
      this.desk.leave()
      void this.following.show(selection.kind === 'session' ? selection.id : '')
      const workspaceId = this.session?.workspaceId ?? ''
      if (workspaceId !== '') this.recentWorkspace = workspaceId
    }
    this.changed()
    if (focus) {
      this.renderNow()
      this.focusMain()
    }
  }

  /** A draft's session, for its pickers. @param {string} sessionId */
  async learn(sessionId) {
    if (sessionId === '' || this.model.sessions.has(sessionId)) return
    try {
      const { session } = await get(`${sessionPath(sessionId)}?limit=1`)
      applyEvent(this.model, 'session', session)
      this.changed()
    } catch {
      // The pickers stay away; opening the draft again asks again.
    }
  }

  // ---- words for the person ----

  /** @param {string} text @param {{ level?: 'info' | 'error', kind?: string, action?: Toast['action'] }} [more] */
  toast(text, { level = 'info', kind, action } = {}) {
    const id = ++this.#toastId
    this.toasts = [...this.toasts.slice(-2), { id, text, level, ...kind ? { kind } : {}, ...action ? { action } : {} }]
    setTimeout(() => this.endToast(id), toastMs)
    this.changed()
    return id
  }

  /** @param {number} id */
  endToast(id) {
    const left = this.toasts.filter(toast => toast.id !== id)
    if (left.length === this.toasts.length) return
    this.toasts = left
    this.changed()
  }

  /** @param {unknown} error */
  fail(error) {
    const { code = '', message = '' } = /** @type {{ code?: string, message?: string }} */ (error)
    this.toast(this.t('toast.failed', { why: this.reason(code, message) }), { level: 'error' })
  }

  /** @param {string} workspaceId */
  fold(workspaceId) {
    if (!this.closed.delete(workspaceId)) this.closed.add(workspaceId)
    this.folded++
    remembered.close([...this.closed])
    this.changed()
  }

  async changeLanguage() {
    const next = this.language === 'en' ? 'zh' : 'en'
    try {
      this.t = await load(next)
    } catch {
      return this.fail({ code: 'UNREACHABLE' })
    }
    this.language = next
    chooseLanguage(next)
    this.rebuild()
    this.changed()
  }

  // ---- showing it ----

  changed() {
    if (this.#scheduled) return
    this.#scheduled = true
    queueMicrotask(() => { if (this.#scheduled) this.renderNow() })
  }

  renderNow() {
    this.#scheduled = false
    this.render()
  }
}

/** @param {string} hash @returns {Selection | undefined} */
export function parseHash(hash) {
  const match = /^#\/(draft|session)\/(.+)$/.exec(hash)
  if (!match) return undefined
  try {
    return { kind: /** @type {'draft' | 'session'} */ (match[1]), id: decodeURIComponent(/** @type {string} */ (match[2])) }
  } catch {
    return undefined
  }
}

/** @param {Selection} a @param {Selection} b */
const same = (a, b) => a.kind === b.kind && (a.kind === 'none' || b.kind === 'none' || a.id === b.id)
