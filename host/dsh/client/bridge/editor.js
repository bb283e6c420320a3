/**
 * One draft in one composer: what is written here goes down the line to the plugin,
 * and what was changed elsewhere comes in when nobody is writing.
 *
 * The editor decides nothing about drafts. What it does decide is whether a change of
 * the composer is an edit: a composer that DSH emptied by itself is none (taken.js).
 */
import { emptyContent, same } from '../../../page/content.js'
import { Elsewhere } from '../../../page/elsewhere.js'
import { Line } from '../../../page/line.js'
import { Timers } from '../../../page/timers.js'
import { RemoteError } from '../remote.js'
import { Taken } from './taken.js'
import { behind } from './unseen.js'

/**
 * @typedef {import('./projection.js').Projection} Projection
 * @typedef {import('./composer.js').ComposerView} ComposerView
 * @typedef {import('../remote.js').Answer<'openEditor'>} Opened
 * @typedef {import('../../wire/types.js').Message<'Saved'>} Saved
 * @typedef {import('../../wire/types.js').Message<'NotSaved'>} NotSaved
 * @typedef {import('../../wire/types.js').Message<'TextChanged'>} TextChanged
 * @typedef {import('./types.js').EditorState} EditorState
 * @typedef {import('./types.js').EditorHost} EditorHost
 * @typedef {import('./types.js').ComposerFace} ComposerFace
 */
const pollMs = 500

export class Editor {
  draftId
  sessionId

  #host
  #composer
  #line
  #taken
  #timers = new Timers()
  #paused = false
  #disposed = false
  /** @type {ComposerView} */
  #last
  #writing = false
  /** A person changed the text here, and the plugin does not have it yet. */
  #touched = false
  /** The composer is empty because a person emptied it. */
  #handEmptied = false
  /** What the composer holds was written while the draft's text could not be shown. */
  #unseen
  #elsewhere
  #unsubscribe

  /**
   * @param {EditorHost} host
   * @param {ComposerFace} composer
   * @param {string} draftId
   * @param {string} sessionId
   */
  constructor(host, composer, draftId, sessionId) {
    this.#host = host
    this.#composer = composer
    this.draftId = draftId
    this.sessionId = sessionId
    this.#unseen = host.unseen === true
    this.#last = composer.read()
    this.#line = new Line({
      editorId: host.editorId, draftId: () => draftId,
      openEditor: request => host.call('openEditor', request),
      edit: edit => host.call('edit', edit),
      flush: id => host.call('flush', { draftId: id }),
      closeEditor: ref => host.call('closeEditor', ref),
      failureOf: error => error instanceof RemoteError ? error : new RemoteError('OPERATION_UNKNOWN', String(error)),
      current: () => this.#taken.sending ? undefined : this.#current(),
      reopen: () => { void this.begin() },
      gone: () => host.gone(this),
      changed: () => this.#changed(),
    })
    this.#taken = new Taken({
      timers: this.#timers,
      standing: () => host.standing(this),
      editedWithin: ms => host.editedWithin(ms),
      picked: raw => {
        const target = host.pickedTarget(this, raw)
        return target === sessionId ? undefined : target
      },
      moved: (held, target) => host.moved(this, held, target),
      restore: taken => this.#restore(taken),
      resume: () => this.#push(),
    })
    this.#elsewhere = new Elsewhere({
      line: this.#line, timers: this.#timers,
      get: () => host.call('get', { draftId }),
      take: conflictId => host.call('resolveConflict', { draftId, conflictId, keepAsDraft: false, take: true }),
      notSaved: () => new RemoteError('NOT_SAVED', 'what is written here is not saved yet'),
      holds: () => this.#last,
      occupied: () => host.engaged() || this.#taken.sending !== undefined || this.#taken.held !== undefined || this.#last.phase !== 'plain',
      dirty: () => this.dirty,
      live: () => !this.#disposed && this.open,
      write: ({ text, contentJson }) => this.#write({ text, contentJson }),
      settled: () => {
        this.#touched = false
        this.#remember()
      },
      push: () => this.#push(),
      reopen: () => { void this.begin() },
      changed: () => this.#changed(),
    })
    this.#unsubscribe = composer.subscribe(() => this.#composerChanged())
  }

  // ---- what the page asks ----

  /** @returns {EditorState} */
  get state() {
    const { phase, failure, quiet } = this.#line
    const pending = !quiet || (!this.#taken.sending && this.#line.lacks(this.#current()))
    return {
      save: failure ? 'not_saved' : phase === 'opening' && !this.#touched ? 'opening' : pending ? 'saving' : 'saved',
      code: failure?.code ?? '',
      message: failure?.message ?? '',
      retrying: failure?.retrying ?? false,
      dirty: this.dirty,
      images: this.#last.images > 0,
      elsewhere: this.#elsewhere.waiting,
      conflictId: this.#elsewhere.conflictId,
      replaced: this.#elsewhere.replaced,
    }
  }

  get ref() {
    return this.#line.ref
  }

  get epoch() {
    return this.#line.epoch
  }

  get open() {
    return this.#line.phase === 'open'
  }

  /** Neither open nor about to be. */
  get closed() {
    return this.#line.phase === 'closed'
  }

  /** Whether the plugin lacks something that was written here. */
  get dirty() {
    return this.#touched || (this.open && !this.#taken.sending && this.#line.lacks(this.#current()))
  }

  /** Text that was handed to DSH and of which no word has come yet. */
  get sending() {
    return this.#taken.sending
  }

  /** The text that is on disk as far as this page knows, and where it stands. */
  get base() {
    return this.#line.base
  }

  lastEdit() {
    return this.#line.lastEdit()
  }

  // ---- opening ----

  /** Open the draft, or after a restart of the plugin open it again. Safe to call at any time. */
  async begin() {
    if (this.#disposed || this.#paused) return
    if (this.#host.standing(this) === 'converting' || this.#host.composing()) {
      // It is being sent: either it goes, or it is a draft again and can be opened. And
      // an input method is at work: a text that is put in now would spoil its word.
      this.#timers.again('open', pollMs, () => { void this.begin() })
      return
    }
    const held = this.#unseen ? emptyContent : this.#current()
    const remembered = this.#host.bases.read(this.sessionId)
    const opened = await this.#line.begin(held, remembered)
    if (opened && !this.#disposed) this.#opened(opened, held, remembered?.textRevision)
  }

  /**
   * @param {Opened} opened
   * @param {Projection} held what the composer held when it was asked
   * @param {number | undefined} remembered the text revision that it was based on
   */
  #opened({ draft, show, conflictId }, held, remembered) {
    if (this.#composer.read().phase === 'plain') this.#taken.forget()
    this.#elsewhere.opened(draft, conflictId, remembered ?? 0)
    // Emptied by hand while the plugin could not be told, and nothing has changed since.
    const cleared = this.#handEmptied && held.text === '' && remembered === draft.textRevision
    if (show !== 'host' && !cleared && !this.#show(draft, held)) {
      // Neither text may go: ask again with what is there then.
      this.#line.cut()
      this.#timers.again('open', this.#host.composing() ? pollMs : 0, () => { void this.begin() })
      return
    }
    this.#unseen = false
    this.#remember()
    this.#push()
  }

  /**
   * Put the draft's text into the composer that held `held` when the draft was opened.
   * What was typed behind it since then stays behind the draft's text.
   * @param {Projection} record
   * @param {Projection} held
   */
  #show({ text, contentJson }, held) {
    const now = this.#composer.read()
    if (same(now, held)) {
      if (this.#host.composing() && !same(now, { text, contentJson })) return false
      this.#write({ text, contentJson })
      return true
    }
    this.#touched = true
    if (!now.text.startsWith(held.text) || this.#host.composing()) return false
    const typed = now.text.slice(held.text.length)
    this.#write({ text: this.#unseen ? behind(text, typed) : text + typed, contentJson })
    return true
  }

  // ---- what is written ----

  /** @returns {Projection} */
  #current() {
    const { text, contentJson } = this.#taken.held ?? this.#composer.read()
    return { text, contentJson }
  }

  #composerChanged() {
    if (this.#disposed) return
    const before = this.#last
    const now = this.#composer.read()
    this.#last = now
    if (before.images !== now.images) this.#changed()
    if (this.#writing || this.#taken.watch(before, now)) return
    if (same(before, now)) {
      // Back to plain after a claim: a waiting change may go in now.
      if (before.phase !== now.phase) this.#elsewhere.take()
      return
    }
    this.#touched = true
    this.#handEmptied = now.text === ''
    this.#push()
  }

  #push() {
    this.#line.push()
    this.#changed()
  }

  /** Put back what DSH took away, before what was typed since. @param {Projection} taken */
  #restore({ text, contentJson }) {
    const typed = this.#composer.read().text
    if (typed !== '') this.#touched = true
    this.#write({ text: text + typed, contentJson })
    this.#push()
  }

  /** The move that DSH's picker asked for did not happen. */
  moveFailed() {
    this.#taken.giveBack()
  }

  // ---- what the plugin tells ----

  /** @param {Saved} saved */
  onSaved(saved) {
    if (!this.#line.onSaved(saved)) return
    if (saved.newDraftId === '') this.#remember()
    else this.#host.becameDraft(this, saved.newDraftId)
    this.#elsewhere.saved(saved.conflictId)
    this.#changed()
  }

  /** @param {NotSaved} failed */
  onNotSaved(failed) {
    this.#line.onNotSaved(failed)
    this.#changed()
  }

  /** @param {TextChanged} change */
  onTextChanged(change) {
    const known = change.editorId === this.#host.editorId || change.textRevision <= this.base.textRevision
    if (known && !change.replaced) return
    if (this.#taken.command && change.text === '') {
      // The plugin takes the command's line out of the draft. What was typed since is an edit of that.
      this.#line.takeOver({ ...emptyContent, textRevision: change.textRevision, textHash: change.textHash })
      this.#remember()
      return
    }
    this.#elsewhere.told(change)
    this.#changed()
  }

  // ---- what the person decides ----

  /** @returns {Omit<Elsewhere, 'told' | 'saved' | 'opened' | 'take'>} */
  get elsewhere() {
    return this.#elsewhere
  }

  /** Wait until the plugin has everything on disk, or five seconds. */
  async settle() {
    await this.#line.settle()
    this.#changed()
  }

  /** The file was replaced by one without the draft: what is held here becomes a draft of its own. */
  rescue() {
    if (this.#current().text.trim() === '') return false
    this.#line.resend()
    return true
  }

  // ---- the page around it ----

  /** The composer is on screen again: a change from elsewhere may go in before anyone writes. */
  activate() {
    this.#last = this.#composer.read()
    if (this.closed) void this.begin()
    this.#elsewhere.take()
    this.#changed()
  }

  /** Another session is shown. */
  leave() {
    this.#line.flush()
  }

  /** The plugin is down: nothing is forwarded, and what is written stays in the composer. */
  pause() {
    this.#paused = true
    // What was accepted and is not on disk went with the plugin.
    if (this.open && !this.#taken.sending && (!this.#line.quiet || this.#line.lacks(this.#current()))) this.#touched = true
    this.#timers.cancel('open')
    this.#line.cut()
    this.#changed()
  }

  resume() {
    this.#paused = false
  }

  /** @param {{ close: boolean }} how close: tell the plugin as well */
  dispose({ close }) {
    if (this.#disposed) return
    this.#disposed = true
    this.#unsubscribe()
    this.#timers.clear()
    if (close) this.#line.close()
    else this.#line.cut()
  }

  /** @param {Projection} text */
  #write(text) {
    this.#writing = true
    try {
      return this.#composer.write(text)
    } finally {
      this.#last = this.#composer.read()
      this.#writing = false
    }
  }

  #remember() {
    const { textRevision, hash } = this.base
    this.#host.bases.write(this.sessionId, { draftId: this.draftId, textRevision, hash, editorId: this.#host.editorId })
  }

  #changed() {
    if (this.#disposed) return
    if (this.open && !this.#line.lacks(this.#current())) this.#touched = false
    this.#host.changed(this)
  }
}
