/** The other versions of a draft: to read, to keep as a draft of their own, or to remove. */
import { createElement as h, useEffect, useState } from 'react'
import { usePage, useText } from './app.js'
import { Dialog, timeText } from './dialog.js'

/**
 * @typedef {import('./app.js').App} App
 * @typedef {import('../wire/types.js').Conflict} Conflict
 */

/** @param {{ app: App }} props */
export function ConflictsDialog({ app }) {
  const dialog = usePage(app, state => state.dialog)
  return dialog ? h(Conflicts, { key: dialog.draftId, app, ...dialog }) : null
}

/** @param {{ app: App, draftId: string, title: string }} props */
function Conflicts({ app, draftId, title }) {
  const t = useText(app)
  const row = usePage(app, state => state.sidebar?.rows.find(candidate => candidate.draftId === draftId))
  const [conflicts, setConflicts] = useState(/** @type {Conflict[] | undefined} */ (undefined))

  useEffect(() => {
    let stale = false
    app.actions.read(draftId).then(
      draft => { if (!stale) setConflicts(draft.conflicts) },
      () => { if (!stale) setConflicts([]) })
    return () => { stale = true }
    // The row's revision is every change of the draft, a new copy included.
  }, [app, draftId, row?.revision])

  return h(Dialog, {
    name: 'conflicts', title: t('conflicts.title', { title }), closeLabel: t('close'),
    // The mark that opened it goes with the last copy: then its row has the focus.
    onClose: () => app.store.set({ dialog: undefined, focus: draftId }),
  },
  h('p', { className: 'dss-dialog-about' }, conflicts === undefined ? t('conflicts.loading') : t(conflicts.length > 0 ? 'conflicts.about' : 'conflicts.none')),
  h('ul', { className: 'dss-copies' }, conflicts?.map(({ id, text, at }) => h('li', { 'key': id, 'className': 'dss-copy', 'data-drafts-copy': id },
    h('div', { className: 'dss-copy-time' }, t('conflicts.at', { time: timeText(app, at) })),
    h('pre', { className: 'dss-copy-text', tabIndex: 0 }, text || t('conflicts.blank')),
    h('div', { className: 'dss-copy-actions' },
      h('button', { 'type': 'button', 'className': 'dss-quiet dss-danger', 'data-drafts-action': 'remove', 'onClick': () => { void app.actions.resolve(draftId, id, false) } }, t('conflicts.remove')),
      h('button', { 'type': 'button', 'className': 'dss-quiet', 'data-drafts-action': 'keep', 'onClick': () => { void app.actions.resolve(draftId, id, true) } }, t('conflicts.keep')))))))
}
