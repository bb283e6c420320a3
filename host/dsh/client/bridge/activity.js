/**
 * Whether a person is writing in the composer right now.
 *
 * Focus alone says nothing: the composer keeps it after typing, takes it on every
 * session switch, and a headless or background window reports it too. So somebody is
 * at the composer while it has the focus and was clicked or typed in during the last
 * {@link quietMs} since its session came on screen, and always while an input method
 * composes. Unsaved changes count as well; the editor adds those.
 */

/** How long after the last click or key the composer counts as being written in, in milliseconds. */
export const quietMs = 30_000

/** How long after the end of a composition its last input event may still come, in milliseconds. */
const compositionTailMs = 20

/** The composer's text field, by the attributes that DSH gives it. */
export const fieldSelector = '[data-composer-card] textarea'

/** Keys that do something to a text without being an edit of it. */
const inert = new Set([
  'Enter', 'Escape', 'Tab', 'Shift', 'Control', 'Alt', 'Meta', 'CapsLock',
  'ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End', 'PageUp', 'PageDown',
])

export class Activity {
  #lastEdit = -Infinity
  #lastGesture = -Infinity
  #composing = false
  #document
  #now
  /** @type {AbortController} */
  #stop = new AbortController()

  /** @param {Document} [doc] @param {() => number} [now] */
  constructor(doc = document, now = () => performance.now()) {
    this.#document = doc
    this.#now = now
    const options = { capture: true, signal: this.#stop.signal }
    /** @param {string} type @param {(event: any) => void} handler */
    const on = (type, handler) => doc.addEventListener(type, event => {
      if (event.target instanceof Element && event.target.matches(fieldSelector)) handler(event)
    }, options)
    for (const type of ['input', 'paste', 'cut', 'drop']) on(type, () => this.#edited())
    // DSH undoes and redoes by itself, without an input event.
    on('keydown', event => {
      this.#lastGesture = this.#now()
      if (!inert.has(event.key)) this.#edited()
    })
    on('pointerdown', () => { this.#lastGesture = this.#now() })
    on('compositionstart', () => { this.#composing = true })
    on('compositionend', () => setTimeout(() => { this.#composing = false }, compositionTailMs))
  }

  #edited() {
    this.#lastEdit = this.#lastGesture = this.#now()
  }

  /** @param {number} ms */
  editedWithin(ms) {
    return this.#now() - this.#lastEdit <= ms
  }

  /** Whether somebody is at the composer on screen, see above. */
  get engaged() {
    const focused = this.#document.hasFocus() && this.field() === this.#document.activeElement
    return this.composing || (focused && this.#now() - this.#lastGesture <= quietMs)
  }

  /** Another session came on screen: what was done before was not done to it. */
  switched() {
    this.#lastEdit = this.#lastGesture = -Infinity
  }

  /** A composition that ended with its window (a closed candidate list) does not hold for ever. */
  get composing() {
    return this.#composing && this.field() === this.#document.activeElement
  }

  /** @returns {HTMLTextAreaElement | null} */
  field() {
    return this.#document.querySelector(fieldSelector)
  }

  /**
   * DSH uses one text field for all sessions, and a switch leaves the caret at its
   * start. Writing goes on at the end. To be called before the first key can come.
   */
  caretToEnd() {
    const field = this.field()
    if (!field || this.composing || field.selectionStart !== 0 || field.selectionEnd !== 0) return
    field.setSelectionRange(field.value.length, field.value.length)
  }

  /**
   * Somebody is writing while the session under the text field changes: the caret
   * stays where it is in the same text.
   * @param {() => void} change
   */
  keepCaret(change) {
    const field = this.field()
    const { value, selectionStart, selectionEnd } = field ?? { value: '', selectionStart: 0, selectionEnd: 0 }
    change()
    // React has rendered the change before this runs, and the next key comes after it.
    queueMicrotask(() => {
      const now = this.field()
      if (now?.value === value) now.setSelectionRange(selectionStart, selectionEnd)
    })
  }

  dispose() {
    this.#stop.abort()
  }
}
