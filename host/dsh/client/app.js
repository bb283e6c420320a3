/** What the components of the page share. */
import { useSyncExternalStore } from 'react'
import { useTranslate } from './locale.js'

/**
 * @typedef {object} PageState
 * @property {import('../wire/types.js').Mode} mode
 * @property {import('../wire/types.js').Sidebar | undefined} sidebar
 * @property {ReadonlySet<string>} hidden the drafts' sessions, the same set for the same sessions
 * @property {Record<string, import('./bridge/types.js').EditorState>} editors by draft, of this page
 * @property {string | undefined} shown the draft on screen
 * @property {readonly import('../wire/types.js').Notice[]} notices of this page, beside the sidebar's
 * @property {boolean} creating
 * @property {(import('./actions.js').Toast & { id: number }) | undefined} toast
 * @property {{ draftId: string, title: string } | undefined} dialog
 */
/**
 * @typedef {object} App
 * @property {import('./store.js').Store<PageState>} store
 * @property {import('./actions.js').Actions} actions
 * @property {import('./dsh.js').Context} ctx
 */

/** @type {PageState} */
export const initialState = {
  mode: 'starting', sidebar: undefined, hidden: new Set(), editors: {}, shown: undefined, notices: [], creating: false, toast: undefined, dialog: undefined,
}

/**
 * @template S
 * @param {App} app
 * @param {(state: PageState) => S} select must give the same object for the same state
 * @returns {S}
 */
export function usePage({ store }, select) {
  return useSyncExternalStore(store.subscribe, () => select(store.getSnapshot()))
}

/** @param {App} app */
export function useText({ ctx }) {
  return useTranslate(ctx.locale)
}

/**
 * How a draft's saving stands: what this page knows of its own typing first, else
 * what the plugin says.
 * @param {import('../wire/types.js').Row} row
 * @param {import('./bridge/types.js').EditorState | undefined} editor
 * @returns {{ state: 'saved' | 'saving' | 'not_saved', code: string, message: string, retrying: boolean }}
 */
export function saveOf(row, editor) {
  if (editor?.save === 'not_saved') return { state: 'not_saved', code: editor.code, message: editor.message, retrying: editor.retrying }
  if (row.saveState === 'not_saved') return { state: 'not_saved', code: row.saveCode, message: row.saveMessage, retrying: true }
  const saving = editor?.save === 'saving' || row.saveState === 'saving'
  return { state: saving ? 'saving' : 'saved', code: '', message: '', retrying: false }
}
