/** What a person can do. Each calls the host; its events show the outcome. */
import { ApiError, asApiError, drafts, post, request, sessionPath } from './api.js'
import { uuidv7 } from './ids.js'
import { applyEvent } from './model.js'

/**
 * @typedef {import('./app.js').App} App
 * @typedef {import('./editor/editor.js').Editor} Editor
 * @typedef {import('../types/api.js').Draft} Draft
 * @typedef {import('../types/api.js').Row} Row
 * @typedef {import('../types/api.js').Session} Session
 * @typedef {import('../types/api.js').Submission} Submission
 */

const maxStale = 5
const againMs = 700
/** How long a send is repeated while there is no connection, in milliseconds. */
const sendPatienceMs = 60_000

export class Actions {
  #app
  /** Takes back what was deleted last. @type {(() => void) | undefined} */
  #undo
  /** Prompts on their way, by session: one at a time. @type {Set<string>} */
  sending = new Set()
  /** Sessions whose turn was asked to stop. @type {Set<string>} */
  stopping = new Set()
  /** A row that shall get the keyboard focus once it is there. @type {(key: string) => void} */
  focusRow = () => {}

  /** @param {App} app */
  constructor(app) {
    this.#app = app
  }

  /** @param {() => Promise<unknown>} action @returns {Promise<boolean>} whether it succeeded */
  async #run(action) {
    try {
      await action()
      return true
    } catch (error) {
      this.#app.fail(asApiError(error))
      return false
    }
  }

  // ---- drafts ----

  /** A new draft, on screen at once. It is made on the host as soon as that can be reached. @param {string} [workspaceId] */
  newDraft = (workspaceId = '') => {
    const app = this.#app
    const { workspaces } = app.model.state
    const wanted = workspaceId || app.session?.workspaceId || app.recentWorkspace
    const workspace = workspaces.find(({ id }) => id === wanted) ?? workspaces[0]
    if (!workspace) {
      app.toast(app.t('toast.noWorkspace'))
      return
    }
    if (app.closed.has(workspace.id)) app.fold(workspace.id)
    // It becomes the draft's id, and those are in the order of their making.
    const id = uuidv7()
    const open = app.desk.shown
    app.select({ kind: 'draft', id }, {
      focus: true,
      creating: { workspaceId: workspace.id, idempotencyKey: id, ...open?.open ? { openEditor: open.ref } : {} },
    })
  }

  /** @param {Draft} draft */
  created(draft) {
    const app = this.#app
    if (draft.state === 'error' || draft.sessionId === '') {
      app.toast(app.t('toast.noSession', { why: draft.lastError }), { level: 'error' })
    } else void app.learn(draft.sessionId)
  }

  /** Make sure that a draft that is opened has a live session. @param {string} draftId */
  async bind(draftId) {
    const app = this.#app
    if (!app.ready || app.desk.editors.get(draftId)?.creating) return
    try {
      const { draft, recreated } = await drafts('bind', { draftId })
      if (recreated) app.toast(app.t('notice.recreated', { title: draft.title || app.row(draftId)?.title || app.t('empty') }), { kind: 'recreated' })
      this.created(draft)
    } catch (error) {
      const { code, passing } = asApiError(error)
      if (!passing && code !== 'DRAFT_NOT_FOUND' && code !== 'OPERATION_CONFLICT') app.fail(error)
    }
  }

  /** The rows changed: the session of the draft on screen may be another one. */
  sidebarChanged() {
    const { selection } = this.#app
    const sessionId = selection.kind === 'draft' ? this.#app.row(selection.id)?.sessionId : undefined
    if (sessionId) void this.#app.learn(sessionId)
  }

  /** A draft that was open here is gone. @param {Editor} editor @param {{ reason: string, sessionId: string, mine: boolean }} how */
  left(editor, { reason, sessionId, mine }) {
    const app = this.#app
    if (app.selection.kind !== 'draft' || app.selection.id !== editor.draftId) return
    if (reason === 'sent' && sessionId !== '') {
      app.select({ kind: 'session', id: sessionId }, { focus: app.atField() || mine })
      if (!mine) app.toast(app.t('toast.sentElsewhere'))
    } else {
      app.select({ kind: 'none' }, { focus: app.atField() })
      if (!mine) app.toast(app.t('toast.deletedElsewhere'))
    }
  }

  /** Title and pin stand apart from the text: a draft that is being written can have them changed. @param {string} draftId @param {{ title?: string, pinned?: boolean }} change */
  update = (draftId, change) => this.#run(async () => {
    for (let expectedRevision = this.#app.row(draftId)?.revision ?? 0, tries = 0; ; tries++) {
      try {
        return await drafts('update', { draftId, expectedRevision, ...change })
      } catch (error) {
        if (asApiError(error).code !== 'DRAFT_STALE_REVISION' || tries === maxStale) throw error
        expectedRevision = (await drafts('get', { draftId })).revision
      }
    }
  })

  /** @param {string} draftId */
  duplicate = draftId => this.#run(async () => {
    await this.#app.desk.editors.get(draftId)?.settle()
    this.focusRow(`d:${(await drafts('duplicate', { draftId })).id}`)
  })

  /** @param {string} workspaceId @param {string[]} draftIds in the wanted order */
  reorder = (workspaceId, draftIds) => this.#run(async () => {
    applyEvent(this.#app.model, 'sidebar', await drafts('reorder', { workspaceId, draftIds }))
    this.#app.changed()
  })

  /** @param {string} draftId @param {string} workspaceId */
  move = (draftId, workspaceId) => this.#run(async () => {
    await this.#app.desk.editors.get(draftId)?.settle()
    await drafts('move', { draftId, workspaceId })
  })

  /** Into the trash, with a way back. @param {string} draftId @param {string} title */
  remove = (draftId, title) => {
    const { desk, t } = this.#app
    desk.release(draftId)
    return this.#run(async () => {
      try {
        const editor = desk.editors.get(draftId)
        if (editor?.dirty) await editor.settle()
        await drafts('delete', { draftId, expectedRevision: 0 })
      } catch (error) {
        desk.keep(draftId)
        throw error
      }
      this.#undoable(t('toast.deleted', { title }), () => { void this.restore(draftId) })
    })
  }

  /** Out of the trash. @param {string} draftId */
  restore = draftId => this.#run(async () => {
    await drafts('restore', { draftId })
    this.focusRow(`d:${draftId}`)
  })

  /** @param {string} text @param {() => void} run */
  #undoable(text, run) {
    const app = this.#app
    const once = () => {
      this.#undo = undefined
      app.endToast(toast)
      run()
    }
    const toast = app.toast(text, { action: { label: app.t('undo'), run: once } })
    this.#undo = once
  }

  /** Take the last deletion back, also when it is offered no more. @returns {boolean} whether there was one */
  undo = () => {
    const undo = this.#undo
    undo?.()
    return undo !== undefined
  }

  /** @param {string} draftId @param {string} conflictId @param {{ keepAsDraft?: boolean, take?: boolean }} how */
  resolve = (draftId, conflictId, how) => this.#run(async () => {
    await this.#app.desk.editors.get(draftId)?.settle()
    await drafts('resolve-conflict', { draftId, conflictId, ...how })
    await this.#app.desk.editors.get(draftId)?.elsewhere.resolved(conflictId)
  })

  showElsewhere = () => this.#run(async () => this.#app.desk.shown?.elsewhere.show())

  keepMine = () => this.#run(async () => this.#app.desk.shown?.elsewhere.keepMine())

  dismissElsewhere = () => this.#app.desk.shown?.elsewhere.dismiss()

  /** @param {string} noticeId */
  dismiss = noticeId => this.#run(() => drafts('dismiss-notice', { noticeId }))

  // ---- sending ----

  /** Send the draft on screen: what is seen here is sent. What another window wrote meanwhile is kept as a copy, which stays as a draft. */
  sendDraft = async () => {
    const app = this.#app
    const editor = app.desk.shown
    if (!editor || editor.sending || editor.composing || editor.text.trim() === '') return
    const { draftId } = editor
    editor.sending = true
    app.changed()
    try {
      const submission = await this.#sendSeen(editor)
      app.desk.release(draftId)
      if (app.selection.kind === 'draft' && app.selection.id === draftId) app.select({ kind: 'session', id: submission.sessionId }, { focus: true })
    } catch (error) {
      app.fail(asApiError(error))
    } finally {
      editor.sending = false
      app.changed()
    }
  }

  /** @param {Editor} editor @returns {Promise<Submission>} */
  async #sendSeen(editor) {
    for (let tries = 0; ; tries++) {
      if (editor.creating || !await editor.settle()) throw new ApiError('NOT_SAVED', '')
      if (editor.state.elsewhere) await editor.elsewhere.keepMine()
      const { draftId, base } = editor
      try {
        return await this.#insist(submissionId => post('/api/drafts/send', { draftId, submissionId, expectedTextRevision: base.textRevision }))
      } catch (error) {
        // Nothing was sent: another window wrote between two words of this one.
        if (asApiError(error).code !== 'DRAFT_STALE_REVISION' || tries === maxStale) throw error
        await editor.elsewhere.keepMine()
      }
    }
  }

  /** @param {string} sessionId @param {string} text @returns {Promise<boolean>} whether it was taken */
  prompt = async (sessionId, text) => {
    if (this.sending.has(sessionId) || text.trim() === '') return false
    this.sending.add(sessionId)
    this.#app.changed()
    const done = await this.#run(() => this.#insist(submissionId => post(`${sessionPath(sessionId)}/prompts`, { submissionId, text })))
    this.sending.delete(sessionId)
    this.#app.changed()
    return done
  }

  /**
   * The same id never runs twice, so a request whose answer did not come is repeated.
   * @param {(submissionId: string) => Promise<Submission>} send
   */
  async #insist(send) {
    const submissionId = uuidv7()
    for (const end = Date.now() + sendPatienceMs; ;) {
      try {
        return await send(submissionId)
      } catch (error) {
        if (!asApiError(error).passing || Date.now() > end) throw error
        await new Promise(resolve => setTimeout(resolve, againMs))
      }
    }
  }

  /** @param {string} sessionId */
  stop = async sessionId => {
    this.stopping.add(sessionId)
    this.#app.changed()
    await this.#run(() => post(`${sessionPath(sessionId)}/cancel`))
    this.stopping.delete(sessionId)
    this.#app.changed()
  }

  /** @param {string} sessionId @param {string} requestId @param {string} optionId */
  answer = (sessionId, requestId, optionId) => this.#run(async () => {
    try {
      await post(`${sessionPath(sessionId)}/permissions/${encodeURIComponent(requestId)}`, { optionId })
    } catch (error) {
      // Answered in another window meanwhile: its event shows how.
      if (asApiError(error).code !== 'not-found') throw error
    }
  })

  // ---- sessions ----

  /** @param {string} sessionId @param {{ title?: string, agentPresetId?: string, model?: string, permission?: string }} change */
  change = (sessionId, change) => this.#run(async () => this.#session(await request('PATCH', sessionPath(sessionId), change)))

  /** @param {Session} session */
  #session(session) {
    applyEvent(this.#app.model, 'session', session)
    this.#app.changed()
  }

  /** @param {Session} session @param {string} title @param {'archive' | 'trash'} how */
  putAway = ({ id }, title, how) => this.#run(async () => {
    const { t, selection } = this.#app
    this.#session(await post(`${sessionPath(id)}/${how}`))
    if (selection.kind === 'session' && selection.id === id) this.#app.select({ kind: 'none' })
    this.#undoable(t(how === 'archive' ? 'toast.archived' : 'toast.deleted', { title }), () => { void this.bringBack(id, how === 'archive' ? 'restore' : 'untrash') })
  })

  /** @param {string} id @param {'restore' | 'untrash'} how */
  bringBack = (id, how) => this.#run(async () => {
    this.#session(await post(`${sessionPath(id)}/${how}`))
    this.focusRow(`s:${id}`)
  })

  // ---- workspaces ----

  /** @param {string} path */
  addWorkspace = path => this.#run(async () => {
    const workspace = await post('/api/workspaces', { path })
    const { state } = this.#app.model
    if (!state.workspaces.some(({ id }) => id === workspace.id)) applyEvent(this.#app.model, 'workspaces', { workspaces: [workspace, ...state.workspaces] })
    this.#app.recentWorkspace = workspace.id
    this.#app.changed()
  })

  /** @param {string} id @param {string} name */
  renameWorkspace = (id, name) => this.#run(() => request('PATCH', `/api/workspaces/${encodeURIComponent(id)}`, { name }))

  /** @param {string} id @param {string} name */
  removeWorkspace = (id, name) => this.#run(async () => {
    await request('DELETE', `/api/workspaces/${encodeURIComponent(id)}`)
    this.#app.toast(this.#app.t('toast.removed', { title: name }))
  })

  /** @param {string} id @param {-1 | 1} by */
  moveWorkspace = (id, by) => this.#run(async () => {
    const ids = this.#app.model.state.workspaces.map(workspace => workspace.id)
    const from = ids.indexOf(id)
    if (ids[from + by] === undefined) return
    ids.splice(from, 1)
    ids.splice(from + by, 0, id)
    await request('PUT', '/api/workspaces/order', { ids })
  })
}
