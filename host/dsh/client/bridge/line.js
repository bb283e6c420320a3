/**
 * The line from one composer to the plugin: an opened editor, the edits on their way,
 * and what is known to be on disk. One edit is in flight at a time and the newest
 * text goes next; answers of an earlier opening are ignored.
 */
import { RemoteError } from '../remote.js'
import { emptyProjection, same, tooLarge } from './projection.js'
import { Timers } from './timers.js'

/**
 * @typedef {import('./projection.js').Projection} Projection
 * @typedef {import('./base.js').Base} Base
 * @typedef {import('../remote.js').Answer<'openEditor'>} Opened
 * @typedef {import('../../wire/types.js').Message<'Saved'>} Saved
 * @typedef {import('../../wire/types.js').Message<'NotSaved'>} NotSaved
 */
/**
 * @typedef {object} LineHost
 * @property {import('../remote.js').Call} call
 * @property {string} editorId one for each page load
 * @property {string} draftId
 * @property {() => Projection | undefined} current what to forward; undefined while nothing may be
 * @property {() => void} reopen the plugin does not know this opening: begin again
 * @property {() => void} gone the draft is no longer there
 * @property {() => void} changed
 */

const retryMs = [500, 1_000, 2_000, 5_000, 10_000]
const settleMs = 2_000
const settlePollMs = 50
/** An edit in flight when the composer is left gets this long before the plugin is asked to write, in milliseconds. */
const flushMs = 150

export class Line {
  epoch = ''
  generation = 0
  /** What the draft holds as far as this page knows, and under which text revision. */
  base = { ...emptyProjection, textRevision: 0, hash: '' }
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
  /** What the plugin has accepted from here. @type {Projection | undefined} */
  #accepted
  /** @type {(Projection & { seq: number }) | undefined} */
  #inFlight
  /** Accepted and not yet on disk, oldest first. @type {(Projection & { seq: number })[]} */
  #unsaved = []

  /** @param {LineHost} host */
  constructor(host) {
    this.#host = host
  }

  get phase() {
    return this.#phase
  }

  get ref() {
    const { draftId, editorId } = this.#host
    return { draftId, editorId, generation: this.generation }
  }

  /** Nothing is on its way, and everything accepted is on disk. */
  get quiet() {
    return this.#phase === 'open' && !this.#inFlight && this.#unsaved.length === 0
  }

  /** @param {Projection} text */
  lacks(text) {
    return this.#accepted === undefined || !same(text, this.#accepted)
  }

  // ---- opening ----

  /**
   * @param {Projection} held what the composer holds
   * @param {Base | undefined} remembered
   * @returns {Promise<Opened | undefined>} undefined when it failed, or was overtaken
   */
  async begin(held, remembered) {
    const attempt = ++this.#attempt
    this.#phase = 'opening'
    this.#inFlight = undefined
    this.#unsaved = []
    this.#early = undefined
    this.#timers.cancel('open')
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
      if (attempt === this.#attempt) this.#openingFailed(asRemote(error))
      return undefined
    }
  }

  /** @param {Projection} held @param {Base | undefined} remembered */
  #ask(held, remembered) {
    return this.#host.call('openEditor', {
      draftId: this.#host.draftId,
      editorId: this.#host.editorId,
      // An empty composer tells nothing: DSH makes composers anew.
      ...(held.text === '' ? {} : { hostText: held.text }),
      hostContentJson: held.contentJson,
      baseTextRevision: remembered?.textRevision ?? 0,
      baseHash: remembered?.hash ?? '',
      baseDraftId: remembered?.draftId ?? '',
      baseEditorId: remembered?.editorId ?? '',
    })
  }

  /** @param {Opened} opened @param {Projection} held */
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

  /** @param {RemoteError} error */
  #openingFailed({ code, message, passing }) {
    this.#phase = 'closed'
    if (code === 'DRAFT_NOT_FOUND') return this.#host.gone()
    this.failure = { code, message, retrying: true }
    // A draft that is being sent, or a plugin that is being restarted: both pass.
    if (passing || mayPass(code)) this.#later('open', this.#host.reopen)
    this.#host.changed()
  }

  /** The composer shows what the record holds. @param {{ text: string, contentJson: string, textRevision: number, textHash: string }} record */
  takeOver({ text, contentJson, textRevision, textHash }) {
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
    this.#host.call('edit', edit).then(
      () => { if (this.#concerns(edit)) this.#acceptedEdit(text, edit.seq) },
      error => { if (this.#concerns(edit)) this.#editFailed(asRemote(error)) },
    )
    return false
  }

  /** @param {Projection} text */
  #edit({ text, contentJson }) {
    return { ...this.ref, seq: ++this.#seq, text, contentJson, baseTextRevision: this.base.textRevision, epoch: this.epoch }
  }

  /** @param {{ generation: number, seq: number }} edit */
  #concerns({ generation, seq }) {
    return this.#phase === 'open' && generation === this.generation && this.#inFlight?.seq === seq
  }

  /** @param {Projection} text @param {number} seq */
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

  /** @param {RemoteError} error */
  #editFailed({ code, message, passing }) {
    this.#inFlight = undefined
    this.failure = { code, message, retrying: passing || mayPass(code) }
    if (code === 'OPERATION_UNKNOWN') {
      // Nothing more is of use under this opening.
      this.#phase = 'closed'
      this.#later('open', this.#host.reopen)
    } else if (this.failure.retrying) this.#later('push', () => this.push())
    this.#host.changed()
  }

  /** @returns {import('../remote.js').Request<'edit'> | undefined} the edit that closing the page would lose */
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

  /** Wait until the plugin has everything on disk, or two seconds. */
  async settle() {
    const end = Date.now() + settleMs
    while (Date.now() < end && this.#phase === 'open') {
      const pushed = this.push()
      if (pushed && this.quiet) return
      if (pushed) await this.#host.call('flush', { draftId: this.#host.draftId }).catch(() => undefined)
      await new Promise(resolve => setTimeout(resolve, settlePollMs))
    }
  }

  /** Have the plugin write what it holds, without waiting for it. */
  flush() {
    if (this.#phase !== 'open') return
    this.push()
    if (this.quiet) return
    const { call, draftId } = this.#host
    this.#timers.again('flush', this.#inFlight ? flushMs : 0, () => { call('flush', { draftId }).catch(() => { /* Its own pause saves it. */ }) })
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
    if (this.#phase === 'open') this.#host.call('closeEditor', this.ref).catch(() => { /* Its epoch ends it. */ })
    this.cut()
  }

  /** Each time in a row a little later. @param {'open' | 'push'} what @param {() => void} run */
  #later(what, run) {
    this.#timers.again(what, retryMs[Math.min(this.#failures++, retryMs.length - 1)] ?? 0, run)
  }
}

/** @param {string} code */
function mayPass(code) {
  return code === 'OPERATION_CONFLICT' || code.startsWith('DRAFT_STORAGE')
}

/** @param {unknown} error */
function asRemote(error) {
  return error instanceof RemoteError ? error : new RemoteError('OPERATION_UNKNOWN', String(error))
}
