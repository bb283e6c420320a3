/** What the menus of a workspace, a draft and a session offer. */
import { orderAfterStep } from '../entries.js'
import { openDialog } from './dialog.js'

/**
 * @typedef {import('../app.js').App} App
 * @typedef {import('../entries.js').Entry} Entry
 * @typedef {import('../entries.js').DraftEntry} DraftEntry
 * @typedef {import('./menu.js').MenuItem} MenuItem
 */

/** The drafts that stand in one workspace with this one. @param {readonly Entry[]} entries @param {string} workspaceId */
export const rowsBeside = (entries, workspaceId) =>
  entries.filter(entry => entry.kind === 'draft' && entry.workspaceId === workspaceId).map(entry => /** @type {DraftEntry} */ (entry).row)

/**
 * @param {App} app
 * @param {Entry} entry
 * @param {{ rename?: () => void, entries: readonly Entry[] }} how
 * @returns {{ label: string, items: MenuItem[] }}
 */
export function entryItems(app, entry, { rename, entries }) {
  const { t, actions } = app
  /** @type {MenuItem[]} */
  const renaming = rename ? [{ label: t('menu.rename'), icon: 'pen', keys: 'F2', run: rename }] : []
  switch (entry.kind) {
    case 'workspace': {
      if (entry.gone) return { label: '', items: [] }
      const { workspaces } = app.model.state
      const at = workspaces.findIndex(({ id }) => id === entry.id)
      return {
        label: t('menu', { title: entry.name }),
        items: [
          { label: t('new'), icon: 'plus', run: () => actions.newDraft(entry.id) },
          ...renaming,
          { label: t('menu.up'), icon: 'up', keys: 'Alt ↑', off: at <= 0, run: () => { void actions.moveWorkspace(entry.id, -1) } },
          { label: t('menu.down'), icon: 'down', keys: 'Alt ↓', off: at === workspaces.length - 1, run: () => { void actions.moveWorkspace(entry.id, 1) } },
          'line',
          { label: t('menu.remove'), icon: 'cross', run: () => { void actions.removeWorkspace(entry.id, entry.name) } },
        ],
      }
    }
    case 'draft': return draftItems(app, entry, renaming, entries)
    case 'session': {
      const { session } = entry
      const title = session.title || t('untitled')
      return {
        label: t('menu', { title }),
        items: [
          ...renaming,
          { label: t('menu.archive'), icon: 'archive', run: () => { void actions.putAway(session, title, 'archive') } },
          'line',
          { label: t('menu.delete'), icon: 'trash', keys: 'Del', danger: true, run: () => { void actions.putAway(session, title, 'trash') } },
        ],
      }
    }
    case 'more': return { label: '', items: [] }
  }
}

/** @param {App} app @param {DraftEntry} entry @param {MenuItem[]} renaming @param {readonly Entry[]} entries */
function draftItems(app, { row, workspaceId }, renaming, entries) {
  const { t, actions } = app
  const title = row.title || t('empty')
  const rows = rowsBeside(entries, workspaceId)
  /** @param {-1 | 1} by */
  const step = by => orderAfterStep(rows, row.draftId, by)
  /** @param {-1 | 1} by @returns {MenuItem} */
  const mover = by => {
    const order = step(by)
    return {
      label: t(by < 0 ? 'menu.up' : 'menu.down'), icon: by < 0 ? 'up' : 'down', keys: by < 0 ? 'Alt ↑' : 'Alt ↓', off: !order,
      run: () => { if (order) void actions.reorder(row.workspaceId, order) },
    }
  }
  /** @type {MenuItem[]} */
  const items = [
    ...renaming,
    { label: t(row.pinned ? 'menu.unpin' : 'menu.pin'), icon: 'pin', run: () => { void actions.update(row.draftId, { pinned: !row.pinned }) } },
    { label: t('menu.duplicate'), icon: 'copies', run: () => { void actions.duplicate(row.draftId) } },
    mover(-1), mover(1),
  ]
  if (app.model.state.workspaces.length > 1) items.push({ label: t('menu.move'), icon: 'folder', run: () => openDialog('move', app, row.draftId) })
  if (row.conflicts > 0) items.push({ label: t('menu.conflicts'), icon: 'list', run: () => { openDialog('conflicts', app, row.draftId) } })
  items.push('line', { label: t('menu.delete'), icon: 'trash', keys: 'Del', danger: true, run: () => { void actions.remove(row.draftId, title) } })
  return { label: t('menu', { title }), items }
}
