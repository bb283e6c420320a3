/** One short message at a time, with a way back where there is one. */
import { createElement as h, useEffect, useRef, useState } from 'react'
import { usePage, useText } from './app.js'
import { CloseIcon } from './icons.js'
import { reasonText } from './locale.js'

/**
 * @typedef {import('./store.js').Store<import('./state.js').PageState>} PageStore
 */

const shownMs = 8_000

/**
 * Take back what the toast offers to take back.
 * @param {PageStore} store
 * @returns {boolean} whether it offers that
 */
export function takeBack(store) {
  const { toast } = store.getSnapshot()
  if (toast?.action?.key !== 'undo') return false
  act(store)
  return true
}

/** @param {PageStore} store */
function act(store) {
  const { toast } = store.getSnapshot()
  store.set({ toast: undefined })
  toast?.action?.run()
}

/** @param {{ app: import('./app.js').App }} props */
export function Toast({ app }) {
  const toast = usePage(app, state => state.toast)
  return toast ? h(Message, { key: toast.id, app, toast }) : null
}

/** @param {{ app: import('./app.js').App, toast: NonNullable<import('./state.js').PageState['toast']> }} props */
function Message({ app, toast }) {
  const t = useText(app)
  const [pointed, setPointed] = useState(false)
  const [focused, setFocused] = useState(false)
  /** What had the focus before this. */
  const before = useRef(/** @type {EventTarget | null} */ (null))
  // Whoever is about to press its button is not raced.
  const held = pointed || focused || toast.stays === true
  useEffect(() => {
    if (held) return
    const timer = setTimeout(() => app.store.set({ toast: undefined }), shownMs)
    return () => clearTimeout(timer)
  }, [app, held])
  const close = () => {
    app.store.set({ toast: undefined })
    if (focused && before.current instanceof HTMLElement) before.current.focus()
  }
  const { code, reason, ...params } = toast.params ?? {}
  const why = reasonText(t, String(code ?? ''), String(reason ?? ''))
  const { action } = toast
  return h('div', {
    'className': 'dss-toast', 'role': toast.level === 'error' ? 'alert' : 'status', 'data-drafts-toast': toast.key,
    'onMouseEnter': () => setPointed(true), 'onMouseLeave': () => setPointed(false),
    /** @param {import('react').FocusEvent} event */
    'onFocus': event => {
      if (!event.currentTarget.contains(event.relatedTarget)) before.current = event.relatedTarget
      setFocused(true)
    },
    'onBlur': () => setFocused(false),
    /** @param {import('react').KeyboardEvent} event */
    'onKeyDown': event => {
      if (event.key !== 'Escape') return
      event.stopPropagation()
      close()
    },
  },
  h('span', { className: 'dss-toast-text' }, t(toast.key, { ...params, why, reason: why })),
  action && h('button', {
    'type': 'button', 'className': 'dss-toast-action', 'onClick': () => act(app.store),
    ...(action.key === 'undo' ? { 'title': t('undo.hint'), 'aria-keyshortcuts': 'Control+Z Meta+Z' } : {}),
  }, t(action.key)),
  h('button', { 'type': 'button', 'className': 'dss-close', 'aria-label': t('close'), 'onClick': close }, h(CloseIcon, { size: 14 })))
}
