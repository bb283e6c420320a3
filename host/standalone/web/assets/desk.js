/** The editors of the drafts that were opened in this page, and which one is on screen. */
import { Editor } from './editor/editor.js'
import { rowOf } from './model.js'

/**
 * @typedef {import('./model.js').Model} Model
 * @typedef {import('./editor/unsaved.js').Unsaved} Unsaved
 * @typedef {import('./editor/unsaved.js').Left} Left
 * @typedef {import('../types/api.js').Draft} Draft
 * @typedef {import('../types/api.js').Removed} Removed
 */
/**
 * @typedef {object} DeskHost
 * @property {import('./api.js').Call} call
 * @property {string} editorId
 * @property {Unsaved} unsaved
 * @property {() => Model} model
 * @property {() => boolean} ready whether the plugin can be called
 * @property {() => boolean} atField whether the window and the draft's field have the focus
 * @property {(editor: Editor) => void} changed
 * @property {(editor: Editor) => void} wrote
 * @property {(editor: Editor, draft: Draft) => void} created
 * @property {(editor: Editor, oldId: string) => void} became
 * @property {(editor: Editor, how: { reason: 'sent' | 'deleted' | 'gone', sessionId: string, mine: boolean }) => void} left the draft is gone, and its editor with it
 */

/** Editors that are kept open after their draft was left. */
const maxEditors = 24
/** How long after the last click or key a focused field counts as being written in, in milliseconds. */
const quietMs = 30_000
/** Words may come so long after the last key to a draft that was sent or deleted elsewhere, in milliseconds. */
const lateMs = 3_000
const pollMs = 300

export class Desk {
  /** By draft. @type {Map<string, Editor>} */
  editors = new Map()
  /** @type {Editor | undefined} */
  shown

  #host
  #lastEdit = -Infinity
  #lastGesture = -Infinity
  /** Drafts that this page itself sends away. @type {Set<string>} */
  #released = new Set()

  /** @param {DeskHost} host */
  constructor(host) {
    this.#host = host
  }

  // ---- who is at the field ----

  edited() {
    this.#lastEdit = this.#lastGesture = performance.now()
  }

  gesture() {
    this.#lastGesture = performance.now()
  }

  /** @param {Editor} editor */
  #engaged(editor) {
    if (editor !== this.shown) return false
    return editor.composing || (this.#host.atField() && performance.now() - this.#lastGesture <= quietMs)
  }

  /** @param {Editor} editor */
  #isWritten(editor) {
    return editor.dirty || editor.composing || (editor === this.shown && performance.now() - this.#lastEdit <= lateMs)
  }

  // ---- which draft ----

  /**
   * Show a draft. With `creating` it is made first.
   * @param {string} draftId
   * @param {object} [creating]
   * @returns {Editor}
   */
  show(draftId, creating) {
    const before = this.shown
    let editor = this.editors.get(draftId)
    if (editor && editor === before) return editor
    this.#lastEdit = this.#lastGesture = -Infinity
    before?.leave()
    editor ??= this.#make({ draftId, ...creating ? { creating } : {} })
    this.shown = editor
    // The one that was used last is the last to go.
    this.editors.delete(draftId)
    this.editors.set(draftId, editor)
    this.#trim()
    if (this.#host.ready()) editor.activate()
    else editor.pause()
    return editor
  }

  leave() {
    this.shown?.leave()
    this.shown = undefined
  }

  /** @param {{ draftId: string, creating?: object, left?: import('./editor/unsaved.js').Entry }} start */
  #make(start) {
    const row = rowOf(this.#host.model(), start.draftId)
    const { call, editorId, unsaved, changed, wrote, created, became } = this.#host
    const editor = new Editor({
      call, editorId, unsaved, changed, wrote, created,
      engaged: one => this.#engaged(one),
      becameDraft: (one, oldId) => {
        if (this.editors.get(oldId) === one) this.editors.delete(oldId)
        this.editors.set(one.draftId, one)
        became(one, oldId)
      },
      gone: one => this.#drop(one, { reason: 'gone', sessionId: '' }),
    }, {
      ...start,
      title: row?.title ?? start.left?.title ?? '',
      workspaceId: row?.workspaceId ?? /** @type {{ workspaceId?: string } | undefined} */ (start.creating)?.workspaceId ?? start.left?.workspaceId ?? '',
    })
    this.editors.set(start.draftId, editor)
    return editor
  }

  #trim() {
    for (const [draftId, editor] of this.editors) {
      if (this.editors.size <= maxEditors) return
      if (editor === this.shown || editor.dirty) continue
      editor.dispose({ close: true })
      this.editors.delete(draftId)
    }
  }

  // ---- the host and the plugin come and go ----

  pause() {
    for (const editor of this.editors.values()) editor.pause()
  }

  resume() {
    for (const editor of this.editors.values()) void editor.resume()
  }

  /** A plugin that was started anew knows no opening. @param {string} epoch */
  epoch(epoch) {
    for (const editor of this.editors.values()) if (!editor.open || editor.epoch !== epoch) void editor.resume()
  }

  // ---- what pages that are gone left behind ----

  /** @param {readonly Left[]} left oldest first */
  async rescue(left) {
    const { call, unsaved } = this.#host
    const newest = new Map(left.map(one => [one.entry.draftId, one]))
    for (const one of left) {
      const { editorId, entry } = one
      if (newest.get(entry.draftId) === one && !this.editors.get(entry.draftId)?.dirty) {
        const known = this.editors.get(entry.draftId)
        known?.dispose({ close: true })
        const editor = this.#make({ draftId: entry.draftId, left: entry })
        if (this.shown === known && known) this.shown = editor
        unsaved.remove(editorId, entry.draftId)
        this.#host.wrote(editor)
        void editor.begin()
        continue
      }
      // Two pages left words for one draft: the plugin keeps the older ones beside it.
      try {
        await call('open-editor', {
          draftId: entry.draftId, editorId, hostText: entry.text, baseDraftId: entry.base ? entry.draftId : '',
          baseTextRevision: entry.base?.textRevision ?? 0, baseHash: entry.base?.hash ?? '', baseEditorId: entry.base?.editorId ?? '',
        })
        await call('flush', { draftId: entry.draftId })
        unsaved.remove(editorId, entry.draftId)
      } catch {
        // It stays in the browser for the next start of the page.
      }
    }
  }

  // ---- what the plugin tells ----

  /** @param {string} name @param {any} data */
  onEvent(name, data) {
    if (name === 'removed') return this.#removed(data)
    const editor = this.editors.get(data.draftId)
    if (!editor) return
    if (name === 'saved') editor.onSaved(data)
    else if (name === 'not_saved') editor.onNotSaved(data)
    else if (name === 'text_changed') editor.onTextChanged(data)
  }

  /** The rows changed: another page may have decided about a copy. */
  look() {
    for (const editor of this.editors.values()) {
      const row = rowOf(this.#host.model(), editor.draftId)
      // It is asked again with the next change of the row.
      if (row && editor.open) editor.elsewhere.look(row).catch(() => {})
    }
  }

  /** This page itself is about to send or delete it: what is written there goes with it. @param {string} draftId */
  release(draftId) {
    this.#released.add(draftId)
  }

  /** It was not sent or deleted after all. @param {string} draftId */
  keep(draftId) {
    this.#released.delete(draftId)
  }

  /** @param {Removed} removed */
  #removed({ draftId, reason, sessionId }) {
    const editor = this.editors.get(draftId)
    if (!editor) return
    if (reason === 'lost') {
      // Nobody took it away: its text stays here, and in the plugin it becomes a draft again.
      if (!editor.open || !editor.rescue()) this.#drop(editor, { reason: 'gone', sessionId: '' })
      return
    }
    const how = { reason, sessionId }
    if (this.#released.has(draftId) || editor.sending || !this.#isWritten(editor)) return this.#drop(editor, how)
    // What somebody is still writing becomes a new draft in the plugin.
    const poll = () => {
      if (this.editors.get(draftId) !== editor) return
      if (this.#isWritten(editor)) setTimeout(poll, pollMs)
      else this.#drop(editor, how)
    }
    setTimeout(poll, pollMs)
  }

  /** @param {Editor} editor @param {{ reason: 'sent' | 'deleted' | 'gone', sessionId: string }} how */
  #drop(editor, how) {
    const mine = this.#released.delete(editor.draftId) || editor.sending
    editor.dispose({ close: false })
    if (this.editors.get(editor.draftId) === editor) this.editors.delete(editor.draftId)
    this.#host.left(editor, { ...how, mine })
    if (this.shown === editor) this.shown = undefined
  }

  /** The page is about to go. */
  keepNow() {
    for (const editor of this.editors.values()) editor.keepNow()
  }
}
