/**
 * What was changed elsewhere while a draft is open here: it comes in when nobody is
 * writing, and else it waits until the person decides. What was written here is then
 * a conflict copy in the plugin.
 */
import { same } from './content.js'

/**
 * @typedef {import('./content.js').Content} Content
 * @typedef {Content & { textRevision: number, textHash: string }} Record_
 * @typedef {Record_ & { replaced: boolean }} Change
 * @typedef {Record_ & { conflicts: readonly { id: string }[] }} Draft
 */
/**
 * @typedef {object} ElsewhereHost
 * @property {import('./line.js').Line<any>} line
 * @property {import('./timers.js').Timers} timers
 * @property {() => Promise<Draft>} get the draft as it is now
 * @property {(conflictId: string) => Promise<Draft>} take a copy and the draft's text change places
 * @property {() => Error} notSaved what is thrown where the plugin lacks what was written here
 * @property {() => Content} holds what the composer holds
 * @property {() => boolean} occupied whether somebody is at the composer
 * @property {() => boolean} dirty whether the plugin lacks something that was written here
 * @property {() => boolean} live whether the draft is open
 * @property {(record: Record_) => boolean} write put a text into the composer
 * @property {() => void} settled the composer holds the record's text, and the line knows it
 * @property {() => void} push
 * @property {() => void} reopen
 * @property {() => void} changed
 */

const pollMs = 500

export class Elsewhere {
  #host
  /** The newest text from elsewhere that is not shown here. @type {Change | undefined} */
  #change
  #conflictId = ''
  /** The draft file was replaced, and the draft went back. */
  #replaced = false
  /** The revision of the draft whose copies were looked at last. */
  #looked = 0

  /** @param {ElsewhereHost} host */
  constructor(host) {
    this.#host = host
  }

  /** Whether the composer shows another text than the draft has. */
  get waiting() {
    return this.#change !== undefined
  }

  /** The copy that holds what was written here, else ''. */
  get conflictId() {
    return this.#conflictId
  }

  get replaced() {
    return this.#replaced && (this.#change !== undefined || this.#conflictId !== '')
  }

  // ---- what the plugin tells ----

  /**
   * The draft was opened and shows what the plugin said.
   * @param {{ textRevision: number }} draft
   * @param {string} conflictId
   * @param {number} remembered the text revision that the page knew, 0 for none
   */
  opened(draft, conflictId, remembered) {
    if (conflictId !== '') {
      this.#conflictId = conflictId
      this.#replaced = remembered > draft.textRevision
    }
    if (this.#change && (this.#change.replaced || this.#change.textRevision <= draft.textRevision)) this.#change = undefined
  }

  /** @param {string} conflictId of a save of this page */
  saved(conflictId) {
    if (conflictId !== '') this.#conflictId = conflictId
    const outrun = this.#change && !this.#change.replaced && this.#change.textRevision <= this.#host.line.base.textRevision
    if (outrun) this.#change = undefined
    this.take()
  }

  /** @param {Change} change */
  told(change) {
    this.#change = change
    if (change.replaced) {
      this.#replaced = true
      // On its old base, which that file does not have, what is shown here becomes a copy.
      if (!same(this.#host.holds(), change)) this.#host.line.resend()
    }
    this.take()
  }

  /** Take the change in, now or as soon as nobody is writing here. */
  take() {
    const change = this.#change
    if (!change) return
    const { line, holds, timers, changed } = this.#host
    const agreed = line.quiet && same(holds(), change)
    if (agreed || this.#mayEnter(change)) {
      const kept = change.replaced ? this.#conflictId : ''
      if (!this.#adopt(change)) return
      this.#conflictId = kept
      this.#replaced = kept !== ''
      return
    }
    timers.again('elsewhere', pollMs, () => {
      this.take()
      changed()
    })
  }

  /** Whether nobody is writing here, and what the composer holds is kept. @param {Change} change */
  #mayEnter({ replaced }) {
    const { line, holds, occupied } = this.#host
    if (occupied() || !line.quiet) return false
    return replaced ? this.#conflictId !== '' || holds().text.trim() === '' : same(holds(), line.base)
  }

  /** @param {Record_} record */
  #adopt(record) {
    if (!this.#host.write(record)) return false
    this.#settled(record)
    return true
  }

  /** The composer holds the record's text. @param {Record_} record */
  #settled(record) {
    const anew = this.#change?.replaced === true
    this.#host.line.takeOver(record)
    this.#change = undefined
    this.#conflictId = ''
    this.#replaced = false
    this.#host.settled()
    // Its old opening can make nothing but copies.
    if (anew) this.#host.reopen()
  }

  // ---- what the person decides ----

  /** Show the text that the draft has now. What was written here is kept by the plugin. */
  async show() {
    const { line, holds } = this.#host
    if (this.#change && this.#conflictId === '' && !same(holds(), line.base)) line.resend()
    await this.#showRecord()
  }

  async #showRecord() {
    await this.#allSaved()
    const { get, live, changed } = this.#host
    const draft = await get()
    if (!live()) return
    this.#adopt(draft)
    changed()
  }

  /** Make the text of this composer the draft's; the one that it had is kept as a copy. */
  async keepMine() {
    const { line, get, take, live, write, push } = this.#host
    // Sent on its old base, the text becomes a copy; then the two change places.
    if (this.#conflictId === '') line.resend()
    await this.#allSaved()
    const conflictId = this.#conflictId
    const draft = conflictId === '' ? await get() : await take(conflictId)
    if (!live()) return
    // Where the draft's own text is shown, the copy's takes its place.
    if (!this.#change) write(draft)
    this.#settled(draft)
    push()
  }

  /** The copy stays with the draft, and nothing more is said of it. */
  dismiss() {
    this.#conflictId = ''
    this.#replaced = false
    this.#host.changed()
  }

  /** What is written here belongs to another draft now. */
  forget() {
    this.#change = undefined
    this.#conflictId = ''
    this.#replaced = false
    this.#looked = 0
    this.#host.timers.cancel('elsewhere')
  }

  /** The person decided about a copy: when it was what is shown here, the draft's own text is shown. @param {string} conflictId */
  async resolved(conflictId) {
    if (conflictId !== this.#conflictId) return
    this.#conflictId = ''
    if (this.#change) await this.#showRecord()
    else this.#host.changed()
  }

  /** The draft's row as it is now: another page may have decided about the copy. @param {{ revision: number }} row */
  async look({ revision }) {
    const conflictId = this.#conflictId
    if (conflictId === '' || revision === this.#looked) return
    this.#looked = revision
    const { get, occupied } = this.#host
    const { conflicts } = await get()
    if (conflictId !== this.#conflictId || conflicts.some(({ id }) => id === conflictId)) return
    if (!occupied()) return this.resolved(conflictId)
    this.#conflictId = ''
    this.#host.changed()
  }

  async #allSaved() {
    const { line, dirty, changed, notSaved } = this.#host
    await line.settle()
    changed()
    if (dirty() || !line.quiet) throw notSaved()
  }
}
