/** What the page shows, and how it is summed up. */

/**
 * @typedef {object} PageState
 * @property {import('../wire/types.js').Mode} mode
 * @property {import('../wire/types.js').Sidebar | undefined} sidebar
 * @property {ReadonlySet<string>} hidden the drafts' sessions, the same set for the same sessions
 * @property {Record<string, import('./bridge/types.js').EditorState>} editors by draft, of this page
 * @property {string | undefined} shown the draft on screen
 * @property {readonly import('../wire/types.js').Notice[]} notices of this page, beside the sidebar's
 * @property {ReadonlySet<string>} quiet notices of the sidebar that this page need not show
 * @property {ReadonlySet<string>} unseen sessions in which a draft's text cannot be shown now
 * @property {boolean} creating
 * @property {string | undefined} reveal the draft whose row shall be in view once it is there
 * @property {string | undefined} focus the draft whose row shall have the keyboard focus once it is there
 * @property {(import('./actions.js').Toast & { id: number }) | undefined} toast
 * @property {{ draftId: string, title: string } | undefined} dialog
 * @property {boolean} trash whether the deleted drafts are shown
 */

/** @type {PageState} */
export const initialState = {
  mode: 'starting', sidebar: undefined, hidden: new Set(), editors: {}, shown: undefined, unseen: new Set(), notices: [], quiet: new Set(), creating: false,
  reveal: undefined, focus: undefined, toast: undefined, dialog: undefined, trash: false,
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
