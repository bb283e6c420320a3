/** The text fields: one for each draft or session that was opened, so that each keeps its caret and its undo. */
import { attribute, h } from './dom.js'

/** @typedef {import('../app.js').App} App */

/** Fields that are kept after their text was left. */
const maxFields = 24

export class Fields {
  #app
  /** @type {Map<string, HTMLTextAreaElement>} */
  #fields = new Map()
  /** Runs when the person asks to send with the keyboard. @type {() => void} */
  send = () => {}

  /** @param {App} app */
  constructor(app) {
    this.#app = app
  }

  /** @param {string} draftId */
  draft(draftId) {
    return this.#of(`d:${draftId}`, () => {
      // A draft whose words become another draft keeps its field, see rename.
      const editor = () => this.#app.desk.editors.get(field.dataset.draft ?? '')
      /** @type {HTMLTextAreaElement} */
      const field = this.#make('composer.draft', 'composer.draft.hint', {
        edit: text => editor()?.edit(text),
        composing: on => {
          const one = editor()
          if (one) one.composing = on
        },
        enterSends: false,
      })
      field.dataset.draft = draftId
      field.value = editor()?.text ?? ''
      field.setSelectionRange(field.value.length, field.value.length)
      return field
    })
  }

  /** @param {string} sessionId */
  reply(sessionId) {
    return this.#of(`s:${sessionId}`, () => {
      const field = this.#make('composer.reply', 'composer.reply.hint', {
        edit: text => {
          this.#app.replies.write(sessionId, text)
          this.#app.changed()
        },
        composing: () => {},
        enterSends: true,
      })
      field.rows = 1
      field.value = this.#app.replies.read(sessionId)
      return field
    })
  }

  /** The editor changed its own text: the caret stays where it was in the words that stayed. @param {string} draftId */
  show(draftId) {
    const field = this.#fields.get(`d:${draftId}`)
    const text = this.#app.desk.editors.get(draftId)?.text
    if (!field || text === undefined) return
    write(field, text)
  }

  /** @param {string} key @param {() => HTMLTextAreaElement} make */
  #of(key, make) {
    const field = this.#fields.get(key) ?? make()
    this.#fields.delete(key)
    this.#fields.set(key, field)
    for (const [old, other] of this.#fields) {
      if (this.#fields.size <= maxFields) break
      if (!other.isConnected) this.#fields.delete(old)
    }
    return field
  }

  /** A draft's words are another draft now: the field goes with them, whatever is just being typed. @param {string} oldId @param {string} newId */
  rename(oldId, newId) {
    const field = this.#fields.get(`d:${oldId}`)
    if (!field) return
    this.#fields.delete(`d:${oldId}`)
    field.dataset.draft = newId
    this.#fields.set(`d:${newId}`, field)
  }

  /**
   * @param {string} label
   * @param {string} hint
   * @param {{ edit: (text: string) => void, composing: (on: boolean) => void, enterSends: boolean }} how
   */
  #make(label, hint, { edit, composing, enterSends }) {
    const { t, desk } = this.#app
    const field = h('textarea', { class: 'field', 'aria-label': t(label), placeholder: t(hint), spellcheck: 'true', autocomplete: 'off' })
    let on = false
    field.addEventListener('compositionstart', () => {
      on = true
      composing(true)
    })
    field.addEventListener('compositionend', () => {
      on = false
      composing(false)
      desk.edited()
      edit(field.value)
    })
    field.addEventListener('input', () => {
      desk.edited()
      // What an input method is about to write is not written yet.
      if (!on) edit(field.value)
    })
    field.addEventListener('pointerdown', () => desk.gesture())
    field.addEventListener('keydown', event => {
      desk.gesture()
      if (event.key !== 'Enter' || event.isComposing || event.keyCode === 229 || event.altKey) return
      const command = event.ctrlKey || event.metaKey
      if (!command && (!enterSends || event.shiftKey)) return
      event.preventDefault()
      this.send()
    })
    return field
  }

  /** The language was changed. */
  relabel() {
    const { t } = this.#app
    for (const [key, field] of this.#fields) {
      const kind = key.startsWith('d:') ? 'draft' : 'reply'
      attribute(field, 'aria-label', t(`composer.${kind}`))
      attribute(field, 'placeholder', t(`composer.${kind}.hint`))
    }
  }
}

/** @param {HTMLTextAreaElement} field @param {string} text */
export function write(field, text) {
  const old = field.value
  if (old === text) return
  const { selectionStart, selectionEnd, scrollTop } = field
  field.value = text
  // Words that were put before the caret move it along; who opens a draft goes on at its end.
  const shift = old === '' ? text.length : text.startsWith(old.slice(0, selectionEnd)) ? 0 : text.endsWith(old) ? text.length - old.length : text.length
  field.setSelectionRange(selectionStart + shift, selectionEnd + shift)
  field.scrollTop = scrollTop
}
