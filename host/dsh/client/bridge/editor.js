/**
 * One draft in one composer. The editor opens the draft in the plugin, forwards what
 * is written, one call in flight and the newest wins, and takes changes from
 * elsewhere when nobody is writing.
 *
 * It decides nothing about drafts. What it does decide is whether a change of the
 * composer is an edit: a composer that DSH emptied by itself (after Send, for a
 * command, for its workspace picker) is none.
 */
import { RemoteError } from '../remote.js'
import { quietMs } from './activity.js'
import { emptyProjection, same, tooLarge } from './projection.js'

/**
 * @typedef {import('./projection.js').Projection} Projection
 * @typedef {import('./composer.js').ComposerView} ComposerView
 * @typedef {import('../remote.js').Answer<'openEditor'>} Opened
 * @typedef {import('../../wire/types.js').Message<'Saved'>} Saved
 * @typedef {import('../../wire/types.js').Message<'NotSaved'>} NotSaved
 * @typedef {import('../../wire/types.js').Message<'TextChanged'>} TextChanged
 * @typedef {{ read(): ComposerView, write(wanted: Projection): boolean, subscribe(listener: () => void): () => void }} ComposerFace
 */
/**
 * @typedef {object} EditorState What the page shows of an editor.
 * @property {'opening' | 'saved' | 'saving' | 'not_saved'} save
 * @property {string} code why it is not saved, else ''
 * @property {string} message
 * @property {boolean} retrying
 * @property {boolean} images the composer holds images, which are not kept yet
 * @property {boolean} elsewhere the draft was changed elsewhere and the composer shows the older text
 * @property {string} conflictId the conflict copy that holds this editor's text, else ''
 */
/**
 * @typedef {object} EditorHost What an editor needs of the page around it.
 * @property {import('../remote.js').Call} call
 * @property {import('./base.js').Bases} bases
 * @property {string} editorId one for each page load
 * @property {() => boolean} shown whether this session's composer is the one on screen
 * @property {(ms: number) => boolean} editedWithin
 * @property {() => boolean} composing
 * @property {(editor: Editor) => void} changed
 * @property {(editor: Editor, raw: string) => string | undefined} pickedTarget the session into whose composer DSH's workspace picker has just moved this text
 * @property {(editor: Editor, held: Projection, target: string) => void} moved
 * @property {(editor: Editor, draftId: string) => void} becameDraft
 * @property {(editor: Editor) => void} gone
 * @property {(editor: Editor) => 'blank' | 'converting' | 'started'} standing of the session and its row
 */

const retryMs = [500, 1_000, 2_000, 5_000, 10_000]
/** How long a command may take to show whether it started a turn, in milliseconds. */
const commandSettleMs = 3_000
/** After this long without any sign of it a send is taken to have come to nothing, in milliseconds. */
const sendSettleMs = 8_000
/** How long a host may leave a composer empty before its text is put back, in milliseconds. */
const emptiedMs = 600
/** A composer that becomes empty this long after a keystroke was emptied by hand, in milliseconds. */
const handMs = 1_000
const pollMs = 500

export class Editor {
  draftId
  sessionId
  epoch = ''
  generation = 0

  #host
  #composer
  /** @type {'closed' | 'opening' | 'open'} */
  #phase = 'closed'
  #paused = false
  #disposed = false
  #attempt = 0
  #failures = 0
  #seq = 0
  #savedSeq = -1
  /** @type {ComposerView} */
  #last
  /** What the draft holds as far as this page knows, and under which text revision. */
  #base = { ...emptyProjection, textRevision: 0, hash: '' }
  /** What the plugin has accepted from this editor. @type {Projection | undefined} */
  #accepted
  /** @type {(Projection & { seq: number }) | undefined} */
  #inFlight
  /** Accepted and not yet on disk, oldest first. @type {(Projection & { seq: number })[]} */
  #unsaved = []
  /** A person changed the text here, and the plugin does not have it yet. */
  #touched = false
  /** @type {TextChanged | undefined} */
  #elsewhere
  /** The text that DSH is sending, or has just taken away by itself. @type {{ text: Projection, command: boolean, emptiedAt: number } | undefined} */
  #sending
  /** @type {Projection | undefined} */
  #held
  #conflictId = ''
  /** @type {{ code: string, message: string, retrying: boolean } | undefined} */
  #failure
  #writing = false
  /** @type {Map<string, ReturnType<typeof setTimeout>>} */
  #timers = new Map()
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
    this.#last = composer.read()
    this.#unsubscribe = composer.subscribe(() => this.#composerChanged())
  }

  // ---- what the page asks ----

  /** @returns {EditorState} */
  get state() {
    const pending = this.#phase !== 'open' || this.#inFlight !== undefined || this.#unsaved.length > 0
      || (!this.#sending && this.#isDirty())
    const failed = this.#failure
    return {
      save: failed ? 'not_saved' : this.#phase === 'opening' && !this.#touched ? 'opening' : pending ? 'saving' : 'saved',
      code: failed?.code ?? '',
      message: failed?.message ?? '',
      retrying: failed?.retrying ?? false,
      images: this.#last.images > 0,
      elsewhere: this.#elsewhere !== undefined,
      conflictId: this.#conflictId,
    }
  }

  get ref() {
    return { draftId: this.draftId, editorId: this.#host.editorId, generation: this.generation }
  }

  get open() {
    return this.#phase === 'open'
  }

  /** Whether the plugin lacks something that was written here. */
  get dirty() {
    return this.#touched || (this.#phase === 'open' && !this.#sending && this.#isDirty())
  }

  /** Text that was handed to the host and for which no word has come yet. */
  get sending() {
    return this.#sending?.text
  }

  /** The text that is on disk as far as this page knows. */
  get savedText() {
    return this.#base.text
  }

  /** @returns {import('../remote.js').Request<'edit'> | undefined} the edit that closing the page would lose */
  lastEdit() {
    if (this.#phase !== 'open' || this.#sending || !this.#isDirty()) return undefined
    return this.#edit(++this.#seq, this.#current())
  }

  // ---- opening ----

  /** Open (or, after a restart of the plugin, re-open) the draft. Safe to call at any time. */
  async begin() {
    if (this.#disposed || this.#paused) return
    if (this.#host.standing(this) === 'converting') {
      // It is being sent: either it goes, or it is a draft again and can be opened.
      this.#again('open', pollMs, () => this.begin())
      return
    }
    const attempt = ++this.#attempt
    const host = pick(this.#current())
    const base = this.#host.bases.read(this.sessionId)
    this.#phase = 'opening'
    this.#inFlight = undefined
    this.#unsaved = []
    this.#changed()
    try {
      const opened = await this.#host.call('openEditor', {
        draftId: this.draftId,
        editorId: this.#host.editorId,
        // An empty composer tells nothing: DSH makes composers anew.
        ...(host.text === '' ? {} : { hostText: host.text }),
        hostContentJson: host.contentJson,
        baseTextRevision: base?.textRevision ?? 0,
        baseHash: base?.hash ?? '',
        baseDraftId: base?.draftId ?? '',
      })
      if (attempt === this.#attempt && !this.#disposed) this.#opened(opened, host, base)
    } catch (error) {
      if (attempt === this.#attempt && !this.#disposed) this.#openingFailed(error)
    }
  }

  /**
   * @param {Opened} opened
   * @param {Projection} host what the composer held when it was asked
   * @param {import('./base.js').Base | undefined} base
   */
  #opened({ epoch, generation, draft, show, conflictId }, host, base) {
    this.epoch = epoch
    this.generation = generation
    this.#seq = 0
    this.#savedSeq = -1
    this.#failures = 0
    this.#failure = undefined
    this.#phase = 'open'
    if (this.#composer.read().phase === 'plain') this.#sending = undefined
    this.#conflictId = conflictId || this.#conflictId
    if (this.#elsewhere && this.#elsewhere.textRevision <= draft.textRevision) this.#elsewhere = undefined
    const record = { text: draft.text, contentJson: draft.contentJson }
    this.#base = { ...record, textRevision: draft.textRevision, hash: draft.textHash }
    if (show === 'host') {
      this.#accepted = host
      if (!same(host, record)) this.#unsaved.push({ ...host, seq: 0 })
      else this.#remember()
    } else {
      this.#accepted = record
      const cleared = this.#touched && host.text.trim() === '' && base?.textRevision === draft.textRevision
      // Emptied by hand while the plugin could not be told, and nothing has changed since.
      if (!cleared) this.#show(record, host)
      this.#remember()
    }
    this.#pump()
    this.#changed()
  }

  /**
   * Put the draft's text into the composer that held `host` when the draft was opened.
   * What was typed behind it since then stays behind the draft's text.
   * @param {Projection} record
   * @param {Projection} host
   */
  #show(record, host) {
    const now = this.#composer.read()
    if (same(now, host)) {
      this.#write(record)
    } else if (now.text.startsWith(host.text)) {
      this.#touched = true
      this.#write({ text: record.text + now.text.slice(host.text.length), contentJson: record.contentJson })
    } else {
      // Neither text may go: ask again with what is there now.
      this.#touched = true
      this.#again('open', 0, () => this.begin())
    }
  }

  /** @param {unknown} error */
  #openingFailed(error) {
    this.#phase = 'closed'
    const { code, message, passing } = asRemote(error)
    if (code === 'DRAFT_NOT_FOUND') return this.#host.gone(this)
    this.#failure = { code, message, retrying: true }
    // A draft that is being sent, or a plugin that is being restarted: both pass.
    if (passing || code === 'OPERATION_CONFLICT' || code.startsWith('DRAFT_STORAGE')) {
      this.#again('open', retryMs[Math.min(this.#failures++, retryMs.length - 1)], () => this.begin())
    }
    this.#changed()
  }

  // ---- what is written ----

  #current() {
    return this.#held ?? this.#composer.read()
  }

  #isDirty() {
    return this.#accepted === undefined || !same(this.#current(), this.#accepted)
  }

  #composerChanged() {
    if (this.#disposed) return
    const before = this.#last
    const now = this.#composer.read()
    this.#last = now
    if (before.images !== now.images) this.#changed()
    if (this.#writing) return
    const busy = now.phase === 'submitting' || now.phase === 'adjudicating'
    if (busy && !this.#sending) {
      this.#sending = { text: pick(before), command: before.text.trimStart().startsWith('/'), emptiedAt: 0 }
    }
    if (busy) return
    if (this.#sending) return this.#afterSubmit(before, now)
    if (same(before, now)) {
      // Back to plain after a claim, or only images changed: a waiting change may go in now.
      if (before.phase !== now.phase) this.#takeElsewhere()
      return
    }
    if (now.text === '' && before.text !== '' && this.#emptiedByHost(before)) return
    if (this.#held) return
    this.#touched = true
    this.#pump()
    this.#changed()
  }

  #pump() {
    if (this.#phase !== 'open' || this.#paused || this.#inFlight || this.#sending) return
    const now = pick(this.#current())
    if (this.#accepted && same(now, this.#accepted)) {
      this.#touched = false
      return
    }
    if (tooLarge(now.text)) {
      this.#failure = { code: 'TEXT_TOO_LARGE', message: '', retrying: false }
      return
    }
    const seq = ++this.#seq
    const { generation } = this
    this.#inFlight = { ...now, seq }
    this.#host.call('edit', this.#edit(seq, now)).then(
      () => { if (this.#concerns(generation, seq)) this.#acceptedEdit(now, seq) },
      error => { if (this.#concerns(generation, seq)) this.#editFailed(error) },
    )
  }

  /** @param {number} generation @param {number} seq */
  #concerns(generation, seq) {
    return !this.#disposed && this.#phase === 'open' && generation === this.generation && this.#inFlight?.seq === seq
  }

  /** @param {number} seq @param {Projection} now */
  #edit(seq, { text, contentJson }) {
    return { ...this.ref, seq, text, contentJson, baseTextRevision: this.#base.textRevision, epoch: this.epoch }
  }

  /** @param {Projection} now @param {number} seq */
  #acceptedEdit(now, seq) {
    this.#inFlight = undefined
    this.#accepted = now
    this.#failures = 0
    this.#failure = undefined
    // The saved event comes on another connection and may have been faster.
    if (seq > this.#savedSeq) this.#unsaved.push({ ...now, seq })
    this.#pump()
    this.#changed()
  }

  /** @param {unknown} error */
  #editFailed(error) {
    this.#inFlight = undefined
    const { code, message, passing } = asRemote(error)
    this.#failure = { code, message, retrying: passing }
    if (code === 'OPERATION_UNKNOWN') {
      this.#again('open', retryMs[Math.min(this.#failures++, retryMs.length - 1)], () => this.begin())
    } else if (passing || code.startsWith('DRAFT_STORAGE') || code === 'OPERATION_CONFLICT') {
      this.#again('pump', retryMs[Math.min(this.#failures++, retryMs.length - 1)], () => this.#pump())
    }
    this.#changed()
  }

  // ---- a composer that DSH emptied ----

  /** @param {ComposerView} before @param {ComposerView} now */
  #afterSubmit(before, now) {
    const sending = this.#sending
    if (!sending) return
    if (sending.emptiedAt === 0 && now.text === sending.text.text) {
      // Rejected: DSH gave the text back, and the draft never changed.
      this.#sending = undefined
      this.#pump()
      this.#changed()
      return
    }
    if (sending.emptiedAt === 0) sending.emptiedAt = Date.now()
    // What is typed while the outcome is open stays in the composer.
    if (!same(before, now)) this.#touched = true
    this.#again('settle', pollMs, () => this.#settle())
  }

  #settle() {
    const sending = this.#sending
    if (!sending) return
    const waited = Date.now() - sending.emptiedAt
    const standing = this.#host.standing(this)
    if (standing === 'blank' && sending.command && waited >= commandSettleMs) {
      // The command did something and started nothing: its line was the draft's text no longer.
      this.#sending = undefined
      this.#touched = true
      this.#pump()
      this.#changed()
    } else if (standing === 'blank' && !sending.command && waited >= sendSettleMs) {
      // The host took the text and lost it (it was killed): the draft still has it.
      this.#sending = undefined
      this.#restore(sending.text)
    } else {
      this.#again('settle', pollMs, () => this.#settle())
    }
  }

  /** @param {ComposerView} before @returns {boolean} whether it was DSH, and no edit */
  #emptiedByHost(before) {
    const held = pick(before)
    const target = this.#host.pickedTarget(this, before.raw)
    if (target !== undefined && target !== this.sessionId) {
      this.#held = held
      this.#host.moved(this, held, target)
      return true
    }
    // A command picked from its menu takes its own line away: that line was the text.
    if (this.#host.editedWithin(handMs) || held.text.trimStart().startsWith('/')) return false
    this.#held = held
    this.#again('emptied', emptiedMs, () => {
      this.#held = undefined
      this.#restore(held)
    })
    return true
  }

  /** Put back what DSH took away, before what was typed since. @param {Projection} taken */
  #restore(taken) {
    const typed = this.#composer.read().text
    if (typed !== '') this.#touched = true
    this.#write({ text: taken.text + typed, contentJson: taken.contentJson })
    this.#pump()
    this.#changed()
  }

  /** The move did not happen: the text is in this composer again. @param {Projection} held */
  moveFailed(held) {
    this.#held = undefined
    this.#restore(held)
  }

  // ---- what the plugin tells ----

  /** @param {Saved} saved */
  onSaved({ editorId, generation, seq, textRevision, textHash, conflictId, newDraftId }) {
    if (editorId !== this.#host.editorId || generation !== this.generation || this.#phase !== 'open') return
    if (newDraftId !== '') return this.#host.becameDraft(this, newDraftId)
    const written = this.#unsaved.find(entry => entry.seq === seq) ?? (this.#inFlight?.seq === seq ? this.#inFlight : undefined)
    this.#unsaved = this.#unsaved.filter(entry => entry.seq > seq)
    this.#savedSeq = Math.max(this.#savedSeq, seq)
    if (this.#failure && this.#failure.code !== 'TEXT_TOO_LARGE') this.#failure = undefined
    if (conflictId !== '') {
      this.#conflictId = conflictId
    } else if (written && textRevision >= this.#base.textRevision) {
      this.#base = { text: written.text, contentJson: written.contentJson, textRevision, hash: textHash }
      if (this.#elsewhere && this.#elsewhere.textRevision <= textRevision) this.#elsewhere = undefined
      this.#remember()
    }
    this.#takeElsewhere()
    this.#changed()
  }

  /** @param {NotSaved} failed */
  onNotSaved({ editorId, generation, code, message, retrying }) {
    if (editorId !== this.#host.editorId || generation !== this.generation) return
    this.#failure = { code, message, retrying }
    this.#changed()
  }

  /** @param {TextChanged} change */
  onTextChanged(change) {
    if (change.editorId === this.#host.editorId || change.textRevision <= this.#base.textRevision) return
    if (this.#sending?.command && change.text === '') {
      // The plugin takes the command's line out of the draft. What was typed since is an edit of that.
      this.#base = { ...emptyProjection, textRevision: change.textRevision, hash: change.textHash }
      this.#accepted = emptyProjection
      this.#remember()
      return
    }
    this.#elsewhere = change
    this.#takeElsewhere()
    this.#changed()
  }

  /** Whether nobody is writing here and the composer holds exactly what was saved. */
  #atRest() {
    const writing = this.#host.shown() && (this.#host.editedWithin(quietMs) || this.#host.composing())
    return !writing && this.#phase === 'open' && !this.#inFlight && !this.#sending && !this.#held
      && this.#unsaved.length === 0 && this.#last.phase === 'plain' && same(this.#last, this.#base)
  }

  #takeElsewhere() {
    const change = this.#elsewhere
    if (!change) return
    const text = { text: change.text, contentJson: change.contentJson }
    const agreed = this.#phase === 'open' && !this.#inFlight && this.#unsaved.length === 0 && same(this.#last, text)
    if (agreed || this.#atRest()) {
      this.#adopt(change, text)
    } else {
      this.#again('elsewhere', pollMs, () => {
        this.#takeElsewhere()
        this.#changed()
      })
    }
  }

  /** @param {{ textRevision: number, textHash: string }} change @param {Projection} text */
  #adopt({ textRevision, textHash }, text) {
    if (!this.#write(text)) return
    this.#elsewhere = undefined
    this.#conflictId = ''
    this.#accepted = text
    this.#touched = false
    this.#base = { ...text, textRevision, hash: textHash }
    this.#remember()
  }

  // ---- what the person decides ----

  /** Show the text that the draft has now. What was written here is kept by the plugin. */
  async showDraft() {
    await this.settle()
    if (this.dirty) throw new RemoteError('NOT_SAVED', 'what is written here is not saved yet')
    const draft = await this.#host.call('get', { draftId: this.draftId })
    if (this.#disposed || this.#phase !== 'open') return
    this.#adopt(draft, { text: draft.text, contentJson: draft.contentJson })
    this.#changed()
  }

  /** Make the text of this composer the draft's; the one that it had is kept as a copy. */
  async keepMine() {
    if (this.#conflictId === '') {
      // Sent on its old base, the text becomes a copy; then the two change places.
      this.#accepted = undefined
      this.#touched = true
    }
    await this.settle()
    if (this.dirty) throw new RemoteError('NOT_SAVED', 'what is written here is not saved yet')
    if (this.#disposed || this.#phase !== 'open') return
    const { draftId } = this
    const conflictId = this.#conflictId
    const draft = conflictId === ''
      ? await this.#host.call('get', { draftId })
      : await this.#host.call('resolveConflict', { draftId, conflictId, keepAsDraft: false, take: true })
    if (this.#disposed || this.#phase !== 'open') return
    this.#base = { text: draft.text, contentJson: draft.contentJson, textRevision: draft.textRevision, hash: draft.textHash }
    this.#elsewhere = undefined
    this.#conflictId = ''
    this.#remember()
    this.#pump()
    this.#changed()
  }

  /** Wait until the plugin has everything on disk, or two seconds. */
  async settle() {
    const end = Date.now() + 2_000
    while (!this.#disposed && Date.now() < end && this.#phase === 'open') {
      this.#pump()
      if (!this.#inFlight && this.#unsaved.length > 0) {
        await this.#host.call('flush', { draftId: this.draftId }).catch(() => undefined)
      }
      if (!this.#inFlight && this.#unsaved.length === 0 && !this.#isDirty()) return
      await new Promise(resolve => setTimeout(resolve, 50))
    }
  }

  // ---- the page around it ----

  /** The composer is on screen again: a change from elsewhere may go in before anyone writes. */
  activate() {
    this.#last = this.#composer.read()
    if (this.#phase === 'closed' && !this.#paused) void this.begin()
    this.#takeElsewhere()
    this.#changed()
  }

  /** Another session is shown: have the plugin write what it holds, without waiting for it. */
  leave() {
    if (this.#phase !== 'open') return
    this.#pump()
    if (this.#inFlight || this.#unsaved.length > 0) {
      const { draftId } = this
      const after = this.#inFlight ? 150 : 0
      this.#again('flush', after, () => { this.#host.call('flush', { draftId }).catch(() => { /* The debounce saves it. */ }) })
    }
  }

  /** The plugin is down: nothing is forwarded, and what is written stays in the composer. */
  pause() {
    this.#paused = true
    this.#attempt++
    this.#phase = 'closed'
    this.#inFlight = undefined
    this.#unsaved = []
    this.#failure = undefined
    for (const name of ['open', 'pump', 'flush']) this.#cancel(name)
    this.#changed()
  }

  resume() {
    this.#paused = false
    this.#failures = 0
  }

  /** @param {{ close: boolean }} how close: tell the plugin as well */
  dispose({ close }) {
    if (this.#disposed) return
    this.#disposed = true
    this.#unsubscribe()
    for (const name of [...this.#timers.keys()]) this.#cancel(name)
    if (close && this.#phase === 'open') this.#host.call('closeEditor', this.ref).catch(() => { /* Its epoch ends it. */ })
    this.#phase = 'closed'
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
    const { textRevision, hash } = this.#base
    this.#host.bases.write(this.sessionId, { draftId: this.draftId, textRevision, hash })
  }

  #changed() {
    if (!this.#disposed) this.#host.changed(this)
  }

  /** @param {string} name @param {number} ms @param {() => void} run */
  #again(name, ms, run) {
    this.#cancel(name)
    this.#timers.set(name, setTimeout(() => {
      this.#timers.delete(name)
      if (!this.#disposed) run()
    }, ms))
  }

  /** @param {string} name */
  #cancel(name) {
    clearTimeout(this.#timers.get(name))
    this.#timers.delete(name)
  }
}

/** @param {Projection} projection @returns {Projection} */
function pick({ text, contentJson }) {
  return { text, contentJson }
}

/** @param {unknown} error */
function asRemote(error) {
  return error instanceof RemoteError ? error : new RemoteError('OPERATION_UNKNOWN', String(error))
}
