/**
 * Words that are not on the host's disk yet, kept in the browser: a tab that is
 * closed, reloaded or killed while the host is away loses nothing. Beside the text
 * stands on which saved text it is based (design.md, Reload). Nothing stays here
 * once it is saved.
 */

/**
 * @typedef {{ textRevision: number, hash: string, editorId: string }} Base which saved text a text is based on, and who remembers it
 * @typedef {{ draftId: string, text: string, at: number, base?: Base, creating?: object, title: string, workspaceId: string }} Entry creating: the request that makes the draft, which has not succeeded yet
 * @typedef {{ editorId: string, entry: Entry }} Left
 * @typedef {Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>} Storage_
 * @typedef {Pick<LockManager, 'request'>} Locks
 */

const prefix = 'draft-sessions.unsaved.'
/** How long a tab that was just left may take to let go of its lock, in milliseconds. */
const lettingGoMs = 1_500

/** @param {string} editorId */
const lockName = editorId => `draft-sessions.editor.${editorId}`

export class Unsaved {
  #storage
  #locks
  #editorId

  /** @param {Storage_} storage @param {string} editorId @param {Locks | undefined} locks */
  constructor(storage, editorId, locks) {
    this.#storage = storage
    this.#editorId = editorId
    this.#locks = locks
    // Held as long as this page lives: other tabs leave its words alone.
    void locks?.request(lockName(editorId), () => new Promise(() => {}))
  }

  /** @param {Entry} entry @returns {boolean} whether the browser took it */
  write(entry) {
    try {
      this.#storage.setItem(`${prefix}${this.#editorId}.${entry.draftId}`, JSON.stringify(entry))
      return true
    } catch {
      // A full or forbidden storage: the page itself still has the text.
      return false
    }
  }

  /** @param {string} draftId */
  forget(draftId) {
    this.remove(this.#editorId, draftId)
  }

  /**
   * What pages that are gone left behind, oldest first. It stays where it is until
   * {@link remove} is called.
   * @returns {Promise<Left[]>}
   */
  async left() {
    const others = this.#all().filter(({ editorId }) => editorId !== this.#editorId)
    const gone = new Map(await Promise.all([...new Set(others.map(({ editorId }) => editorId))]
      .map(async editorId => /** @type {const} */ ([editorId, await this.#isGone(editorId)]))))
    return others.filter(({ editorId }) => gone.get(editorId)).sort((a, b) => a.entry.at - b.entry.at)
  }

  /** @returns {Left[]} */
  #all() {
    const found = []
    for (let i = 0; i < this.#storage.length; i++) {
      const key = this.#storage.key(i)
      if (!key?.startsWith(prefix)) continue
      const entry = this.#read(key)
      const editorId = key.slice(prefix.length).split('.')[0]
      if (entry && editorId) found.push({ editorId, entry })
    }
    return found
  }

  /** @param {string} key @returns {Entry | undefined} */
  #read(key) {
    try {
      const entry = JSON.parse(this.#storage.getItem(key) ?? 'null')
      return typeof entry?.draftId === 'string' && typeof entry.text === 'string' && typeof entry.at === 'number' ? entry : undefined
    } catch {
      return undefined
    }
  }

  /** @param {string} editorId @param {string} draftId */
  remove(editorId, draftId) {
    try {
      this.#storage.removeItem(`${prefix}${editorId}.${draftId}`)
    } catch {
      // Without storage there is nothing to forget.
    }
  }

  /** @param {string} editorId */
  async #isGone(editorId) {
    // Without locks (a page that is not served securely) the plugin sorts it out: it keeps both texts.
    if (!this.#locks) return true
    try {
      return await this.#locks.request(lockName(editorId), { signal: AbortSignal.timeout(lettingGoMs) }, () => true)
    } catch {
      return false
    }
  }
}
