/**
 * Drafts that came on screen while the plugin was down, in a composer that has nothing
 * of them: their text cannot be shown now. What is written there meanwhile is meant
 * for the draft and goes behind its text, once that can be had.
 */
import { composerOf } from './composer.js'

/**
 * @typedef {import('../../wire/types.js').Row} Row
 */
/**
 * @typedef {object} UnseenHost
 * @property {Pick<import('../dsh.js').Context, 'sessions' | 'get'>} ctx
 * @property {Pick<import('./base.js').Bases, 'read'>} bases
 * @property {(sessionId: string) => Row | undefined} row of the draft in that session
 * @property {(sessionIds: ReadonlySet<string>) => void} changed
 */

/** Of the empty text: a draft that was seen empty at this revision is not unseen. */
const emptyHash = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

export class Unseen {
  #host
  /** @type {ReadonlySet<string>} */
  #sessions = new Set()

  /** @param {UnseenHost} host */
  constructor(host) {
    this.#host = host
  }

  /** A session's composer is on screen, and the plugin cannot be asked. @param {string} sessionId */
  look(sessionId) {
    const { ctx, bases, row: rowOf, changed } = this.#host
    const row = rowOf(sessionId)
    if (!row || this.#sessions.has(sessionId) || composerOf(ctx, sessionId)?.read().text !== '') return
    const base = bases.read(sessionId)
    if (base?.draftId === row.draftId && base.textRevision === row.textRevision && base.hash === emptyHash) return
    this.#sessions = new Set([...this.#sessions, sessionId])
    changed(this.#sessions)
  }

  /** The draft is opened now. @param {string} sessionId @returns {boolean} whether its text was not seen there */
  take(sessionId) {
    if (!this.#sessions.has(sessionId)) return false
    this.#sessions = new Set([...this.#sessions].filter(id => id !== sessionId))
    this.#host.changed(this.#sessions)
    return true
  }
}

/**
 * The draft's text with what was written without seeing it behind it.
 * @param {string} text
 * @param {string} written
 */
export function behind(text, written) {
  if (text === '' || written === '') return text + written
  return `${text.replace(/\n{1,2}$/, '')}\n\n${written}`
}
