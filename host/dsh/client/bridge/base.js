/**
 * What the page remembers beside a composer's own text, by session: which draft it
 * is and on which saved text it is based. With it a reload can tell an edit that
 * was not yet saved from a text that was changed elsewhere (design.md, Reload).
 */

/**
 * @typedef {{ draftId: string, textRevision: number, hash: string }} Base
 * @typedef {Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>} Storage_
 */

const prefix = 'draft-sessions.base.'
const knownKey = 'draft-sessions.sessions'

export class Bases {
  #storage

  /** @param {Storage_} storage */
  constructor(storage) {
    this.#storage = storage
  }

  /** @param {string} sessionId @returns {Base | undefined} */
  read(sessionId) {
    const value = this.#parse(prefix + sessionId)
    const sound = typeof value?.draftId === 'string' && Number.isSafeInteger(value.textRevision)
      && typeof value.hash === 'string'
    return sound ? { draftId: value.draftId, textRevision: value.textRevision, hash: value.hash } : undefined
  }

  /** @param {string} sessionId @param {Base} base */
  write(sessionId, { draftId, textRevision, hash }) {
    this.#set(prefix + sessionId, { draftId, textRevision, hash })
  }

  /** @param {string} sessionId */
  forget(sessionId) {
    try {
      this.#storage.removeItem(prefix + sessionId)
    } catch {
      // Without storage there is nothing to forget.
    }
  }

  /**
   * The sessions that belonged to drafts when this browser last knew: what the guard
   * avoids while the plugin cannot be asked.
   * @returns {string[]}
   */
  readSessions() {
    const value = this.#parse(knownKey)
    return Array.isArray(value) ? value.filter(id => typeof id === 'string') : []
  }

  /** @param {readonly string[]} ids */
  writeSessions(ids) {
    this.#set(knownKey, ids)
  }

  /** @param {string} key @returns {any} */
  #parse(key) {
    try {
      return JSON.parse(this.#storage.getItem(key) ?? 'null')
    } catch {
      return null
    }
  }

  /** @param {string} key @param {unknown} value */
  #set(key, value) {
    try {
      this.#storage.setItem(key, JSON.stringify(value))
    } catch {
      // A full or forbidden storage: a reload then asks the plugin without a base,
      // which keeps both texts.
    }
  }
}
