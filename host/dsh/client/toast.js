/** One short message at a time, with a way back where there is one. */
import { createElement as h, useEffect } from 'react'
import { usePage, useText } from './app.js'
import { CloseIcon } from './icons.js'
import { reasonText } from './locale.js'

const shownMs = 8_000

/** @param {{ app: import('./app.js').App }} props */
export function Toast({ app }) {
  const t = useText(app)
  const toast = usePage(app, state => state.toast)
  useEffect(() => {
    if (!toast) return
    const timer = setTimeout(() => app.store.set({ toast: undefined }), shownMs)
    return () => clearTimeout(timer)
  }, [app, toast])
  if (!toast) return null
  const { code, reason, ...params } = toast.params ?? {}
  const why = reasonText(t, String(code ?? ''), String(reason ?? ''))
  const { action } = toast
  return h('div', { 'className': 'dss-toast', 'role': toast.level === 'error' ? 'alert' : 'status', 'data-drafts-toast': toast.key },
    h('span', { className: 'dss-toast-text' }, t(toast.key, { ...params, why, reason: why })),
    action && h('button', {
      type: 'button', className: 'dss-toast-action',
      onClick: () => {
        app.store.set({ toast: undefined })
        action.run()
      },
    }, t(action.key)),
    h('button', { 'type': 'button', 'className': 'dss-close', 'aria-label': t('close'), 'onClick': () => app.store.set({ toast: undefined }) }, h(CloseIcon, { size: 14 })))
}
