/** A small menu beside a row: arrow keys, Escape, and back to where the focus was. */
import { createElement as h, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { createPortal } from 'react-dom'

/**
 * @typedef {{ id: string, label: string, danger?: boolean, disabled?: boolean, run: () => void }} MenuItem
 */

const gap = 4
const margin = 8

/** @param {{ label: string, draftId: string, anchor: HTMLElement, items: MenuItem[], onClose: (refocus: boolean) => void }} props */
export function Menu({ label, draftId, anchor, items, onClose }) {
  const list = useRef(/** @type {HTMLDivElement | null} */ (null))
  const [at, setAt] = useState({ top: 0, left: 0 })

  useLayoutEffect(() => {
    const box = list.current?.getBoundingClientRect()
    if (!box) return
    const from = anchor.getBoundingClientRect()
    const below = from.bottom + gap
    const top = below + box.height + margin <= window.innerHeight ? below : Math.max(margin, from.top - gap - box.height)
    setAt({ top, left: Math.max(margin, Math.min(from.left, window.innerWidth - box.width - margin)) })
    list.current?.querySelector('button')?.focus({ preventScroll: true })
  }, [anchor])

  useEffect(() => {
    /** @param {Event} event */
    const outside = event => {
      const target = /** @type {Node} */ (event.target)
      if (!list.current?.contains(target) && !anchor.contains(target)) onClose(false)
    }
    const close = () => onClose(false)
    document.addEventListener('pointerdown', outside, true)
    window.addEventListener('resize', close)
    window.addEventListener('blur', close)
    return () => {
      document.removeEventListener('pointerdown', outside, true)
      window.removeEventListener('resize', close)
      window.removeEventListener('blur', close)
    }
  }, [anchor, onClose])

  /** @param {import('react').KeyboardEvent} event */
  const keyDown = event => {
    const buttons = [...list.current?.querySelectorAll('button:not(:disabled)') ?? []]
    const now = buttons.indexOf(/** @type {Element} */ (document.activeElement))
    const to = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: buttons.length - 1 }[event.key]
    if (to !== undefined) {
      /** @type {HTMLElement} */ (buttons[(to + buttons.length) % buttons.length]).focus()
    } else if (event.key === 'Escape' || event.key === 'Tab') {
      onClose(true)
    } else {
      return
    }
    event.preventDefault()
    event.stopPropagation()
  }

  return createPortal(
    h('div', { 'ref': list, 'className': 'dss-menu', 'role': 'menu', 'aria-label': label, 'data-drafts-menu': draftId, 'style': at, 'onKeyDown': keyDown },
      items.map(({ id, label: text, danger, disabled, run }) => h('button', {
        'key': id, 'type': 'button', 'role': 'menuitem', 'tabIndex': -1, 'disabled': disabled === true,
        'className': danger ? 'dss-menu-item dss-danger' : 'dss-menu-item', 'data-drafts-action': id,
        'onClick': () => {
          onClose(true)
          run()
        },
      }, text))),
    document.body,
  )
}
