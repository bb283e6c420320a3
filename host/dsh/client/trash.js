/** What was deleted in the last 30 days: to look at, and to bring back. */
import { createElement as h, useEffect, useRef, useState } from 'react'
import { usePage, useText } from './app.js'
import { Dialog, timeText } from './dialog.js'
import { reasonText } from './locale.js'

/**
 * @typedef {import('./app.js').App} App
 * @typedef {import('../wire/types.js').Message<'TrashEntry'>} Entry
 */

/** @type {readonly import('./dsh.js').Workspace[]} */
const noWorkspaces = []

/** @param {{ app: App }} props */
export function TrashDialog({ app }) {
  return usePage(app, state => state.trash) ? h(Trash, { app }) : null
}

/** @param {{ app: App }} props */
function Trash({ app }) {
  const t = useText(app)
  const list = useRef(/** @type {HTMLUListElement | null} */ (null))
  const count = usePage(app, state => state.sidebar?.trashCount)
  const [entries, setEntries] = useState(/** @type {Entry[] | undefined} */ (undefined))
  const [said, setSaid] = useState({ text: '', bad: false })
  const restored = useRef('')
  const workspaces = app.ctx.workspaces.list.getSnapshot().items ?? noWorkspaces
  /** @param {unknown} error */
  const failed = error => {
    const { code, message } = /** @type {import('./remote.js').RemoteError} */ (error)
    setSaid({ text: t('toast.failed', { why: reasonText(t, code ?? '', message) }), bad: true })
  }

  useEffect(() => {
    let stale = false
    app.actions.deleted().then(
      found => { if (!stale) setEntries(found) },
      error => {
        if (stale) return
        setEntries(known => known ?? [])
        failed(error)
      })
    return () => { stale = true }
  }, [app, count])

  /** @param {Entry} entry @param {number} at */
  const restore = async ({ draft, title }, at) => {
    try {
      await app.actions.bringBack(draft.id)
    } catch (error) {
      failed(error)
      return
    }
    restored.current = draft.id
    setSaid({ text: t('trash.restored', { title: title || t('empty') }), bad: false })
    setEntries(known => known?.filter(entry => entry.draft.id !== draft.id))
    // The button goes with its entry; the next one takes its place.
    setTimeout(() => {
      const buttons = list.current?.querySelectorAll('button') ?? []
      const next = buttons[Math.min(at, buttons.length - 1)] ?? list.current?.closest('dialog')?.querySelector('button')
      if (document.activeElement === document.body || document.activeElement?.tagName === 'DIALOG') next?.focus()
    }, 0)
  }
  const about = entries === undefined ? 'conflicts.loading' : entries.length > 0 ? 'trash.about' : 'trash.none'
  return h(Dialog, {
    name: 'trash', title: t('trash.title'), closeLabel: t('close'),
    onClose: () => app.store.set({ trash: false, ...(restored.current ? { focus: restored.current } : {}) }),
  },
  h('p', { className: 'dss-dialog-about' }, t(about)),
  h('p', { 'className': said.bad ? 'dss-dialog-said dss-warn' : 'dss-dialog-said', 'role': said.bad ? 'alert' : 'status', 'data-drafts-said': '' }, said.text),
  h('ul', { ref: list, className: 'dss-copies' }, entries?.map((entry, at) => {
    const { draft, deletedAt } = entry
    const title = entry.title || t('empty')
    const folder = workspaces.find(({ workspaceId }) => workspaceId === draft.workspaceId)?.title ?? draft.workspacePath
    const when = t('trash.at', { time: timeText(app, deletedAt) })
    return h('li', { 'key': draft.id, 'className': 'dss-copy dss-deleted', 'data-drafts-deleted': draft.id },
      h('div', { className: 'dss-deleted-what' },
        h('div', { className: 'dss-deleted-title', title }, title),
        h('div', { className: 'dss-copy-time' }, folder ? `${folder} · ${when}` : when),
        draft.text.trim() !== '' && draft.text.trim() !== entry.title && h('div', { className: 'dss-deleted-text' }, draft.text)),
      h('button', {
        'type': 'button', 'className': 'dss-quiet', 'data-drafts-action': 'restore', 'aria-label': t('trash.restore.long', { title }),
        'onClick': () => { void restore(entry, at) },
      }, t('trash.restore')))
  })))
}
