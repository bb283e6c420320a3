/**
 * The plugin tells every page that a draft went to another workspace. The page in
 * whose own picker that was chosen shows it already, and says nothing of it.
 */

/** @typedef {import('../wire/types.js').Notice} Notice */

export class OwnMoves {
  /** Drafts whose move is under way, or of whose move the notice has yet to come. @type {Set<string>} */
  #moving = new Set()
  /** @type {Set<string>} */
  #seen = new Set()
  /** @type {ReadonlySet<string>} */
  #quiet = new Set()

  /** @param {string} draftId */
  begin(draftId) {
    this.#moving.add(draftId)
  }

  /** The draft stayed where it was. @param {string} draftId */
  failed(draftId) {
    this.#moving.delete(draftId)
  }

  /**
   * @param {readonly Notice[]} notices of the sidebar as it is now
   * @returns {ReadonlySet<string>} ids of those not to show, the same set while nothing new is in it
   */
  quiet(notices) {
    for (const { id, kind, draftId } of notices) {
      if (this.#seen.has(id) || kind !== 'moved' || !this.#moving.delete(draftId)) continue
      this.#quiet = new Set([...this.#quiet, id])
    }
    this.#seen = new Set(notices.map(({ id }) => id))
    return this.#quiet
  }
}
