/**
 * The list of workspaces, drafts and sessions: an ARIA tree of which only what can be
 * seen is in the page, so that a thousand rows cost what twenty do. One row can be
 * reached with Tab, the arrows go from row to row, and the keyboard stays in the list
 * when a row goes.
 */
import { entriesOf } from '../entries.js'
import { focusIn, h } from './dom.js'
import { fillRow, rowHeight } from './row.js'
import { entryItems } from './items.js'
import { openMenu } from './menu.js'
import { treeKey } from './treekeys.js'

/**
 * @typedef {import('../app.js').App} App
 * @typedef {import('../entries.js').Entry} Entry
 */

const overscan = 8

export class Tree {
  /** @type {Entry[]} */
  entries = []
  /** The row that Tab reaches. */
  active = ''
  /** The row whose title is being written. */
  renaming = ''
  /** Only what was found. @type {import('../entries.js').Found | undefined} */
  found
  app

  #canvas
  #scroller
  /** Where each entry begins, and where the last ends. @type {number[]} */
  #tops = [0]
  /** @type {Map<string, number>} */
  #places = new Map()
  /** What the entries were made of. */
  #made = { version: -1, closed: 0, found: /** @type {Tree['found']} */ (undefined) }
  /** @type {Map<string, { element: HTMLElement, signature: string }>} */
  #rows = new Map()
  /** A row that gets the keyboard once it is there. */
  #awaited = ''
  /** Fetched when a mouse comes. @type {import('./drag.js').Dragging | undefined} */
  #dragging

  /** @param {App} app */
  constructor(app) {
    this.app = app
    this.#canvas = h('div', { class: 'tree', role: 'tree', 'aria-label': app.t('tree') })
    this.#scroller = h('div', { class: 'tree-scroller' }, this.#canvas)
    this.#canvas.addEventListener('pointerenter', async () => {
      const { Dragging } = await import('./drag.js')
      this.#dragging ??= new Dragging(this, this.#scroller, this.#canvas)
    })
    this.#scroller.addEventListener('scroll', () => this.#window(), { passive: true })
    new ResizeObserver(() => this.#window()).observe(this.#scroller)
    this.#canvas.addEventListener('click', event => this.#clicked(event))
    this.#canvas.addEventListener('keydown', event => treeKey(this, event))
    this.#canvas.addEventListener('contextmenu', event => {
      const entry = this.#entryOf(event.target)
      if (!entry) return
      event.preventDefault()
      this.openMenu(entry, { x: event.clientX, y: event.clientY })
    })
    this.#canvas.addEventListener('focusin', event => {
      const entry = this.#entryOf(event.target)
      if (entry && entry.key !== this.active) {
        this.active = entry.key
        this.#window()
      }
    })
  }

  get element() {
    return this.#scroller
  }

  update() {
    const { app } = this
    const before = this.entries
    const had = focusIn(this.#canvas)
    const at = this.#place(this.active)
    if (this.#made.version !== app.model.version || this.#made.closed !== app.folded || this.#made.found !== this.found) {
      this.#made = { version: app.model.version, closed: app.folded, found: this.found }
      this.entries = entriesOf(app.model, { closed: app.closed, found: this.found })
      this.#measure()
    }
    if (this.#awaited !== '' && this.#places.has(this.#awaited)) {
      const key = this.#awaited
      this.#awaited = ''
      // Whoever went on to write meanwhile keeps the keyboard.
      if (had || document.activeElement === document.body || document.activeElement?.closest('.toasts')) return this.focus(key)
    }
    if (!this.#places.has(this.active)) {
      const { selection } = app
      const selected = selection.kind === 'none' ? '' : `${selection.kind === 'draft' ? 'd' : 's'}:${selection.id}`
      const next = had ? this.#nearest(before, at) : (this.#places.has(selected) ? selected : undefined)
      this.active = next ?? this.entries[0]?.key ?? ''
      if (this.renaming !== '' && !this.#places.has(this.renaming)) this.renaming = ''
      this.#window()
      if (had) this.focus(this.active)
      return
    }
    this.#window()
  }

  /** The row that takes the keyboard of one that went. @param {Entry[]} before @param {number} at */
  #nearest(before, at) {
    const left = new Set(this.entries.map(entry => entry.key))
    return before.slice(at + 1).find(entry => entry.kind !== 'workspace' && left.has(entry.key))?.key
      ?? before.slice(0, Math.max(at, 0)).findLast(entry => left.has(entry.key))?.key
  }

  #measure() {
    let top = 0
    this.#tops = [0]
    this.#places = new Map()
    for (const entry of this.entries) {
      this.#places.set(entry.key, this.#tops.length - 1)
      top += rowHeight(entry)
      this.#tops.push(top)
    }
    this.#canvas.style.height = `${top}px`
  }

  /** @param {string} key */
  #place(key) {
    return this.#places.get(key) ?? -1
  }

  /** The index of the entry at a height. @param {number} y */
  indexAt(y) {
    let low = 0
    let high = this.entries.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (/** @type {number} */ (this.#tops[middle]) <= y) low = middle
      else high = middle - 1
    }
    return low
  }

  /** @param {number} index */
  topOf(index) {
    return this.#tops[index] ?? 0
  }

  /** Bring the rows that can be seen up to date, and those that have the keyboard. */
  #window() {
    const { scrollTop, clientHeight } = this.#scroller
    const first = Math.max(0, this.indexAt(scrollTop) - overscan)
    const last = Math.min(this.entries.length - 1, this.indexAt(scrollTop + clientHeight) + overscan)
    const wanted = new Set()
    const indices = new Set(Array.from({ length: last - first + 1 }, (_, i) => first + i))
    for (const key of [this.active, this.renaming]) {
      const index = this.#place(key)
      if (index >= 0) indices.add(index)
    }
    const focused = focusIn(this.#canvas) ? /** @type {HTMLElement} */ (document.activeElement) : undefined
    /** @type {Element | null} */
    let previous = null
    for (const index of [...indices].sort((a, b) => a - b)) {
      const entry = this.entries[index]
      if (!entry) continue
      wanted.add(entry.key)
      const { element } = this.#row(entry, index)
      // The order in the page is the order on screen, for those who do not see it.
      const next = /** @type {Element | null} */ (previous ? previous.nextElementSibling : this.#canvas.firstElementChild)
      if (next !== element) {
        put(this.#canvas, element, next)
      }
      previous = element
    }
    for (const [key, { element }] of this.#rows) {
      if (wanted.has(key)) continue
      this.#rows.delete(key)
      element.remove()
    }
    if (focused?.isConnected && document.activeElement !== focused) focused.focus({ preventScroll: true })
  }

  /** @param {Entry} entry @param {number} index */
  #row(entry, index) {
    let row = this.#rows.get(entry.key)
    if (!row) {
      row = { element: h('div', { role: 'treeitem', 'data-key': entry.key }), signature: '' }
      this.#rows.set(entry.key, row)
    }
    row.element.style.transform = `translateY(${this.#tops[index]}px)`
    row.signature = fillRow(this, entry, row)
    return row
  }

  /** @param {EventTarget | null} target @returns {Entry | undefined} */
  #entryOf(target) {
    const key = /** @type {HTMLElement | null} */ (target instanceof Element ? target.closest('[data-key]') : null)?.dataset.key
    return this.entries[this.#place(key ?? '')]
  }

  /** @param {MouseEvent} event */
  #clicked(event) {
    const entry = this.#entryOf(event.target)
    const target = /** @type {Element} */ (event.target)
    if (!entry || this.#dragging?.ended || target.closest('input')) return
    const button = /** @type {HTMLElement | null} */ (target.closest('button'))
    if (button?.dataset.act === 'menu') return this.openMenu(entry, button)
    if (button?.dataset.act === 'new' && entry.kind === 'workspace') return this.app.actions.newDraft(entry.id)
    this.active = entry.key
    this.open(entry, event.detail === 0)
  }

  /** What Enter and a click do. @param {Entry} entry @param {boolean} [stay] the keyboard stays in the list */
  open(entry, stay = false) {
    const { app } = this
    if (entry.kind === 'workspace') {
      this.focus(entry.key)
      if (!this.found) app.fold(entry.id)
    } else if (entry.kind === 'more') {
      void this.more(entry.workspaceId)
    } else {
      app.select(entry.kind === 'draft' ? { kind: 'draft', id: entry.row.draftId } : { kind: 'session', id: entry.session.id }, { focus: !stay })
    }
  }

  /** @type {(workspaceId: string) => Promise<void>} */
  more = async () => {}

  /** @param {Entry} entry @param {{ x: number, y: number } | Element} at */
  openMenu(entry, at) {
    this.active = entry.key
    this.#window()
    const { label, items } = entryItems(this.app, entry, { rename: () => this.rename(entry.key), entries: this.entries })
    if (items.length > 0) openMenu(at, label, items, () => this.focus(entry.key))
  }

  /** @param {string} key */
  rename(key) {
    this.renaming = key
    this.#window()
    this.#rows.get(key)?.element.querySelector('input')?.select()
  }

  /** @param {string} key */
  endRename(key) {
    if (this.renaming !== key) return
    const had = focusIn(this.#canvas)
    this.renaming = ''
    if (had) this.#rows.get(key)?.element.focus()
    this.#window()
  }

  /** The element of a row that is in the page. @param {string} key */
  elementOf(key) {
    return this.#rows.get(key)?.element
  }

  /** Give a row the keyboard, now or when it comes. @param {string} key */
  focus(key) {
    const index = this.#place(key)
    if (index < 0) {
      this.#awaited = key
      return
    }
    this.active = key
    this.#reveal(index)
    this.#window()
    this.#rows.get(key)?.element.focus({ preventScroll: true })
  }

  /** @param {number} index */
  #reveal(index) {
    const top = this.topOf(index)
    const bottom = this.topOf(index + 1)
    if (top < this.#scroller.scrollTop) this.#scroller.scrollTop = top
    else if (bottom > this.#scroller.scrollTop + this.#scroller.clientHeight) this.#scroller.scrollTop = bottom - this.#scroller.clientHeight
  }
}

/**
 * An element that only changes its place keeps the focus where the browser can do that.
 * @param {HTMLElement & { moveBefore?: (element: Element, before: Element | null) => void }} parent
 * @param {Element} element
 * @param {Element | null} before
 */
function put(parent, element, before) {
  if (element.parentElement === parent && parent.moveBefore) parent.moveBefore(element, before)
  else parent.insertBefore(element, before)
}
