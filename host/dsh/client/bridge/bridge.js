/**
 * Which draft is in which composer. Whenever the session on screen belongs to a
 * draft, also after a reload without a click, its editor is opened; editors of drafts
 * that were left stay open, each bound to its own session's composer, so nothing that
 * is written can reach another draft.
 */
import { composerOf } from './composer.js'
import { Editor } from './editor.js'
import { livesElsewhere, textHash } from './leftovers.js'

/**
 * @typedef {import('../dsh.js').Context} Context
 * @typedef {import('../remote.js').Call} Call
 * @typedef {import('../../wire/types.js').Sidebar} Sidebar
 * @typedef {import('../../wire/types.js').PushedEvent} PushedEvent
 * @typedef {import('./types.js').EditorState} EditorState
 * @typedef {import('./projection.js').Projection} Projection
 */
/**
 * @typedef {object} BridgeHost
 * @property {Pick<Context, 'sessions' | 'workspaces' | 'get'>} ctx
 * @property {Call} call
 * @property {import('./base.js').Bases} bases
 * @property {import('./activity.js').Activity} activity
 * @property {string} editorId
 * @property {() => Sidebar | undefined} sidebar
 * @property {Pick<import('./unseen.js').Unseen, 'look' | 'take'>} unseen
 * @property {(raw: string) => string | undefined} pickedSession the session that DSH's picker has just connected, if its composer holds this text
 * @property {Pick<import('../moves.js').OwnMoves, 'begin' | 'failed'>} moves
 * @property {(states: Record<string, EditorState>, shownDraftId: string | undefined) => void} publish
 * @property {(draftId: string) => Promise<string>} prepare makes sure that the draft has a session in the page's list, and tells it
 * @property {(message: string) => void} report
 */

/** Editors that are kept open after their draft was left. */
const maxEditors = 40
/** DSH restores a composer when it mounts; where that cannot be seen it is waited for, in milliseconds. */
const mountMs = 300
const missingMs = 1_000
/** Words may come so long after the last key to a draft that was sent or deleted elsewhere, in milliseconds. */
const lateMs = 3_000
const pollMs = 500

export class Bridge {
  #host
  /** By session. @type {Map<string, Editor>} */
  #editors = new Map()
  /** Bindings that an answer told before the sidebar does: session to draft. @type {Map<string, string>} */
  #told = new Map()
  /** Editors whose draft was sent or deleted elsewhere while somebody writes in them. @type {Set<Editor>} */
  #late = new Set()
  /** Of those, the ones that are being taken to their new draft. @type {WeakSet<Editor>} */
  #successors = new WeakSet()
  /** @type {Set<string>} */
  #released = new Set()
  /** @type {string | undefined} */
  #shown
  #mounted = ''
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #mountTimer
  #unsubscribe = () => {}
  #running = false

  /** @param {BridgeHost} host */
  constructor(host) {
    this.#host = host
  }

  start() {
    if (this.#running) return
    this.#running = true
    for (const editor of this.#editors.values()) editor.resume()
    this.#unsubscribe()
    this.#unsubscribe = this.#host.ctx.sessions.list.subscribe(() => this.#sessionsChanged())
    this.#shown = undefined
    this.#sessionsChanged()
    // What was written while the plugin was down, or accepted and not yet saved when
    // it ended, is saved now, shown or not.
    for (const editor of this.#editors.values()) if (editor.closed) void editor.begin()
  }

  /** The plugin is down: texts stay in their composers. */
  pause() {
    this.#running = false
    for (const editor of this.#editors.values()) editor.pause()
  }

  dispose() {
    this.#running = false
    this.#unsubscribe()
    clearTimeout(this.#mountTimer)
    for (const editor of this.#editors.values()) editor.dispose({ close: true })
    this.#editors.clear()
  }

  /** @returns {Editor | undefined} the editor of the draft on screen */
  get current() { return this.#shown === undefined ? undefined : this.#editors.get(this.#shown) }

  /** @param {string} draftId */
  editorOf(draftId) {
    return [...this.#editors.values()].find(editor => editor.draftId === draftId)
  }

  /** DSH has mounted a session's composer and has put its own stored text into it. @param {string} sessionId */
  mounted(sessionId) {
    this.#mounted = sessionId
    clearTimeout(this.#mountTimer)
    if (!this.#running && !this.#editors.has(sessionId)) this.#host.unseen.look(sessionId)
    if (sessionId === this.#shown) this.#evaluate()
  }

  /** A session's composer is in the page and nobody has written in it yet. @param {string} sessionId */
  appeared(sessionId) {
    if (this.#running && this.#draftOf(sessionId) !== undefined) this.#host.activity.caretToEnd()
  }

  /** A draft's session as an answer told it; the sidebar follows. @param {string} sessionId @param {string} draftId */
  tell(sessionId, draftId) {
    if (sessionId === '') return
    this.#told.set(sessionId, draftId)
    this.#evaluate()
  }

  /** This page itself is about to delete the draft: whatever was just written there goes with it. @param {string} draftId */
  release(draftId) {
    this.#released.add(draftId)
  }

  // ---- which draft ----

  #sessionsChanged() {
    const { current } = this.#host.ctx.sessions.list.getSnapshot()
    if (current === this.#shown) return
    const left = this.current
    this.#shown = current
    this.#host.activity.switched()
    left?.leave()
    if (!this.#running) return
    clearTimeout(this.#mountTimer)
    if (current !== undefined && current !== this.#mounted) {
      this.#mountTimer = setTimeout(() => this.mounted(current), mountMs)
    } else {
      this.#evaluate()
    }
    this.#publish()
  }

  /** @param {string} sessionId */
  #draftOf(sessionId) {
    return this.#host.sidebar()?.rows.find(row => row.sessionId === sessionId)?.draftId ?? this.#told.get(sessionId)
  }

  #evaluate() {
    const sessionId = this.#shown
    if (!this.#running || sessionId === undefined || sessionId !== this.#mounted || !this.#host.sidebar()) return
    const draftId = this.#draftOf(sessionId)
    const editor = this.#editors.get(sessionId)
    if (draftId === undefined) {
      if (!editor) void this.#clearLeftover(sessionId)
      return
    }
    if (editor && editor.draftId === draftId) return editor.activate()
    if (editor) this.#drop(editor, true)
    this.#open(draftId, sessionId)
  }

  /** @param {string} draftId @param {string} sessionId */
  #open(draftId, sessionId) {
    const composer = composerOf(this.#host.ctx, sessionId)
    if (!composer) return undefined
    const { call, bases, editorId, activity } = this.#host
    const editor = new Editor({
      call, bases, editorId, unseen: this.#host.unseen.take(sessionId),
      engaged: () => this.#shown === sessionId && activity.engaged,
      composing: () => this.#shown === sessionId && activity.composing,
      editedWithin: ms => this.#shown === sessionId && activity.editedWithin(ms),
      changed: () => this.#publish(),
      pickedTarget: (_, raw) => this.#host.pickedSession(raw),
      moved: (moving, held, target) => { void this.#move(moving, held, target) },
      becameDraft: (late, newDraftId) => { void this.#became(late, newDraftId) },
      gone: lost => {
        this.#told.delete(lost.sessionId)
        this.#drop(lost, false)
        void this.#clearLeftover(lost.sessionId)
      },
      standing: asked => this.#standing(asked),
    }, composer, draftId, sessionId)
    this.#editors.set(sessionId, editor)
    this.#trim()
    void editor.begin()
    return editor
  }

  /** @param {Editor} editor @param {boolean} close */
  #drop(editor, close) {
    editor.dispose({ close })
    this.#late.delete(editor)
    if (this.#editors.get(editor.sessionId) === editor) this.#editors.delete(editor.sessionId)
    this.#publish()
  }

  #trim() {
    for (const [sessionId, editor] of this.#editors) {
      if (this.#editors.size <= maxEditors) return
      if (sessionId !== this.#shown && !editor.dirty) this.#drop(editor, true)
    }
  }

  /** @param {Editor} editor @returns {'blank' | 'converting' | 'started'} */
  #standing({ sessionId, draftId }) {
    const row = this.#host.sidebar()?.rows.find(candidate => candidate.draftId === draftId)
    if (row?.state === 'converting') return 'converting'
    return this.#host.ctx.sessions.list.getSnapshot().byId[sessionId]?.blank === false ? 'started' : 'blank'
  }

  // ---- what the plugin tells ----

  /** @param {PushedEvent} event */
  onEvent(event) {
    if (event.kind === 'sidebar') return this.#sidebarChanged(event.value)
    if (event.kind === 'removed') return this.#removed(event.value)
    for (const editor of [...this.#editors.values()]) {
      if (editor.draftId !== event.value.draftId) continue
      if (event.kind === 'saved') editor.onSaved(event.value)
      else if (event.kind === 'notSaved') editor.onNotSaved(event.value)
      else editor.onTextChanged(event.value)
    }
  }

  /** @param {Sidebar} sidebar */
  #sidebarChanged({ rows, epoch }) {
    for (const row of rows) if (this.#told.get(row.sessionId) !== undefined) this.#told.delete(row.sessionId)
    const sessionOf = new Map(rows.map(row => [row.draftId, row.sessionId]))
    for (const editor of [...this.#editors.values()]) {
      const sessionId = sessionOf.get(editor.draftId)
      if (this.#told.get(editor.sessionId) === editor.draftId) continue
      if (sessionId !== undefined && sessionId !== editor.sessionId) {
        // Moved, detached or recreated: the text is under another session now.
        this.#drop(editor, true)
        void this.#clearLeftover(editor.sessionId)
      } else if (sessionId !== undefined && editor.open && editor.epoch !== epoch) {
        void editor.begin()
      } else if (sessionId === undefined) {
        this.#missing(editor)
      }
      const row = rows.find(({ draftId }) => draftId === editor.draftId)
      if (row) editor.elsewhere.look(row).catch(error => this.#host.report(error.message))
    }
    this.#evaluate()
  }

  /** The sidebar no longer shows the draft: the word that it was removed comes with it, or was missed. @param {Editor} editor */
  #missing(editor) {
    setTimeout(() => {
      const sidebar = this.#host.sidebar()
      const known = this.#editors.get(editor.sessionId) === editor && !this.#late.has(editor)
      if (!known || !sidebar || (sidebar.storage?.code ?? '') !== '') return
      if (sidebar.rows.some(row => row.draftId === editor.draftId) || this.#told.get(editor.sessionId) === editor.draftId) return
      this.#drop(editor, false)
      void this.#clearLeftover(editor.sessionId)
    }, missingMs)
  }

  /** @param {import('../../wire/types.js').Message<'Removed'>} removed */
  #removed({ draftId, sessionId, reason }) {
    for (const [told, id] of this.#told) if (id === draftId) this.#told.delete(told)
    for (const editor of [...this.#editors.values()]) {
      if (editor.draftId !== draftId) continue
      // Nobody took it away: its text stays here, and in the plugin it becomes a draft again.
      if (reason === 'lost' && editor.open && editor.rescue()) this.#late.add(editor)
      else if (reason === 'lost') this.#drop(editor, false)
      else if (editor.sending || this.#released.has(draftId) || !this.#isWritten(editor)) this.#gone(editor)
      else this.#lateEdits(editor)
    }
    this.#released.delete(draftId)
    if (sessionId === this.#shown) this.#evaluate()
  }

  /** The draft left with the text of its composer. @param {Editor} editor */
  #gone(editor) {
    const { sending, sessionId } = editor
    const savedText = editor.base.text
    this.#drop(editor, false)
    const text = composerOf(this.#host.ctx, sessionId)?.read().text ?? ''
    // Only what went with the draft goes: words that were typed since are the person's.
    if (text !== '' && (text === sending?.text || text === savedText)) this.#clear(sessionId)
    this.#host.bases.forget(sessionId)
  }

  // ---- words that come too late ----

  /** @param {Editor} editor */
  #isWritten(editor) {
    const { activity } = this.#host
    return editor.dirty || (editor.sessionId === this.#shown && (activity.composing || activity.editedWithin(lateMs)))
  }

  /** What somebody is still writing for a draft that is gone becomes a new draft in the plugin. @param {Editor} editor */
  #lateEdits(editor) {
    this.#late.add(editor)
    const poll = () => {
      if (!this.#late.has(editor)) return
      if (this.#isWritten(editor) || this.#successors.has(editor)) setTimeout(poll, pollMs)
      else this.#gone(editor)
    }
    setTimeout(poll, pollMs)
  }

  /** The plugin put late words into a new draft: its session gets them, and is shown. @param {Editor} late @param {string} newDraftId */
  async #became(late, newDraftId) {
    if (this.#successors.has(late)) return
    this.#successors.add(late)
    const { ctx, bases, prepare, report } = this.#host
    try {
      const sessionId = await prepare(newDraftId)
      await late.settle()
      const from = composerOf(ctx, late.sessionId)
      const to = composerOf(ctx, sessionId)
      if (!from || !to || this.#editors.get(late.sessionId) !== late) return
      const { text, contentJson } = from.read()
      if (to.read().text === '' && to.write({ text, contentJson })) {
        const { textRevision, hash } = late.base
        bases.write(sessionId, { draftId: newDraftId, textRevision, hash, editorId: this.#host.editorId })
      }
      this.#drop(late, true)
      this.#clear(late.sessionId)
      this.tell(sessionId, newDraftId)
      if (this.#shown === late.sessionId) this.#host.activity.keepCaret(() => ctx.sessions.open(sessionId))
    } catch (error) {
      // The row is there with what was saved; the next saved word tries again.
      report(/** @type {Error} */ (error).message)
    } finally {
      this.#successors.delete(late)
    }
  }

  // ---- texts that went elsewhere ----

  /** @param {string} sessionId */
  async #clearLeftover(sessionId) {
    const base = this.#host.bases.read(sessionId)
    const sidebar = this.#host.sidebar()
    // A file that cannot be read shows no drafts either: that proves nothing.
    if (!base || !sidebar || (sidebar.storage?.code ?? '') !== '') return
    const text = composerOf(this.#host.ctx, sessionId)?.read().text
    if (text === undefined) return
    if (text === '') return this.#host.bases.forget(sessionId)
    if (await textHash(text) !== base.hash) return
    const blank = this.#host.ctx.sessions.list.getSnapshot().byId[sessionId]?.blank !== false
    if (!await livesElsewhere(this.#host.call, base, { sessionId, blank })) return
    if (this.#draftOf(sessionId) !== undefined || composerOf(this.#host.ctx, sessionId)?.read().text !== text) return
    this.#clear(sessionId)
  }

  /** @param {string} sessionId */
  #clear(sessionId) {
    if (composerOf(this.#host.ctx, sessionId)?.write({ text: '', contentJson: '' })) this.#host.bases.forget(sessionId)
  }

  /** DSH's picker took the draft's text to another workspace's session: the draft goes with it. @param {Editor} editor @param {Projection} held @param {string} target */
  async #move(editor, held, target) {
    const { ctx, call, bases, moves } = this.#host
    const { draftId, sessionId } = editor
    const workspaceId = ctx.workspaces.list.getSnapshot().items.find(item => item.sessionIds.includes(target))?.workspaceId
    const composer = composerOf(ctx, target)
    try {
      if (workspaceId === undefined || !composer) throw new Error('the session is in no workspace')
      // DSH moves what is seen; the references behind it come from here.
      composer.write(held)
      const base = bases.read(sessionId)
      if (base) bases.write(target, base)
      moves.begin(draftId)
      await call('move', { draftId, workspaceId, sessionId: target })
    } catch (error) {
      moves.failed(draftId)
      if (composer?.read().text === held.text) composer.write({ text: '', contentJson: '' })
      bases.forget(target)
      editor.moveFailed()
      if (ctx.sessions.list.getSnapshot().byId[sessionId]) ctx.sessions.open(sessionId)
      this.#host.report(/** @type {Error} */ (error).message)
      return
    }
    bases.forget(sessionId)
    this.#drop(editor, true)
    this.tell(target, draftId)
  }

  // ---- the end of the page ----

  /** @returns {import('../remote.js').Request<'edit'>[]} what closing the page would lose */
  lastEdits() {
    return [...this.#editors.values()].map(editor => editor.lastEdit()).filter(edit => edit !== undefined)
  }

  #publish() {
    /** @type {Record<string, EditorState>} */
    const states = {}
    for (const editor of this.#editors.values()) states[editor.draftId] = editor.state
    this.#host.publish(states, this.current?.draftId)
  }
}
