/**
 * One draft in this page: what is written goes down the line to the plugin, and what
 * was changed elsewhere comes in when nobody is writing. It knows no DOM; the field
 * shows {@link Editor.text} and reports what a person writes with {@link Editor.edit}.
 */
import { Elsewhere } from '../../../../page/elsewhere.js'
import { Line } from '../../../../page/line.js'
import { Timers } from '../../../../page/timers.js'
import { ApiError, asApiError } from '../api.js'
import { uuidv7 } from '../ids.js'

/**
 * @typedef {import('../../types/api.js').Draft} Draft
 * @typedef {import('../../types/api.js').Opened} Opened
 * @typedef {import('../../types/api.js').Saved} Saved
 * @typedef {import('../../types/api.js').NotSaved} NotSaved
 * @typedef {import('../../types/api.js').TextChanged} TextChanged
 * @typedef {import('./unsaved.js').Base} Base
 * @typedef {import('../../types/editor.js').EditorHost} EditorHost
 * @typedef {import('../../types/editor.js').EditorState} EditorState
 * @typedef {import('../../types/editor.js').Start} Start
 */
/** How long a change may wait before the browser's own storage has it, in milliseconds. */
const keepMs = 80
const retryCreateMs = 1_500

export class Editor {
  draftId
  text = ''
  title
  workspaceId
  /** Nothing is forwarded while an input method composes. */
  composing = false
  /** The text was handed to Send and no word has come yet. */
  sending = false

  #host
  #line
  #timers = new Timers()
  /** @type {object | undefined} */
  #creating
  #paused = false
  #disposed = false
  /** It has been open once: the text is the draft's. */
  #known = false
  /** A person changed the text here, and the plugin does not have it yet. */
  #touched = false
  /** The browser's storage has words of it. */
  #kept = false
  /** @type {Base | undefined} */
  #remembered
  #elsewhere

  /** @param {EditorHost} host @param {Start} start */
  constructor(host, { draftId, creating, left, title = '', workspaceId = '' }) {
    this.#host = host
    this.draftId = draftId
    this.title = title
    this.workspaceId = workspaceId
    this.#creating = creating ?? left?.creating
    if (left) {
      this.text = left.text
      this.#remembered = left.base
      this.#touched = true
    }
    this.#known = this.#creating !== undefined || left !== undefined
    this.#line = new Line({
      editorId: host.editorId,
      draftId: () => this.draftId,
      openEditor: request => host.call('open-editor', request),
      edit: edit => host.call('edit', edit),
      flush: draftId => host.call('flush', { draftId }),
      closeEditor: ref => host.call('close-editor', ref),
      failureOf: asApiError,
      current: () => this.composing ? undefined : this.#content,
      reopen: () => { void this.begin() },
      gone: () => this.#gone(),
      changed: () => this.#changed(),
    })
    this.#elsewhere = new Elsewhere({
      line: this.#line, timers: this.#timers,
      get: () => host.call('get', { draftId: this.draftId }),
      take: conflictId => host.call('resolve-conflict', { draftId: this.draftId, conflictId, take: true }),
      notSaved: () => new ApiError('NOT_SAVED', 'what is written here is not saved yet'),
      holds: () => this.#content,
      occupied: () => this.sending || this.composing || host.engaged(this),
      dirty: () => this.dirty,
      live: () => !this.#disposed && this.open,
      write: ({ text }) => {
        this.#write(text)
        return true
      },
      settled: () => {
        this.#touched = false
        this.#remember()
      },
      push: () => this.push(),
      reopen: () => { void this.begin() },
      changed: () => this.#changed(),
    })
    if (this.#touched || this.#creating) this.#keep()
  }

  // ---- what the page asks ----

  /** @returns {EditorState} */
  get state() {
    const { phase, failure } = this.#line
    return {
      save: failure ? 'not_saved' : phase === 'opening' && !this.#touched && !this.#creating ? 'opening' : this.dirty ? 'saving' : 'saved',
      code: failure?.code ?? '',
      message: failure?.message ?? '',
      retrying: failure?.retrying ?? false,
      elsewhere: this.#elsewhere.waiting,
      conflictId: this.#elsewhere.conflictId,
      replaced: this.#elsewhere.replaced,
    }
  }

  get ref() { return this.#line.ref }
  get epoch() { return this.#line.epoch }

  get open() { return this.#line.phase === 'open' }

  /** Whether the field may be written in: not while the draft's text has never been seen and cannot be fetched. */
  get writable() { return !this.sending && (this.#known || this.#line.phase === 'opening') }

  /** The draft does not exist on the host yet. */
  get creating() { return this.#creating !== undefined }

  /** Whether the disk lacks something that was written here. */
  get dirty() { return this.#touched || this.#creating !== undefined || (this.open && (!this.#line.quiet || this.#line.lacks(this.#content))) }

  get base() { return this.#line.base }

  /**
   * What another host put behind the text stays while the text is the same: this page shows none of it.
   * @returns {import('../../../../page/content.js').Content}
   */
  get #content() {
    const { text } = this
    const { base } = this.#line
    return { text, contentJson: text === base.text ? base.contentJson : '' }
  }

  // ---- opening ----

  /** Open the draft, or open it again after the host or its plugin was away. Safe to call at any time. */
  async begin() {
    if (this.#disposed || this.#paused) return
    if (this.#creating && !await this.#create()) return
    const held = this.text
    const asked = this.draftId
    const remembered = this.#remembered
    const opened = await this.#line.begin(this.#content, remembered && { ...remembered, draftId: asked })
    if (opened && !this.#disposed && asked === this.draftId) this.#opened(opened, held, remembered)
  }

  /** @returns {Promise<boolean>} whether the draft exists now */
  async #create() {
    const request = this.#creating
    if (!request) return true
    this.#timers.cancel('create')
    try {
      const draft = await this.#host.call('new', request)
      if (this.#disposed || this.#creating !== request) return false
      this.#creating = undefined
      this.#line.failure = undefined
      this.#host.created(this, draft)
      return true
    } catch (error) {
      if (this.#disposed) return false
      const { code, message, passing } = asApiError(error)
      this.#line.failure = { code, message, retrying: passing }
      if (passing) this.#timers.again('create', retryCreateMs, () => { void this.begin() })
      this.#changed()
      return false
    }
  }

  /** @param {Opened} opened @param {string} held @param {Base | undefined} remembered */
  #opened({ draft, show, conflictId }, held, remembered) {
    const first = !this.#known
    this.#known = true
    this.#elsewhere.opened(draft, conflictId, remembered?.textRevision ?? 0)
    // Emptied by hand while the plugin could not be told, and nothing has changed since.
    const cleared = !first && held === '' && this.#touched && (remembered?.textRevision ?? 1) === draft.textRevision
    if (show !== 'host' && !cleared && !this.#show(draft.text, held)) {
      // Neither text may go: ask again with what is here now.
      this.#line.cut()
      this.#timers.again('open', 0, () => { void this.begin() })
      return
    }
    this.#remember()
    this.push()
  }

  /**
   * The field shows the draft's text. What was typed since it was asked for stays
   * behind it.
   * @param {string} text
   * @param {string} held
   * @returns {boolean} whether the two could be put together
   */
  #show(text, held) {
    if (this.text === held) {
      this.#touched = false
      this.#write(text)
      return true
    }
    this.#touched = true
    if (!this.text.startsWith(held)) return false
    this.#write(text + this.text.slice(held.length))
    return true
  }

  // ---- what is written ----

  /** A person changed the text. @param {string} text */
  edit(text) {
    const whole = text.toWellFormed()
    if (whole === this.text) return this.push()
    this.text = whole
    this.#touched = true
    this.#timers.once('keep', keepMs, () => this.#keep())
    this.push()
  }

  push() {
    if (this.#disposed) return
    this.#line.push()
    this.#changed()
  }

  /** The page is about to go: the browser's storage gets what is not saved, now. */
  keepNow() {
    if (this.dirty) this.#keep()
  }

  #keep() {
    this.#timers.cancel('keep')
    if (this.#disposed || !this.dirty) return
    this.#kept = true
    this.#host.unsaved.write({
      draftId: this.draftId, text: this.text, at: Date.now(), title: this.title, workspaceId: this.workspaceId,
      ...this.#remembered ? { base: this.#remembered } : {},
      ...this.#creating ? { creating: this.#creating } : {},
    })
  }

  // ---- what the plugin tells ----

  /** @param {Saved} saved */
  onSaved(saved) {
    if (saved.draftId !== this.draftId || !this.#line.onSaved(saved)) return
    this.#remember()
    if (saved.newDraftId !== '') return this.#become(saved.newDraftId)
    this.#elsewhere.saved(saved.conflictId)
    this.#changed()
  }

  /** The plugin put late words into a new draft: this is its editor from now on. @param {string} newDraftId */
  #become(newDraftId) {
    const oldId = this.draftId
    this.#line.close()
    this.#host.unsaved.forget(oldId)
    this.draftId = newDraftId
    this.#elsewhere.forget()
    this.#keep()
    this.#host.becameDraft(this, oldId)
    void this.begin()
  }

  /** @param {NotSaved} failed */
  onNotSaved(failed) {
    if (failed.draftId !== this.draftId) return
    this.#line.onNotSaved(failed)
    this.#changed()
  }

  /** @param {TextChanged} change */
  onTextChanged(change) {
    const known = change.editorId === this.#host.editorId || change.textRevision <= this.base.textRevision
    if (known && !change.replaced) return
    const nothingElse = !change.replaced && !this.#elsewhere.waiting && this.#elsewhere.conflictId === ''
    if (nothingElse && change.text === this.text && this.#line.quiet) {
      // Only what another host put behind the same text has changed.
      this.#line.takeOver(change)
      this.#remember()
    } else {
      this.#elsewhere.told(change)
    }
    this.#changed()
  }

  // ---- what the person decides ----

  /** @returns {Pick<Elsewhere, 'show' | 'keepMine' | 'dismiss' | 'resolved' | 'look'>} */
  get elsewhere() {
    return this.#elsewhere
  }

  /** The file was replaced by one without the draft: what is held here becomes a draft of its own. @returns {boolean} whether there is anything */
  rescue() {
    if (this.text.trim() === '') return false
    this.#line.resend()
    return true
  }

  /** Wait until the disk has everything, or five seconds. @returns {Promise<boolean>} whether it has */
  async settle() {
    const settled = await this.#line.settle()
    this.#changed()
    return settled && !this.dirty
  }

  // ---- the page around it ----

  /** It is on screen: a change from elsewhere may go in before anyone writes. */
  activate() {
    if (this.#line.phase === 'closed') void this.begin()
    this.#elsewhere.take()
  }

  /** Another draft is shown. */
  leave() {
    this.#line.flush()
  }

  /** The host or the plugin is away: what is written stays here and in the browser's storage. */
  pause() {
    // What was accepted and is not on disk went with the plugin.
    if (this.dirty) this.#touched = true
    this.#paused = true
    this.#timers.cancel('create')
    this.#line.cut()
    this.#keep()
    this.#changed()
  }

  resume() {
    this.#paused = false
    return this.begin()
  }

  /** @param {{ close: boolean, keep?: boolean }} how close: tell the plugin; keep: leave the browser's copy where it is */
  dispose({ close, keep = false }) {
    if (this.#disposed) return
    this.#disposed = true
    this.#timers.clear()
    if (close) this.#line.close()
    else this.#line.cut()
    if (!keep) this.#host.unsaved.forget(this.draftId)
  }

  #gone() {
    if (!this.#touched) return this.#host.gone(this)
    // Sent or deleted while this page was away, with words that nobody else has: they become a draft of their own.
    const oldId = this.draftId
    this.#host.unsaved.forget(oldId)
    this.draftId = uuidv7()
    this.#creating = { workspaceId: this.workspaceId, idempotencyKey: this.draftId }
    this.#remembered = undefined
    this.#elsewhere.forget()
    this.#keep()
    this.#host.becameDraft(this, oldId)
    void this.begin()
  }

  /** @param {string} text */
  #write(text) {
    if (text === this.text) return
    this.text = text
    this.#host.wrote(this)
  }

  #remember() {
    const { textRevision, hash } = this.base
    this.#remembered = { textRevision, hash, editorId: this.#host.editorId }
  }

  #changed() {
    if (this.#disposed) return
    if (this.open && !this.#line.lacks(this.#content)) this.#touched = false
    if (this.#kept && this.open && !this.dirty) {
      this.#kept = false
      this.#timers.cancel('keep')
      this.#host.unsaved.forget(this.draftId)
    }
    this.#host.changed(this)
  }
}
