/** What is written in the composers of ordinary sessions and not sent: kept in this browser. */
const prefix = 'draft-sessions.reply.'

export class Replies {
  /** @type {Map<string, string>} */
  #texts = new Map()
  #storage

  /** @param {Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>} storage */
  constructor(storage) {
    this.#storage = storage
  }

  /** @param {string} sessionId */
  read(sessionId) {
    let text = this.#texts.get(sessionId)
    if (text === undefined) {
      try {
        text = this.#storage.getItem(prefix + sessionId) ?? ''
      } catch {
        text = ''
      }
      this.#texts.set(sessionId, text)
    }
    return text
  }

  /** @param {string} sessionId @param {string} text */
  write(sessionId, text) {
    this.#texts.set(sessionId, text)
    try {
      if (text === '') this.#storage.removeItem(prefix + sessionId)
      else this.#storage.setItem(prefix + sessionId, text)
    } catch {
      // A full or forbidden storage: it lives as long as the page.
    }
  }
}
