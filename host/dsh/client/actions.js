/** What a person can do with drafts. Each calls the plugin; the sidebar event shows the outcome. */
import { v7 as uuidv7 } from 'uuid'
import { RemoteError } from './remote.js'

/**
 * @typedef {import('./dsh.js').Context} Context
 * @typedef {import('./remote.js').Call} Call
 * @typedef {import('../wire/types.js').Row} Row
 * @typedef {import('../wire/types.js').Draft} Draft
 * @typedef {import('./bridge/bridge.js').Bridge} Bridge
 */
/**
 * @typedef {object} Toast
 * @property {string} key of the dictionary
 * @property {Record<string, unknown>} [params]
 * @property {'info' | 'error'} level
 * @property {{ key: string, run: () => void }} [action]
 * @property {boolean} [stays] until what it speaks of is over
 */
/**
 * @typedef {object} ActionsHost
 * @property {Pick<Context, 'sessions' | 'workspaces'>} ctx
 * @property {Call} call
 * @property {Bridge} bridge
 * @property {() => boolean} ready whether the plugin can be called
 * @property {import('./dsh.js').Observable<{ mode: import('../wire/types.js').Mode }>} modes
 * @property {(busy: boolean) => void} creating
 * @property {(draftId: string) => void} revealRow bring the draft's row into view once it is there
 * @property {(draftId: string) => void} focusRow give the keyboard focus to the draft's row once it is there
 * @property {(toast: Toast) => () => void} toast gives what takes it away again, if it is still there
 * @property {(notice: { kind: string, draftId: string, title: string }) => void} notice of what this page's own call brought about
 * @property {(noticeId: string) => boolean} forget whether the notice was one of this page
 * @property {() => HTMLElement | null} field the composer's text field
 * @property {(ms: number) => boolean} editedWithin whether somebody wrote in it so recently
 */

/** How long a new draft waits for the plugin to be back, in milliseconds, and how long between two tries. */
const backMs = 60_000
const againMs = 500
/** How long ago a deletion may be to be offered once more after a newer one was taken back, in milliseconds. */
const undoMs = 30_000
/** How long a session may take to reach the page's list, in milliseconds. */
const listMs = 10_000
const refreshMs = 1_200
const maxStale = 5
/** How much of a deleted text is shown. */
const previewCharacters = 280

export class Actions {
  #host
  #creating = false
  /** The key of a new draft of which it is not known whether the plugin made it. */
  #unknownKey = ''
  /** Deletions of this page, the newest last. @type {{ draftId: string, title: string, at: number }[]} */
  #deleted = []
  /** The newest request to show a draft; answers of older ones move nothing. */
  #opening = 0

  /** @param {ActionsHost} host */
  constructor(host) {
    this.#host = host
  }

  /** A new draft in the workspace of the session on screen, opened. One at a time. */
  newDraft = async (workspaceId = '') => {
    if (this.#creating) return
    this.#creating = true
    this.#host.creating(true)
    const turn = ++this.#opening
    // What is typed before the new draft is there is not for the old one.
    const field = this.#host.field()
    field?.blur()
    const focused = document.activeElement
    let shown = false
    try {
      const { ctx, bridge } = this.#host
      await until(ctx.workspaces.list, list => list.baselinesReady, listMs)
      if (workspaceId === '' && ctx.workspaces.list.getSnapshot().items.length === 0) {
        this.#host.toast({ key: 'toast.noWorkspace', level: 'info' })
        return
      }
      const from = ctx.sessions.list.getSnapshot().current
      const editor = bridge.current
      const made = await this.#made({
        workspaceId,
        currentSessionId: from ?? '',
        recentWorkspaceId: ctx.workspaces.list.getSnapshot().recentWorkspaceId ?? '',
        ...(editor?.open ? { openEditor: editor.ref } : {}),
        // It becomes the draft's id, and those are in the order of their making.
        idempotencyKey: this.#unknownKey || uuidv7(),
        text: '',
        agentPresetId: '',
      }, field)
      if (!made) return
      const { draft, waited } = made
      this.#host.revealRow(draft.id)
      const wanted = () => turn === this.#opening
      // Whoever went on meanwhile is asked, not taken away.
      if (waited > 0 && (!wanted() || ctx.sessions.list.getSnapshot().current !== from || this.#host.editedWithin(waited))) {
        this.#host.toast({ key: 'toast.made', level: 'info', action: { key: 'open', run: () => { void this.open(draft.id) } } })
        return
      }
      shown = true
      await this.#show(draft, wanted, focused)
    } catch (error) {
      this.#failed(error)
    } finally {
      if (!shown) field?.focus()
      this.#creating = false
      this.#host.creating(false)
    }
  }

  /**
   * Have a draft made, now or when the plugin is back: with the same key there is one,
   * however often it is asked for.
   * @param {import('./remote.js').Request<'newDraft'>} request
   * @param {HTMLElement | null} field gets the focus back while it takes longer
   * @returns {Promise<{ draft: Draft, waited: number } | undefined>} how long the plugin was away, in milliseconds; undefined: given up
   */
  async #made(request, field) {
    const { call, ready, modes, toast } = this.#host
    let since = 0
    let untold = () => {}
    let cancelled = false
    let cancel = () => {}
    const cancelling = new Promise(resolve => { cancel = () => resolve(cancelled = true) })
    try {
      for (;;) {
        if (ready()) {
          try {
            const draft = await call('newDraft', request)
            this.#unknownKey = ''
            return { draft, waited: since && Date.now() - since }
          } catch (error) {
            const passing = error instanceof RemoteError && error.passing
            this.#unknownKey = passing ? request.idempotencyKey : ''
            if (!passing || (since > 0 && Date.now() - since > backMs)) throw error
          }
        }
        if (since === 0) {
          since = Date.now()
          field?.focus()
          untold = toast({ key: 'toast.waiting', level: 'info', stays: true, action: { key: 'cancel', run: cancel } })
        }
        await new Promise(resolve => setTimeout(resolve, againMs))
        const decided = until(modes, ({ mode }) => mode === 'full' || mode === 'stock', Math.max(0, since + backMs - Date.now()))
        await Promise.race([decided, cancelling])
        if (cancelled || modes.getSnapshot().mode === 'stock') return undefined
        if (!ready() && Date.now() - since > backMs) throw new RemoteError('PAUSED', 'drafts are paused')
      }
    } finally {
      untold()
    }
  }

  /** Show a draft, with a new session when its own is gone. @param {string} draftId @param {Row} [row] */
  open = async (draftId, row) => {
    const turn = ++this.#opening
    const focused = document.activeElement
    const { ctx, call } = this.#host
    // A session that is plainly there is shown at once; the plugin's look at it follows.
    if (row && this.#isThere(row)) ctx.sessions.open(row.sessionId)
    if (!this.#host.ready()) return
    const from = ctx.sessions.list.getSnapshot().current
    // Whoever went on to another session meanwhile stays there.
    const wanted = () => {
      const now = ctx.sessions.list.getSnapshot().current
      return turn === this.#opening && (now === from || !now)
    }
    try {
      const { draft, recreated } = await call('bind', { draftId })
      if (recreated) this.#host.notice({ kind: 'recreated', draftId, title: draft.title || row?.title || '' })
      if (wanted()) await this.#show(draft, wanted, focused)
    } catch (error) {
      if (wanted()) this.#failed(error)
    }
  }

  /** Make sure that a draft has a session in the page's list. @param {string} draftId @returns {Promise<string>} the session */
  prepare = async draftId => {
    const { draft } = await this.#host.call('bind', { draftId })
    if (draft.sessionId === '') throw new RemoteError('SESSION_UNAVAILABLE', draft.lastError)
    await this.#listed(draft.sessionId)
    return draft.sessionId
  }

  /** @param {Row} row */
  #isThere({ sessionId, state }) {
    const sessions = this.#host.ctx.sessions.list.getSnapshot()
    const { items, archivedSessionIds } = this.#host.ctx.workspaces.list.getSnapshot()
    return state === 'ready' && sessions.byId[sessionId] !== undefined
      && items.some(item => item.sessionIds.includes(sessionId)) && !archivedSessionIds.includes(sessionId)
  }

  /**
   * @param {Draft} draft
   * @param {() => boolean} wanted whether the person still waits for it
   * @param {Element | null} focused what had the focus when they asked for it
   */
  async #show(draft, wanted, focused) {
    const { ctx, bridge } = this.#host
    if (draft.state === 'error' || draft.sessionId === '') {
      this.#host.toast({ key: 'toast.noSession', params: { reason: draft.lastError }, level: 'error' })
      return
    }
    bridge.tell(draft.sessionId, draft.id)
    await this.#listed(draft.sessionId)
    if (!wanted()) return
    if (ctx.sessions.list.getSnapshot().current === draft.sessionId) return this.#focus(focused)
    ctx.sessions.open(draft.sessionId)
    this.#focus(focused)
  }

  /** DSH opens only what is in the page's list. @param {string} sessionId */
  async #listed(sessionId) {
    const { sessions, workspaces } = this.#host.ctx
    const there = (/** @type {import('./dsh.js').SessionList} */ list) => list.byId[sessionId] !== undefined
    if (await until(sessions.list, there, refreshMs)) return
    Promise.all([sessions.refresh?.(), workspaces.refresh?.()]).catch(() => { /* The deadline below tells. */ })
    if (!await until(sessions.list, there, listMs)) throw new RemoteError('SESSION_UNAVAILABLE', 'the session did not appear')
  }

  /** The composer gets the focus, unless the person has moved it since. @param {Element | null} before */
  #focus(before) {
    setTimeout(() => {
      const field = this.#host.field()
      const now = document.activeElement
      const free = now === null || now === document.body || (now === before && now.closest('[data-drafts-new], [data-drafts-toast], [data-draft-id]') !== null)
      if (free && field instanceof HTMLTextAreaElement && !field.disabled) field.focus({ preventScroll: true })
    }, 0)
  }

  /** Title and pin stand apart from the text: a draft that is being written can have them changed. @param {Row} row @param {{ title?: string, pinned?: boolean }} change */
  update = ({ draftId, revision }, change) => this.#run(async () => {
    const { call } = this.#host
    for (let expectedRevision = revision, tries = 0; ; tries++) {
      try {
        return await call('update', { draftId, expectedRevision, ...change })
      } catch (error) {
        if (/** @type {RemoteError} */ (error).code !== 'DRAFT_STALE_REVISION' || tries === maxStale) throw error
        expectedRevision = (await call('get', { draftId })).revision
      }
    }
  })

  /** @param {string} draftId */
  duplicate = draftId => this.#run(async () => this.#host.focusRow((await this.#host.call('duplicate', { draftId })).id))

  /** @param {string} workspaceId @param {string[]} draftIds in the wanted order */
  reorder = (workspaceId, draftIds) => this.#run(() => this.#host.call('reorder', { workspaceId, draftIds }))

  /** Into the trash, with a way back. @param {Row} row @param {string} title */
  remove = ({ draftId }, title) => this.#run(async () => {
    this.#host.bridge.release(draftId)
    await this.#host.call('delete', { draftId, expectedRevision: 0 })
    this.#deleted.push({ draftId, title, at: Date.now() })
    this.#offerUndo()
  })

  /** The last deletion can be taken back, and after it the one before. */
  #offerUndo() {
    this.#deleted = this.#deleted.filter(({ at }) => Date.now() - at < undoMs)
    const last = this.#deleted.at(-1)
    if (!last) return
    this.#host.toast({
      key: 'toast.deleted', params: { title: last.title }, level: 'info',
      action: {
        key: 'undo',
        run: () => {
          this.#deleted = this.#deleted.filter(deleted => deleted !== last)
          void this.restore(last.draftId)
          this.#offerUndo()
        },
      },
    })
  }

  /** Out of the trash. @param {string} draftId */
  restore = draftId => this.#run(async () => {
    await this.#host.call('restore', { draftId })
    this.#host.revealRow(draftId)
    this.#host.focusRow(draftId)
  })

  /** What lies in the trash, with the first words of each. */
  deleted = async () => (await this.#host.call('listTrash', { preview: previewCharacters })).entries

  /** Out of the trash; whoever asks tells what went wrong. @param {string} draftId */
  bringBack = async draftId => {
    await this.#host.call('restore', { draftId })
    this.#host.revealRow(draftId)
  }

  /** @param {string} noticeId */
  dismiss = noticeId => this.#host.forget(noticeId)
    ? Promise.resolve(true)
    : this.#run(() => this.#host.call('dismissNotice', { noticeId }))

  /** @param {string} draftId */
  read = draftId => this.#host.call('get', { draftId })

  /** @param {string} draftId @param {string} conflictId @param {boolean} keepAsDraft */
  resolve = (draftId, conflictId, keepAsDraft) => this.#run(async () => {
    await this.#host.call('resolveConflict', { draftId, conflictId, keepAsDraft, take: false })
    await this.#host.bridge.editorOf(draftId)?.elsewhere.resolved(conflictId)
  })

  showElsewhere = () => this.#run(async () => this.#host.bridge.current?.elsewhere.show())

  keepMine = () => this.#run(async () => this.#host.bridge.current?.elsewhere.keepMine())

  dismissElsewhere = () => this.#host.bridge.current?.elsewhere.dismiss()

  /** Start the plugin again after too many crashes. */
  rearm = () => this.#run(() => this.#host.call('rearm', {}))

  /** @param {() => Promise<unknown>} action @returns {Promise<boolean>} whether it succeeded */
  async #run(action) {
    try {
      await action()
      return true
    } catch (error) {
      this.#failed(error)
      return false
    }
  }

  /** @param {unknown} error */
  #failed(error) {
    const { code, message } = /** @type {RemoteError} */ (error)
    this.#host.toast({ key: 'toast.failed', params: { code: code ?? '', reason: message }, level: 'error' })
  }
}

/**
 * @template T
 * @param {import('./dsh.js').Observable<T>} source
 * @param {(value: T) => boolean} test
 * @param {number} ms
 * @returns {Promise<boolean>} whether it came true in that time
 */
function until(source, test, ms) {
  if (test(source.getSnapshot())) return Promise.resolve(true)
  return new Promise(resolve => {
    /** @param {boolean} met */
    const end = met => {
      clearTimeout(timer)
      off()
      resolve(met)
    }
    const timer = setTimeout(() => end(false), ms)
    const off = source.subscribe(() => { if (test(source.getSnapshot())) end(true) })
  })
}
