/**
 * The line from one composer to the plugin: an opened editor, the edits on their way,
 * and what is known to be on disk. One edit is in flight at a time and the newest
 * text goes next; answers of an earlier opening are ignored.
 */
import { emptyContent, same, tooLarge } from './content.js'
import { Timers } from './timers.js'

/**
 * @typedef {import('./content.js').Content} Content
 * @typedef {{ draftId: string, editorId: string, generation: number }} Ref an opened editor
 * @typedef {{ code: string, message: string, passing: boolean }} Failure passing: the same call can succeed later
 */
/**
 * @typedef {object} Base which saved text a text is based on
 * @property {string} draftId
 * @property {number} textRevision
 * @property {string} hash
 * @property {string} [editorId] who remembers it
 */
/**
 * @typedef {object} OpenRequest
 * @property {string} draftId
 * @property {string} editorId
 * @property {string} [hostText]
 * @property {string} hostContentJson
 * @property {number} baseTextRevision
 * @property {string} baseHash
 * @property {string} baseDraftId
 * @property {string} baseEditorId
 */
/**
 * @typedef {object} Opened
 * @property {string} epoch
 * @property {number} generation
 * @property {{ text: string, contentJson?: string, textRevision: number, textHash: string }} draft
 * @property {string} show 'host': the plugin has taken what the page held as its edit 0
 */
/** @typedef {Ref & Content & { seq: number, baseTextRevision: number, epoch: string }} Edit */
/**
 * @typedef {object} Saved
 * @property {string} editorId
 * @property {number} generation
 * @property {number} seq
 * @property {number} textRevision
 * @property {string} textHash
 * @property {string} conflictId
 * @property {string} newDraftId
 */
/** @typedef {{ editorId: string, generation: number, code: string, message: string, retrying: boolean }} NotSaved */
/**
 * @template {Opened} O
 * @typedef {object} LineHost
 * @property {string} editorId one for each page load
 * @property {() => string} draftId
 * @property {(request: OpenRequest) => Promise<O>} openEditor
 * @property {(edit: Edit) => Promise<unknown>} edit
 * @property {(draftId: string) => Promise<unknown>} flush
 * @property {(ref: Ref) => Promise<unknown>} closeEditor
 * @property {(error: unknown) => Failure} failureOf
 * @property {() => Content | undefined} current what to forward; undefined while nothing may be
 * @property {() => void} reopen the plugin does not know this opening: begin again
 * @property {() => void} gone the draft is no longer there
 * @property {() => void} changed
 */

const retryMs = [300, 700, 1_500, 3_000, 5_000]
const settleMs = 5_000
const settlePollMs = 40
/** An edit in flight when the composer is left gets this long before the plugin is asked to write, in milliseconds. */
const flushMs = 150

/** @template {Opened} O */
export class Line {
  epoch = ''
  generation = 0
  /** What the draft holds as far as this page knows, and under which text revision. */
  base = { ...emptyContent, textRevision: 0, hash: '' }
  /** @type {{ code: string, message: string, retrying: boolean } | undefined} */
  failure

  #host
  #timers = new Timers()
  /** @type {'closed' | 'opening' | 'open'} */
  #phase = 'closed'
  #attempt = 0
  /** The opening that is being asked for, settled with its answer. @type {Promise<unknown>} */
  #asking = Promise.resolve()
  /** The last word of a save under an opening whose answer has not come yet. @type {Saved | undefined} */
  #early
  #failures = 0
  #seq = 0
  #savedSeq = -1
  /** What the plugin has accepted from here. @type {Content | undefined} */
  #accepted
  /** @type {(Content & { seq: number }) | undefined} */
  #inFlight
  /** Accepted and not yet on disk, oldest first. @type {(Content & { seq: number })[]} */
  #unsaved = []

  /** @param {LineHost<O>} host */
  constructor(host) {
    this.#host = host
  }

  get phase() {
    return this.#phase
  }

  get ref() {
    return { draftId: this.#host.draftId(), editorId: this.#host.editorId, generation: this.generation }
  }

  /** Nothing is on its way, and everything accepted is on disk. */
  get quiet() {
    return this.#phase === 'open' && !this.#inFlight && this.#unsaved.length === 0
  }

  /** @param {Content} text */
  lacks(text) {
    return this.#accepted === undefined || !same(text, this.#accepted)
  }

  // ---- opening ----

  /**
   * @param {Content} held what the composer holds
   * @param {Base | undefined} remembered
   * @returns {Promise<O | undefined>} undefined when it failed, or was overtaken
   */
  async begin(held, remembered) {
    const attempt = ++this.#attempt
    this.#phase = 'opening'
    this.#inFlight = undefined
    this.#unsaved = []
    this.#early = undefined
    this.#timers.cancel('open', 'push')
    this.#host.changed()
    // One after the other: the plugin knows the opening that it hears of last, and
    // two calls may overtake each other on their way.
    await this.#asking
    if (attempt !== this.#attempt) return undefined
    const asked = this.#ask(held, remembered)
    this.#asking = asked.catch(() => { /* Told below. */ })
    try {
      const opened = await asked
      if (attempt !== this.#attempt) return undefined
      this.#opened(opened, held)
      return opened
    } catch (error) {
      if (attempt === this.#attempt) this.#openingFailed(this.#host.failureOf(error))
      return undefined
    }
  }

  /** @param {Content} held @param {Base | undefined} remembered */
  #ask(held, remembered) {
    const { draftId, editorId } = this.ref
    return this.#host.openEditor({
      draftId, editorId,
      // An empty composer tells nothing: hosts make composers anew.
      ...(held.text === '' ? {} : { hostText: held.text }),
      hostContentJson: held.contentJson,
      baseTextRevision: remembered?.textRevision ?? 0,
      baseHash: remembered?.hash ?? '',
      baseDraftId: remembered?.draftId ?? '',
      baseEditorId: remembered?.editorId ?? '',
    })
  }

  /** @param {Opened} opened @param {Content} held */
  #opened({ epoch, generation, draft, show }, held) {
    this.epoch = epoch
    this.generation = generation
    this.failure = undefined
    this.#phase = 'open'
    this.#seq = 0
    this.#savedSeq = -1
    this.#failures = 0
    this.takeOver(draft)
    if (show !== 'host') return
    this.#accepted = held
    // The plugin has taken it as its edit 0.
    if (!same(held, this.base)) this.#unsaved.push({ ...held, seq: 0 })
    if (this.#early) this.onSaved(this.#early)
    this.#early = undefined
  }

  /** @param {Failure} error */
  #openingFailed({ code, message, passing }) {
    this.#phase = 'closed'
    if (code === 'DRAFT_NOT_FOUND') return this.#host.gone()
    const retrying = passing || mayPass(code)
    this.failure = { code, message, retrying }
    if (retrying) this.#later('open', this.#host.reopen)
    this.#host.changed()
  }

  /** The composer shows what the record holds. @param {Opened['draft']} record */
  takeOver({ text, contentJson = '', textRevision, textHash }) {
    this.base = { text, contentJson, textRevision, hash: textHash }
    this.#accepted = { text, contentJson }
  }

  /** Send the text once more, although the plugin has it. */
  resend() {
    this.#accepted = undefined
    this.push()
  }

  // ---- edits ----

  /** @returns {boolean} whether the plugin has everything that may be forwarded */
  push() {
    const text = this.#phase === 'open' && !this.#inFlight ? this.#host.current() : undefined
    if (!text) return false
    if (!this.lacks(text)) {
      if (this.failure?.code === 'TEXT_TOO_LARGE') this.failure = undefined
      return true
    }
    if (tooLarge(text.text)) {
      this.failure = { code: 'TEXT_TOO_LARGE', message: '', retrying: false }
      return false
    }
    const edit = this.#edit(text)
    this.#inFlight = { ...text, seq: edit.seq }
    this.#host.edit(edit).then(
      () => { if (this.#concerns(edit)) this.#acceptedEdit(text, edit.seq) },
      error => { if (this.#concerns(edit)) this.#editFailed(this.#host.failureOf(error)) },
    )
    return false
  }

  /** @param {Content} text @returns {Edit} */
  #edit({ text, contentJson }) {
    return { ...this.ref, seq: ++this.#seq, text, contentJson, baseTextRevision: this.base.textRevision, epoch: this.epoch }
  }

  /** @param {{ generation: number, seq: number }} edit */
  #concerns({ generation, seq }) {
    return this.#phase === 'open' && generation === this.generation && this.#inFlight?.seq === seq
  }

  /** @param {Content} text @param {number} seq */
  #acceptedEdit(text, seq) {
    this.#inFlight = undefined
    this.#accepted = text
    this.#failures = 0
    this.failure = undefined
    // The saved event comes on another connection and may have been faster.
    if (seq > this.#savedSeq) this.#unsaved.push({ ...text, seq })
    this.push()
    this.#host.changed()
  }

  /** @param {Failure} error */
  #editFailed({ code, message, passing }) {
    this.#inFlight = undefined
    this.failure = { code, message, retrying: passing || mayPass(code) }
    if (code === 'OPERATION_UNKNOWN') {
      // Nothing more is of use under this opening.
      this.failure.retrying = true
      this.#phase = 'closed'
      this.#later('open', this.#host.reopen)
    } else if (this.failure.retrying) this.#later('push', () => this.push())
    this.#host.changed()
  }

  /** @returns {Edit | undefined} the edit that closing the page would lose */
  lastEdit() {
    const text = this.#phase === 'open' ? this.#host.current() : undefined
    return text && this.lacks(text) && !tooLarge(text.text) ? this.#edit(text) : undefined
  }

  // ---- what the plugin tells ----

  /**
   * @param {Saved} saved
   * @returns {boolean} whether it was about this opening
   */
  onSaved(saved) {
    const { editorId, generation, seq, textRevision, textHash, conflictId, newDraftId } = saved
    if (editorId !== this.#host.editorId) return false
    if (this.#phase === 'opening') this.#early = saved
    if (generation !== this.generation || this.#phase !== 'open') return false
    const written = this.#unsaved.find(entry => entry.seq === seq) ?? (this.#inFlight?.seq === seq ? this.#inFlight : undefined)
    this.#unsaved = this.#unsaved.filter(entry => entry.seq > seq)
    this.#savedSeq = Math.max(this.#savedSeq, seq)
    if (this.failure?.code !== 'TEXT_TOO_LARGE') this.failure = undefined
    // A copy leaves the record, and so the base, as it was.
    if (conflictId === '' && written && (newDraftId !== '' || textRevision >= this.base.textRevision)) {
      this.base = { text: written.text, contentJson: written.contentJson, textRevision, hash: textHash }
    }
    return true
  }

  /** @param {NotSaved} failed */
  onNotSaved({ editorId, generation, code, message, retrying }) {
    if (editorId !== this.#host.editorId || generation !== this.generation) return
    this.failure = { code, message, retrying }
  }

  // ---- the page around it ----

  /** Wait until the plugin has everything on disk, or five seconds. @returns {Promise<boolean>} whether it has */
  async settle() {
    const end = Date.now() + settleMs
    while (Date.now() < end && this.#phase !== 'closed') {
      const pushed = this.push()
      if (pushed && this.quiet) return true
      if (pushed) await this.#flush()
      await new Promise(resolve => setTimeout(resolve, settlePollMs))
    }
    return false
  }

  /** Have the plugin write what it holds, without waiting for it. */
  flush() {
    if (this.#phase !== 'open') return
    this.push()
    if (!this.quiet) this.#timers.again('flush', this.#inFlight ? flushMs : 0, () => { void this.#flush() })
  }

  #flush() {
    return this.#host.flush(this.#host.draftId()).catch(() => { /* Its own pause saves it. */ })
  }

  /** The plugin is down, or the opening is of no use any more. */
  cut() {
    this.#attempt++
    this.#phase = 'closed'
    this.#inFlight = undefined
    this.#unsaved = []
    this.#failures = 0
    this.failure = undefined
    this.#timers.clear()
  }

  /** For good, and told. */
  close() {
    if (this.#phase === 'open') this.#host.closeEditor(this.ref).catch(() => { /* Its epoch ends it. */ })
    this.cut()
  }

  /** Each time in a row a little later. @param {'open' | 'push'} what @param {() => void} run */
  #later(what, run) {
    this.#timers.again(what, retryMs[Math.min(this.#failures++, retryMs.length - 1)] ?? 0, run)
  }
}

/**
 * A draft that is being sent, a session or a file that is being put right, a plugin
 * that is being started again: all pass.
 * @param {string} code
 */
function mayPass(code) {
  return code === 'OPERATION_CONFLICT' || code === 'SESSION_UNAVAILABLE' || code.startsWith('DRAFT_STORAGE')
}
