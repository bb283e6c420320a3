/** A draft is taken by the mouse or a pen and put at another place of its workspace. Fingers scroll; they have the menu. */
import { orderAfterMove } from '../entries.js'
import { h } from './dom.js'
import { rowsBeside } from './items.js'

/**
 * @typedef {import('./tree.js').Tree} Tree
 * @typedef {import('../entries.js').DraftEntry} DraftEntry
 */

/** How far a press moves before it is a drag, in pixels. */
const threshold = 5
const edge = 28

export class Dragging {
  /** A drag has just ended: the click that follows is none. */
  ended = false

  #tree
  #scroller
  #canvas
  #line = h('div', { class: 'drop-line', 'aria-hidden': 'true' })
  /** @type {{ entry: DraftEntry, y: number, pointer: number, to: number, on: boolean } | undefined} */
  #held

  /** @param {Tree} tree @param {HTMLElement} scroller @param {HTMLElement} canvas */
  constructor(tree, scroller, canvas) {
    this.#tree = tree
    this.#scroller = scroller
    this.#canvas = canvas
    canvas.addEventListener('pointerdown', event => this.#down(event))
    canvas.addEventListener('pointermove', event => this.#move(event))
    canvas.addEventListener('pointerup', () => this.#up())
    canvas.addEventListener('pointercancel', () => this.#end())
    canvas.addEventListener('keydown', event => { if (event.key === 'Escape') this.#end() })
  }

  /** @param {PointerEvent} event */
  #down(event) {
    this.ended = false
    const target = /** @type {Element} */ (event.target)
    if (event.button !== 0 || event.pointerType === 'touch' || target.closest('button, input')) return
    const key = /** @type {HTMLElement | null} */ (target.closest('[data-key]'))?.dataset.key
    const entry = this.#tree.entries.find(one => one.key === key)
    if (entry?.kind === 'draft' && !this.#tree.found) this.#held = { entry, y: event.clientY, pointer: event.pointerId, to: -1, on: false }
  }

  /** @param {PointerEvent} event */
  #move(event) {
    const held = this.#held
    if (!held) return
    if (!held.on) {
      if (Math.abs(event.clientY - held.y) < threshold) return
      held.on = true
      this.#canvas.setPointerCapture(held.pointer)
      this.#canvas.classList.add('dragging')
      this.#tree.elementOf(held.entry.key)?.classList.add('dragged')
    }
    const box = this.#scroller.getBoundingClientRect()
    if (event.clientY < box.top + edge) this.#scroller.scrollTop -= edge / 2
    else if (event.clientY > box.bottom - edge) this.#scroller.scrollTop += edge / 2
    this.#aim(held, event.clientY - this.#canvas.getBoundingClientRect().top)
  }

  /** @param {{ entry: DraftEntry, to: number }} held @param {number} y */
  #aim(held, y) {
    const { entries } = this.#tree
    const { entry } = held
    const mates = entries.map((one, index) => ({ one, index })).filter(({ one }) =>
      one.kind === 'draft' && one.workspaceId === entry.workspaceId && one.row.pinned === entry.row.pinned)
    const from = mates.findIndex(({ one }) => one.key === entry.key)
    const first = mates[0]?.index ?? 0
    const gap = Math.max(0, Math.min(mates.length, Math.round((y - this.#tree.topOf(first)) / 32)))
    const to = gap > from ? gap - 1 : gap
    held.to = (mates[to]?.one.at ?? 0) - 1
    this.#line.style.transform = `translateY(${this.#tree.topOf(first + gap)}px)`
    if (!this.#line.isConnected) this.#canvas.append(this.#line)
  }

  #up() {
    const held = this.#held
    this.#end()
    if (!held?.on) return
    this.ended = true
    const { entry, to } = held
    const order = orderAfterMove(rowsBeside(this.#tree.entries, entry.workspaceId), entry.row.draftId, to)
    if (order) void this.#tree.app.actions.reorder(entry.row.workspaceId, order)
  }

  #end() {
    const held = this.#held
    this.#held = undefined
    this.#line.remove()
    this.#canvas.classList.remove('dragging')
    if (held) this.#tree.elementOf(held.entry.key)?.classList.remove('dragged')
  }
}
