/** Quiet lines: whether drafts are paused, and what happened to drafts while nobody looked. */
import { Fragment, createElement as h } from 'react'
import { usePage, useText } from './app.js'
import { CloseIcon, InfoIcon, WarnIcon } from './icons.js'
import { reasonText } from './locale.js'

/**
 * @typedef {import('./app.js').App} App
 */

/** @type {import('../wire/types.js').Notice[]} */
const none = []
const kinds = new Set(['detached', 'recreated', 'late_edit', 'lost', 'conflict_kept', 'moved', 'overridden'])

/** @param {{ app: App }} props */
export function Notices({ app }) {
  const t = useText(app)
  const mode = usePage(app, state => state.mode)
  const told = usePage(app, state => state.sidebar?.notices ?? none)
  const own = usePage(app, state => state.notices)
  const quiet = usePage(app, state => state.quiet)
  const notices = [...told.filter(({ id }) => !quiet.has(id)), ...own.filter(({ kind, draftId }) => !told.some(other => other.kind === kind && other.draftId === draftId))]
  const storage = usePage(app, state => state.sidebar?.storage)
  const broken = mode === 'full' && storage !== undefined && storage.code !== ''
  return h(Fragment, null,
    mode !== 'full' && h('div', { 'className': 'dss-notice dss-notice-warn', 'role': 'status', 'data-drafts-status': 'paused' },
      h('span', { className: 'dss-slot' }, h(WarnIcon, { size: 14 })),
      h('span', { className: 'dss-notice-text' }, t('status.paused')),
      h('button', { type: 'button', className: 'dss-link', onClick: () => { void app.actions.rearm() } }, t('status.rearm'))),
    broken && h('div', { 'className': 'dss-notice dss-notice-warn', 'role': 'alert', 'data-drafts-status': storage.code, 'title': storage.path },
      h('span', { className: 'dss-slot' }, h(WarnIcon, { size: 14 })),
      h('span', { className: 'dss-notice-text' }, t('status.storage', { why: reasonText(t, storage.code, storage.message) }))),
    notices.filter(({ kind }) => kinds.has(kind)).map(({ id, kind, title }) => h('div', {
      'key': id, 'className': 'dss-notice', 'role': 'status', 'data-drafts-notice': kind,
    },
    h('span', { className: 'dss-slot' }, h(InfoIcon, { size: 14 })),
    h('span', { className: 'dss-notice-text' }, t(`notice.${kind}`, { title: title || t('empty') })),
    h('button', {
      'type': 'button', 'className': 'dss-close', 'aria-label': t('dismiss'), 'title': t('dismiss'),
      'onClick': () => { void app.actions.dismiss(id) },
    }, h(CloseIcon, { size: 14 })))))
}
