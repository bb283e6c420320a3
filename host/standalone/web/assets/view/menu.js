/** A menu beside what it belongs to: arrows, Home, End, Escape, and the keyboard goes back where it was. */
import { attribute, h, icon } from './dom.js'

/** @typedef {{ label: string, icon?: import('./dom.js').IconName, keys?: string, danger?: boolean, off?: boolean, run: () => void } | 'line'} MenuItem */

/** @type {(() => void) | undefined} */
let closeOpen

/**
 * @param {{ x: number, y: number } | Element} at
 * @param {string} label
 * @param {readonly MenuItem[]} items
 * @param {() => void} back puts the keyboard back
 */
export function openMenu(at, label, items, back) {
  closeOpen?.()
  const stop = new AbortController()
  const buttons = /** @type {HTMLButtonElement[]} */ ([])
  const menu = h('div', { class: 'menu', role: 'menu', 'aria-label': label, popover: 'manual' })
  /** @param {boolean} toBack */
  const close = toBack => {
    if (stop.signal.aborted) return
    stop.abort()
    closeOpen = undefined
    if (at instanceof Element) attribute(at, 'aria-expanded', 'false')
    // First away, then gone: an element that is removed drops the focus to the body.
    if (toBack) back()
    menu.remove()
  }
  closeOpen = () => close(false)
  for (const item of items) {
    if (item === 'line') {
      menu.append(h('div', { class: 'menu-line', role: 'separator' }))
      continue
    }
    const button = h('button', {
      type: 'button', role: 'menuitem', tabindex: '-1', class: item.danger ? 'menu-item danger' : 'menu-item', 'aria-disabled': item.off ? 'true' : undefined,
      onclick: () => {
        if (item.off) return
        close(true)
        item.run()
      },
    }, item.icon ? icon(item.icon) : h('span', { class: 'icon' }), h('span', { class: 'menu-label' }, item.label), item.keys && h('kbd', {}, item.keys))
    buttons.push(button)
    menu.append(button)
  }
  menu.addEventListener('keydown', event => {
    const at = buttons.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement))
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key]
    if (to !== undefined) buttons[(to + buttons.length) % buttons.length]?.focus()
    else if (event.key === 'Escape' || event.key === 'Tab') close(true)
    else if (event.key !== 'Enter' && event.key !== ' ') return
    else return event.stopPropagation()
    event.preventDefault()
    event.stopPropagation()
  })
  document.body.append(menu)
  menu.showPopover()
  place(menu, at)
  if (at instanceof Element) attribute(at, 'aria-expanded', 'true')
  const options = { capture: true, signal: stop.signal }
  addEventListener('pointerdown', event => { if (!menu.contains(/** @type {Node} */ (event.target))) close(menu.contains(document.activeElement)) }, options)
  addEventListener('resize', () => close(true), options)
  addEventListener('blur', () => close(true), { signal: stop.signal })
  buttons[0]?.focus()
}

/** @param {HTMLElement} menu @param {{ x: number, y: number } | Element} at */
function place(menu, at) {
  const gap = 4
  const { width, height } = menu.getBoundingClientRect()
  const box = at instanceof Element ? at.getBoundingClientRect() : undefined
  const x = box ? box.right - width : /** @type {{ x: number }} */ (at).x
  const below = box ? box.bottom + gap : /** @type {{ y: number }} */ (at).y
  const above = box ? box.top - height - gap : below - height
  menu.style.left = `${Math.max(8, Math.min(x, innerWidth - width - 8))}px`
  menu.style.top = `${below + height + 8 > innerHeight && above > 8 ? above : below}px`
}
