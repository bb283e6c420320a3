/**
 * A text that DSH took out of its composer by itself: for Send, for a command, for
 * the workspace picker. None of that is an edit. While it is not yet known what
 * became of the text nothing is forwarded, and what is typed meanwhile stays.
 */

/**
 * @typedef {import('./projection.js').Projection} Projection
 * @typedef {import('./composer.js').ComposerView} ComposerView
 */
/**
 * @typedef {object} TakenHost
 * @property {() => 'blank' | 'converting' | 'started'} standing of the session and its row
 * @property {(ms: number) => boolean} editedWithin whether a person changed the text so recently
 * @property {(raw: string) => string | undefined} picked the session into whose composer the picker has just moved this text
 * @property {(held: Projection, target: string) => void} moved
 * @property {(taken: Projection) => void} restore put it back, before what was typed since
 * @property {() => void} resume what the composer holds now is what the draft shall be
 * @property {import('../../../page/timers.js').Timers} timers
 */

/**
 * How long a command may take to show whether it started a turn, in milliseconds:
 * for a page that has not heard from the plugin, which usually knows sooner.
 */
const commandMs = 3_000
/** After this long without any sign of it a send is taken to have come to nothing, in milliseconds. */
const sendMs = 8_000
/** How long a composer may be empty without a reason before its text is put back, in milliseconds. */
const emptiedMs = 600
/** A composer that becomes empty this long after a keystroke was emptied by hand, in milliseconds. */
const handMs = 1_000
const pollMs = 250

export class Taken {
  #host
  /** @type {{ text: Projection, command: boolean, emptiedAt: number, converting: boolean } | undefined} */
  #sending
  /** @type {Projection | undefined} */
  #held

  /** @param {TakenHost} host */
  constructor(host) {
    this.#host = host
  }

  /** The text that was handed to DSH and of which no word has come yet. */
  get sending() {
    return this.#sending?.text
  }

  /** Whether that is a command line. */
  get command() {
    return this.#sending?.command === true
  }

  /** The text that the draft keeps although the composer is empty. */
  get held() {
    return this.#held
  }

  /**
   * @param {ComposerView} before
   * @param {ComposerView} now
   * @returns {boolean} whether the change is DSH's own
   */
  watch(before, now) {
    if (now.phase === 'submitting' || now.phase === 'adjudicating') {
      const { text, contentJson } = before
      this.#sending ??= { text: { text, contentJson }, command: text.trimStart().startsWith('/'), emptiedAt: 0, converting: false }
      return true
    }
    if (this.#sending) {
      this.#submitted(this.#sending, now)
      return true
    }
    if (now.text === '' && before.text !== '' && this.#emptied(before)) return true
    return this.#held !== undefined
  }

  /** @param {{ text: Projection, emptiedAt: number }} sending @param {ComposerView} now */
  #submitted(sending, now) {
    if (sending.emptiedAt === 0 && now.text === sending.text.text) {
      // Rejected: DSH gave the text back, and the draft never changed.
      this.#sending = undefined
      this.#host.resume()
      return
    }
    if (sending.emptiedAt === 0) sending.emptiedAt = Date.now()
    this.#host.timers.again('settle', pollMs, () => this.#settle())
  }

  #settle() {
    const sending = this.#sending
    if (!sending) return
    const waited = Date.now() - sending.emptiedAt
    const standing = this.#host.standing()
    const blank = standing === 'blank'
    // A draft that was being sent and is a blank draft again: the plugin has decided.
    const released = sending.converting && blank
    sending.converting ||= standing === 'converting'
    if (blank && sending.command && (released || waited >= commandMs)) {
      // The command did something and started nothing: its line is the draft's text no longer.
      this.#sending = undefined
      this.#host.resume()
    } else if (blank && !sending.command && waited >= sendMs) {
      // The host took the text and lost it (it was killed): the draft still has it.
      this.#sending = undefined
      this.#host.restore(sending.text)
    } else {
      this.#host.timers.again('settle', pollMs, () => this.#settle())
    }
  }

  /** @param {ComposerView} before */
  #emptied({ text, contentJson, raw }) {
    const held = { text, contentJson }
    const target = this.#host.picked(raw)
    if (target !== undefined) {
      this.#held = held
      this.#host.moved(held, target)
      return true
    }
    // A command picked from its menu takes its own line away: that line was the text.
    if (this.#host.editedWithin(handMs) || text.trimStart().startsWith('/')) return false
    this.#held = held
    this.#host.timers.again('emptied', emptiedMs, () => this.giveBack())
    return true
  }

  /** Put back the text that was held. */
  giveBack() {
    const held = this.#held
    this.#held = undefined
    if (held) this.#host.restore(held)
  }

  /** The draft is opened anew: the plugin says what the composer shall hold. */
  forget() {
    this.#sending = undefined
    this.#host.timers.cancel('settle')
  }
}
