/**
 * The line from one composer to the plugin: an opened editor, the edits on their way,
 * and what is known to be on disk. One edit is in flight at a time and the newest
 * text goes next; answers of an earlier opening are ignored.
 */
import { asApiError, unreachable } from '../api.js'
import { Timers } from './timers.js'

/**
 * @typedef {import('../api.js').ApiError} ApiError
 * @typedef {import('../../types/api.js').Opened} Opened
 * @typedef {import('../../types/api.js').Saved} Saved
 * @typedef {import('../../types/api.js').NotSaved} NotSaved
 * @typedef {(operation: string, request: object) => Promise<any>} Call
 * @typedef {{ textRevision: number, hash: string, editorId: string }} Base which saved text a text is based on, and who remembers it
 */
/**
 * @typedef {object} LineHost
 * @property {Call} call
 * @property {string} editorId one for each page load
 * @property {() => string} draftId
 * @property {() => string | undefined} current what to forward; undefined while nothing may be
 * @property {() => void} reopen the plugin does not know this opening: begin again
 * @property {() => void} gone the draft is no longer there
 * @property {() => void} changed
 */

/** The largest text that the store takes, in bytes of UTF-8 (shared.MaxTextBytes). */
export const maxTextBytes = 1 << 20

const retryMs = [300, 700, 1_500, 3_000, 5_000]
const settleMs = 5_000
const settlePollMs = 40

export class Line {
  epoch = ''
  generation = 0
  /** What the draft holds as far as this page knows, and under which text revision. */
  base = { text: '', textRevision: 0, hash: '' }
  /** @type {{ code: string, message: string, retrying: boolean } | undefined} */
  failure

  #host
  #timers = new Timers()
  /** @type {'closed' | 'opening' | 'open'} */
  #phase = 'closed'
  #attempt = 0
  /** @type {Promise<unknown>} */
  #asking = Promise.resolve()
  /** The last word of a save under an opening whose answer has not come yet. @type {Saved | undefined} */
  #early
  #failures = 0
  #seq = 0
  #savedSeq = -1
  /** What the plugin has accepted from here. @type {string | undefined} */
  #accepted
  /** @type {{ text: string, seq: number } | undefined} */
  #inFlight
  /** Accepted and not yet on disk, oldest first. @type {{ text: string, seq: number }[]} */
  #unsaved = []

  /** @param {LineHost} host */
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

  /** @param {string} text */
  lacks(text) {
    return this.#accepted === undefined || text !== this.#accepted
  }

  // ---- opening ----

  /**
   * @param {string} held what the composer holds
   * @param {Base | undefined} remembered
   * @returns {Promise<Opened | undefined>} undefined when it failed, or was overtaken
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
      if (attempt === this.#attempt) this.#openingFailed(asApiError(error))
      return undefined
    }
  }

  /** @param {string} held @param {Base | undefined} remembered @returns {Promise<Opened>} */
  #ask(held, remembered) {
    const { draftId, editorId } = this.ref
    return this.#host.call('open-editor', {
      draftId, editorId,
      ...(held === '' ? {} : { hostText: held }),
      baseTextRevision: remembered?.textRevision ?? 0,
      baseHash: remembered?.hash ?? '',
      baseDraftId: remembered ? draftId : '',
      baseEditorId: remembered?.editorId ?? '',
    })
  }

  /** @param {Opened} opened @param {string} held */
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
    if (held !== this.base.text) this.#unsaved.push({ text: held, seq: 0 })
    if (this.#early) this.onSaved(this.#early)
    this.#early = undefined
  }

  /** @param {ApiError} error */
  #openingFailed({ code, message, passing }) {
    this.#phase = 'closed'
    if (code === 'DRAFT_NOT_FOUND') return this.#host.gone()
    const retrying = passing || mayPass(code)
    this.failure = { code, message, retrying }
    if (retrying) this.#later('open', this.#host.reopen)
    this.#host.changed()
  }

  /** The composer shows what the record holds. @param {{ text: string, textRevision: number, textHash: string }} record */
  takeOver({ text, textRevision, textHash }) {
    this.base = { text, textRevision, hash: textHash }
    this.#accepted = text
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
    if (text === undefined) return false
    if (!this.lacks(text)) {
      if (this.failure?.code === 'TEXT_TOO_LARGE') this.failure = undefined
      return true
    }
    if (tooLarge(text)) {
      this.failure = { code: 'TEXT_TOO_LARGE', message: '', retrying: false }
      return false
    }
    const edit = this.#edit(text)
    this.#inFlight = { text, seq: edit.seq }
    this.#host.call('edit', edit).then(
      () => { if (this.#concerns(edit)) this.#acceptedEdit(text, edit.seq) },
      error => { if (this.#concerns(edit)) this.#editFailed(asApiError(error)) },
    )
    return false
  }

  /** @param {string} text */
  #edit(text) {
    return { ...this.ref, seq: ++this.#seq, text, baseTextRevision: this.base.textRevision, epoch: this.epoch }
  }

  /** @param {{ generation: number, seq: number }} edit */
  #concerns({ generation, seq }) {
    return this.#phase === 'open' && generation === this.generation && this.#inFlight?.seq === seq
  }

  /** @param {string} text @param {number} seq */
  #acceptedEdit(text, seq) {
    this.#inFlight = undefined
    this.#accepted = text
    this.#failures = 0
    this.failure = undefined
    // The saved event comes on another connection and may have been faster.
    if (seq > this.#savedSeq) this.#unsaved.push({ text, seq })
    this.push()
    this.#host.changed()
  }

  /** @param {ApiError} error */
  #editFailed({ code, message, passing }) {
    this.#inFlight = undefined
    this.failure = { code, message, retrying: passing || mayPass(code) }
    if (code === 'OPERATION_UNKNOWN') {
      // Nothing more is of use under this opening.
      this.#phase = 'closed'
      this.failure.retrying = true
      this.#later('open', this.#host.reopen)
    } else if (this.failure.retrying) this.#later('push', () => this.push())
    this.#host.changed()
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
      this.base = { text: written.text, textRevision, hash: textHash }
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
      if (pushed) await this.flush()
      await new Promise(resolve => setTimeout(resolve, settlePollMs))
    }
    return false
  }

  /** Have the plugin write what it holds. */
  flush() {
    return this.#host.call('flush', { draftId: this.#host.draftId() }).catch(() => { /* Its own pause saves it. */ })
  }

  /** The host or the plugin is down, or the opening is of no use any more. */
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
    if (this.#phase === 'open') this.#host.call('close-editor', this.ref).catch(() => { /* Its epoch ends it. */ })
    this.cut()
  }

  /** Each time in a row a little later. @param {'open' | 'push'} what @param {() => void} run */
  #later(what, run) {
    this.#timers.again(what, retryMs[Math.min(this.#failures++, retryMs.length - 1)] ?? 0, run)
  }
}

/** @param {string} code */
function mayPass(code) {
  return code === 'OPERATION_CONFLICT' || code === 'SESSION_UNAVAILABLE' || code === unreachable || code.startsWith('DRAFT_STORAGE')
}

/** @param {string} text */
export function tooLarge(text) {
  // Three bytes a unit is the most that UTF-8 needs: short texts are not encoded to be counted.
  return text.length * 3 > maxTextBytes && new TextEncoder().encode(text).length > maxTextBytes
}
