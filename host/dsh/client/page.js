/**
 * The page as a whole. Nothing of it is to be seen before the plugin is in full mode;
 * in stock mode everything goes again, and DSH is as it was.
 */
import { createElement as h, Fragment } from 'react'
import { Actions } from './actions.js'
import { usePage } from './app.js'
import { Activity } from './bridge/activity.js'
import { Bases } from './bridge/base.js'
import { Bridge } from './bridge/bridge.js'
import { composerOf } from './bridge/composer.js'
import { Unseen } from './bridge/unseen.js'
import { installStatus } from './composer/status.js'
import { installUnseen } from './composer/unseen.js'
import { ConflictsDialog } from './conflicts.js'
import { openEvents } from './events.js'
import { installGuard } from './guard.js'
import { installLine } from './line.js'
import { dictionaries, namespace } from './locale.js'
import { OwnMoves } from './moves.js'
import { mountRemote } from './remote.js'
import { installShortcut } from './shortcut.js'
import { Quiet, shadowBrowser } from './sidebar/slot.js'
import { createRows } from './sidebar/view.js'
import { dismiss, overrideNotice } from './standing.js'
import { Store } from './store.js'
import { initialState } from './state.js'
import { installStyles } from './styles.js'
import { requestOf, tellHost } from './tell.js'
import { Toast, takeBack } from './toast.js'
import { TrashDialog } from './trash.js'
import { installUndo } from './undo.js'
import { PageVerdict } from './verdict.js'

/**
 * @typedef {import('./dsh.js').Context} Context
 * @typedef {import('../wire/types.js').Mode} Mode
 * @typedef {import('../wire/types.js').Status} Status
 * @typedef {import('../wire/types.js').PushedEvent} PushedEvent
 * @typedef {import('./state.js').PageState} PageState
 */

/** A connection that is back this soon was never missed, in milliseconds. */
const lostMs = 1_500
const chooseMs = 3_000
/** What a browser still sends while a page closes, in bytes, for all of its requests together. */
const keepaliveBytes = 60_000

export class Page {
  #ctx
  /** @type {Store<PageState>} */
  #store = new Store(initialState)
  #bases = new Bases(window.localStorage, window.sessionStorage)
  /** @type {Awaited<ReturnType<typeof mountRemote>> | undefined} */
  #remote
  #guard
  /** @type {ReadonlySet<string>} */
  #known
  /** @type {(() => void)[]} */
  #undo = []
  /** @type {(() => void)[]} */
  #mounted = []
  /** @type {Bridge | undefined} */
  #bridge
  #epoch = ''
  /** The last that the host half said of itself. @type {Pick<Status, 'mode' | 'reasons' | 'overridden' | 'rearmable'>} */
  #status = { mode: 'starting', reasons: [], overridden: false, rearmable: false }
  #verdict
  /** @type {Store<import('./standing.js').Standing>} */
  #standing = new Store(this.#status)
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #lost
  #toasts = 0
  #moves = new OwnMoves()
  #decide = () => {}
  #decided = new Promise(resolve => { this.#decide = () => resolve(undefined) })

  /** @param {Context} ctx */
  constructor(ctx) {
    this.#ctx = ctx
    this.#known = new Set(this.#bases.readSessions())
    this.#verdict = new PageVerdict({
      ctx, pageId: crypto.randomUUID(), boot: Reflect.get(window, '__DSH_BOOT__'),
      call: () => this.#remote?.call,
      wanted: () => this.#status.mode === 'full',
      changed: () => this.#safely(() => this.#refresh()),
    })
    // Before anything else: the first selection of the page already asks it.
    this.#guard = installGuard(ctx, {
      mode: ms => this.#modeWithin(ms),
      choose: async (workspaceId, candidateSessionIds) =>
        (await this.#call('chooseSession', { workspaceId, candidateSessionIds }, chooseMs)).sessionId,
      known: () => this.#known,
    })
    this.#undo.push(openEvents({
      onStatus: status => this.#safely(() => this.#onStatus(status)),
      onEvent: event => this.#safely(() => this.#onEvent(event)),
      onLost: () => this.#onLost(),
    }))
    mountRemote(ctx).then(
      remote => {
        this.#remote = remote
        this.#verdict.ask()
      },
      error => this.#fault('remote', error),
    )
    this.#undo.push(installLine({
      ctx, standing: this.#standing, storage: window.localStorage,
      rearm: () => { this.#call('rearm', {}).catch(() => { /* The line stays, and the button with it. */ }) },
    }))
  }

  dispose() {
    clearTimeout(this.#lost)
    this.#verdict.dispose()
    this.#unmount()
    this.#guard?.dispose()
    for (const undo of this.#undo.splice(0)) undo()
    this.#remote?.dispose()
  }

  /** @type {import('./remote.js').Call} */
  #call = (method, request, deadlineMs) => {
    if (!this.#remote) return Promise.reject(new Error('not mounted'))
    return this.#remote.call(method, request, deadlineMs)
  }

  // ---- the gate ----

  get #mode() {
    return this.#store.getSnapshot().mode
  }

  /** @param {number} ms @returns {Promise<Mode>} */
  async #modeWithin(ms) {
    if (this.#mode === 'starting') {
      await Promise.race([this.#decided, new Promise(resolve => setTimeout(resolve, ms))])
      // Once is enough: a plugin that hangs must not slow each New Session.
      this.#decide()
    }
    // Full without the remote methods can choose nothing.
    return this.#mode === 'full' && !this.#remote ? 'paused' : this.#mode
  }

  /** @param {Status} status */
  #onStatus(status) {
    clearTimeout(this.#lost)
    this.#lost = undefined
    const { mode, epoch } = status
    const restarted = epoch !== this.#epoch && this.#epoch !== ''
    const judge = mode === 'full' && (epoch !== this.#epoch || this.#verdict.mode === undefined)
    this.#epoch = epoch
    this.#status = status
    if (mode === 'full' && restarted) this.#bridge?.pause()
    this.#refresh()
    if (judge) this.#verdict.ask()
  }

  #onLost() {
    this.#decide()
    this.#lost ??= setTimeout(() => this.#safely(() => {
      this.#lost = undefined
      if (this.#mode === 'stock') return
      this.#status = { ...this.#status, mode: this.#mounted.length > 0 ? 'paused' : 'starting' }
      this.#refresh()
    }), lostMs)
  }

  /** What the host half says and what the gate says of this page, together. */
  #refresh() {
    const { mode, reasons, overridden, rearmable } = this.#status
    const judged = mode === 'full' ? this.#verdict.mode ?? (this.#mounted.length > 0 ? 'full' : 'starting') : mode
    const now = mode !== 'stock' && this.#verdict.mode === 'stock' ? 'stock' : judged
    const all = mode === 'full' && this.#verdict.reasons.length > 0 ? this.#verdict.reasons : reasons
    this.#standing.set({ mode: now, reasons: all, overridden, rearmable })
    this.#store.set({ mode: now })
    if (now !== 'starting') this.#decide()
    this.#apply()
  }

  #apply() {
    if (this.#mode === 'stock') return this.#unmount()
    if (this.#mode === 'full' && this.#remote) {
      if (this.#mounted.length === 0) this.#mount()
      this.#bridge?.start()
      if (!this.#store.getSnapshot().sidebar) this.#pull()
    } else {
      this.#bridge?.pause()
    }
  }

  /** The stream begins with the sidebar; where that was missed it is asked for. */
  #pull() {
    this.#call('sidebar', {}).then(
      value => this.#safely(() => { if (!this.#store.getSnapshot().sidebar) this.#onEvent({ kind: 'sidebar', value }) }),
      () => { /* The next event brings it. */ })
  }

  /** @param {PushedEvent} event */
  #onEvent(event) {
    if (event.kind === 'sidebar') {
      const ids = event.value.sessionIds
      // The same set for the same sessions, so that DSH's rows are not rendered for every save.
      if (ids.length !== this.#known.size || !ids.every(id => this.#known.has(id))) {
        this.#known = new Set(ids)
        this.#bases.writeSessions(ids)
      }
      this.#store.set({ sidebar: event.value, hidden: this.#known, quiet: this.#moves.quiet(event.value.notices) })
    }
    this.#bridge?.onEvent(event)
  }

  // ---- what is in the page ----

  #mount() {
    const ctx = this.#ctx
    const store = this.#store
    const activity = new Activity()
    const unseen = new Unseen({
      ctx, bases: this.#bases, changed: ids => store.set({ unseen: ids }),
      row: sessionId => store.getSnapshot().sidebar?.rows.find(row => row.sessionId === sessionId),
    })
    const bridge = this.#bridge = new Bridge({
      ctx, activity, unseen, call: this.#call, bases: this.#bases,
      editorId: crypto.randomUUID(), moves: this.#moves,
      sidebar: () => store.getSnapshot().sidebar,
      pickedSession: raw => this.#pickedSession(raw),
      publish: (editors, shown) => store.set({ editors, shown }),
      prepare: draftId => actions.prepare(draftId),
      report: message => console.warn(`draft sessions: ${message}`),
    })
    const actions = new Actions({
      ctx, bridge, call: this.#call,
      ready: () => this.#mode === 'full',
      modes: store,
      creating: creating => store.set({ creating }),
      revealRow: draftId => store.set({ reveal: draftId }),
      focusRow: draftId => store.set({ focus: draftId }),
      toast: toast => {
        const id = ++this.#toasts
        store.set({ toast: { ...toast, id } })
        return () => { if (store.getSnapshot().toast?.id === id) store.set({ toast: undefined }) }
      },
      notice: notice => {
        const at = Date.now()
        store.set({ notices: [...store.getSnapshot().notices, { ...notice, at, id: `page:${at}:${notice.draftId}` }] })
      },
      forget: noticeId => {
        if (noticeId.startsWith('page:overridden:')) dismiss(window.localStorage, noticeId)
        const { notices } = store.getSnapshot()
        store.set({ notices: notices.filter(({ id }) => id !== noticeId) })
        return notices.length > store.getSnapshot().notices.length
      },
      field: () => activity.field(),
      editedWithin: ms => activity.editedWithin(ms),
    })
    const app = { store, actions, ctx }
    const risk = overrideNotice(this.#standing.getSnapshot(), window.localStorage)
    if (risk) store.set({ notices: [risk] })
    this.#mounted.push(() => activity.dispose(), () => bridge.dispose())
    this.#part('texts', () => ctx.locale.register(namespace, dictionaries))
    this.#part('styles', installStyles)
    this.#part('rows', () => shadowBrowser(ctx.slots, {
      Rows: createRows(app), useHidden: () => usePage(app, state => state.hidden),
      // Drafts without rows could not be reached. Not while React is at work.
      failed: error => queueMicrotask(() => this.#fault('rows', error)),
    }, error => this.#report('a neighbour', error)))
    this.#part('composer', () => installStatus(app, ctx.slots, {
      appeared: sessionId => this.#safely(() => bridge.appeared(sessionId)),
      mounted: sessionId => this.#safely(() => bridge.mounted(sessionId)),
    }))
    this.#part('unseen', () => installUnseen(app, ctx.slots))
    this.#part('overlay', () => ctx.slots.inject('shell.overlay', () => ctx.slots.register({ name: 'shell.overlay', id: 'draft-sessions', order: 50 },
      () => h(Quiet, { name: 'overlay' }, h(Fragment, null, h(Toast, { app }), h(ConflictsDialog, { app }), h(TrashDialog, { app }))))))
    this.#part('undo', () => installUndo(() => takeBack(store)))
    this.#part('shortcut', () => installShortcut(() => { void actions.newDraft() }))
    this.#part('page end', () => this.#onPageHide())
  }

  /**
   * One part of the page. Without rows or their texts there is nothing to be seen of
   * drafts; of the others one alone is left out.
   * @param {string} name
   * @param {() => () => void} install
   */
  #part(name, install) {
    try {
      this.#mounted.push(this.#ctx.effect(install, `draft sessions: ${name}`))
    } catch (error) {
      this.#report(name, error)
      if (name === 'texts' || name === 'rows') queueMicrotask(() => this.#fault(name, error))
    }
  }

  #unmount() {
    for (const undo of this.#mounted.splice(0).reverse()) this.#safely(undo)
    this.#bridge = undefined
    this.#store.set({ ...initialState, mode: this.#mode })
  }

  /** @param {string} raw */
  #pickedSession(raw) {
    const sessionId = this.#guard?.picked()
    const held = sessionId && composerOf(this.#ctx, sessionId)
    return held && held.read().raw === raw ? sessionId : undefined
  }

  /** The last words of a page that closes. What does not fit is in DSH's own storage, with our base beside it. */
  #onPageHide() {
    const send = () => {
      let room = keepaliveBytes
      for (const edit of this.#bridge?.lastEdits() ?? []) {
        const { url, body } = requestOf('edit', edit)
        room -= new TextEncoder().encode(body).length
        if (room < 0) return
        fetch(url, { method: 'POST', body, keepalive: true, headers: { 'content-type': 'application/json' } })
          .catch(() => { /* Nobody is left to be told. */ })
      }
    }
    window.addEventListener('pagehide', send)
    return () => window.removeEventListener('pagehide', send)
  }

  // ---- faults of ours stay ours ----

  /** @param {() => void} run */
  #safely(run) {
    try {
      run()
    } catch (error) {
      this.#report('the page', error)
    }
  }

  /** @param {string} part @param {unknown} error */
  #report(part, error) {
    console.warn(`draft sessions: ${part} stepped back`, error)
  }

  /** Without this part the page is DSH's alone, until it is loaded anew. @param {string} part @param {unknown} error */
  #fault(part, error) {
    this.#report(part, error)
    this.#verdict.fault(part, error)
    // What carries the verdict may be what failed.
    if (!this.#remote) void tellHost('report', this.#verdict.report())
  }
}
