/**
 * What the page remembers beside a composer's own text, by session: which draft it
 * is and on which saved text it is based. With it a reload can tell an edit that
 * was not yet saved from a text that was changed elsewhere (design.md, Reload).
 *
 * Two tabs of one browser share its storage, and with it what DSH keeps of a composer.
 * What each of them knew of a draft is its own: with the other one's base an old text
 * would pass for an edit of the newest. So a tab's own memory comes first, and the
 * shared one is for a browser that was closed.
 */

/**
 * @typedef {{ draftId: string, textRevision: number, hash: string, editorId?: string }} Base editorId: the editor that remembered it
 * @typedef {Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>} Storage_
 */

const prefix = 'draft-sessions.base.'
const knownKey = 'draft-sessions.sessions'

export class Bases {
  #storage
  #tab

  /** @param {Storage_} storage of the browser @param {Storage_} tab of this tab alone, over its reloads */
  constructor(storage, tab) {
    this.#storage = storage
    this.#tab = tab
  }

  /** @param {string} sessionId @returns {Base | undefined} */
  read(sessionId) {
    return sound(parse(this.#tab, prefix + sessionId)) ?? sound(parse(this.#storage, prefix + sessionId))
  }

  /** @param {string} sessionId @param {Base} base */
  write(sessionId, { draftId, textRevision, hash, editorId }) {
    for (const storage of [this.#tab, this.#storage]) set(storage, prefix + sessionId, { draftId, textRevision, hash, editorId })
  }

  /** @param {string} sessionId */
  forget(sessionId) {
    for (const storage of [this.#tab, this.#storage]) {
      try {
        storage.removeItem(prefix + sessionId)
      } catch {
        // Without storage there is nothing to forget.
      }
    }
  }

  /**
   * The sessions that belonged to drafts when this browser last knew: what the guard
   * avoids while the plugin cannot be asked.
   * @returns {string[]}
   */
  readSessions() {
    return strings(parse(this.#storage, knownKey))
  }

  /** @param {readonly string[]} ids */
  writeSessions(ids) {
    set(this.#storage, knownKey, ids)
  }
}

/** @param {any} value @returns {Base | undefined} */
function sound(value) {
  const is = typeof value?.draftId === 'string' && Number.isSafeInteger(value.textRevision) && typeof value.hash === 'string'
  if (!is) return undefined
  const { draftId, textRevision, hash, editorId } = value
  return { draftId, textRevision, hash, ...typeof editorId === 'string' ? { editorId } : {} }
}

/** @param {Storage_} storage @param {string} key @returns {any} */
function parse(storage, key) {
  try {
    return JSON.parse(storage.getItem(key) ?? 'null')
  } catch {
    return null
  }
}

/** @param {Storage_} storage @param {string} key @param {unknown} value */
function set(storage, key, value) {
  try {
    storage.setItem(key, JSON.stringify(value))
  } catch {
    // A full or forbidden storage: a reload then asks the plugin without a base,
    // which keeps both texts.
  }
}

/** @param {unknown} value @returns {string[]} */
function strings(value) {
  return Array.isArray(value) ? value.filter(item => typeof item === 'string') : []
}
