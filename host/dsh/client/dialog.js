/** A modal box with a title: Escape, its button and a click beside it close it. */
import { createElement as h, useEffect, useRef } from 'react'
import { CloseIcon } from './icons.js'

/**
 * @param {{ name: string, title: string, closeLabel: string, onClose: () => void, children?: import('react').ReactNode }} props
 *   onClose: it is closed, and the focus is where it was before
 */
export function Dialog({ name, title, closeLabel, onClose, children }) {
  const box = useRef(/** @type {HTMLDialogElement | null} */ (null))
  useEffect(() => { box.current?.showModal() }, [])
  const close = () => box.current?.close()
  const id = `dss-dialog-${name}`
  return h('dialog', {
    'ref': box, 'className': 'dss-dialog', 'aria-labelledby': id, 'data-drafts-dialog': name, onClose,
    /** @param {import('react').MouseEvent} event */
    'onClick': event => { if (event.target === box.current) close() },
    // Keys in here are not for the page behind it.
    /** @param {import('react').KeyboardEvent} event */
    'onKeyDown': event => event.stopPropagation(),
  },
  h('div', { className: 'dss-dialog-body' },
    h('header', { className: 'dss-dialog-head' },
      h('h2', { id }, title),
      h('button', { 'type': 'button', 'className': 'dss-close', 'aria-label': closeLabel, 'onClick': close }, h(CloseIcon, {}))),
    children))
}

/** A point in time in the page's language. @param {import('./app.js').App} app @param {number} at */
export function timeText({ ctx }, at) {
  return new Date(at).toLocaleString(ctx.locale.getSnapshot().active === 'zh' ? 'zh-CN' : 'en')
}
