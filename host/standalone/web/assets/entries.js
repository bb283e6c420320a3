/** The lines of the sidebar, from top to bottom. The order of drafts is the plugin's; nothing is decided here. */
import { baseName, workspaceOf } from './model.js'

/**
 * @typedef {import('./model.js').Model} Model
 * @typedef {import('../types/api.js').Row} Row
 * @typedef {import('../types/api.js').Session} Session
 * @typedef {import('../types/api.js').Workspace} Workspace
 */
/**
 * @typedef {{ kind: 'workspace', key: string, id: string, name: string, path: string, missing: boolean, gone: boolean, open: boolean, drafts: number, level: 1, at: number, of: number }} WorkspaceEntry gone: the folder is in no workspace, its drafts still show
 * @typedef {{ kind: 'draft', key: string, row: Row, workspaceId: string, level: 2, at: number, of: number }} DraftEntry
 * @typedef {{ kind: 'session', key: string, session: Session, workspaceId: string, level: 2, at: number, of: number }} SessionEntry
 * @typedef {{ kind: 'more', key: string, workspaceId: string, left: number, level: 2, at: number, of: number }} MoreEntry
 * @typedef {WorkspaceEntry | DraftEntry | SessionEntry | MoreEntry} Entry
 */
/**
 * @typedef {object} Shown
 * @property {ReadonlySet<string>} closed workspaces that are folded
 * @property {Found | undefined} [found] only these, and every workspace that has one is unfolded
 */
/** @typedef {{ drafts: ReadonlySet<string>, sessions: readonly Session[] }} Found */

/** @param {Model} model @param {Shown} shown @returns {Entry[]} */
export function entriesOf(model, { closed, found }) {
  const groups = grouped(model, found)
  /** @type {Entry[]} */
  const entries = []
  const shown = found ? groups.filter(({ rows, sessions }) => rows.length + sessions.length > 0) : groups
  shown.forEach(({ id, name, path, missing, gone, rows, sessions, left }, index) => {
    const open = found !== undefined || !closed.has(id)
    entries.push({ kind: 'workspace', key: `w:${id}`, id, name, path, missing, gone, open, drafts: rows.length, level: 1, at: index + 1, of: shown.length })
    if (!open) return
    const of = rows.length + sessions.length + (left > 0 ? 1 : 0)
    rows.forEach((row, at) => entries.push({ kind: 'draft', key: `d:${row.draftId}`, row, workspaceId: id, level: 2, at: at + 1, of }))
    sessions.forEach((session, at) => entries.push({ kind: 'session', key: `s:${session.id}`, session, workspaceId: id, level: 2, at: rows.length + at + 1, of }))
    if (left > 0) entries.push({ kind: 'more', key: `m:${id}`, workspaceId: id, left, level: 2, at: of, of })
  })
  return entries
}

/** @typedef {{ id: string, name: string, path: string, missing: boolean, gone: boolean, rows: Row[], sessions: readonly Session[], left: number }} Group */

/** @param {Model} model @param {Found | undefined} found @returns {Group[]} */
function grouped(model, found) {
  const { state, listed, more } = model
  /** @type {Map<string, Group>} */
  const groups = new Map(state.workspaces.map(({ id, name, path, missing }) => {
    const all = listed.get(id) ?? []
    const sessions = found ? found.sessions.filter(session => session.workspaceId === id) : all
    return [id, { id, name: name || baseName(path), path, missing, gone: false, rows: [], sessions, left: found ? 0 : more.get(id) ?? 0 }]
  }))
  for (const row of state.sidebar?.rows ?? []) {
    if (found && !found.drafts.has(row.draftId)) continue
    const workspace = workspaceOf(model, row)
    const id = workspace?.id ?? `gone:${row.workspacePath || row.workspaceId}`
    let group = groups.get(id)
    if (!group) {
      const path = row.workspacePath || row.workspaceId
      group = { id, name: baseName(path), path, missing: true, gone: true, rows: [], sessions: [], left: 0 }
      groups.set(id, group)
    }
    group.rows.push(row)
  }
  return [...groups.values()]
}

/**
 * The order to ask for when a draft moves by one within its own kind (pinned or not).
 * @param {readonly Row[]} rows of one workspace, as shown
 * @param {string} draftId
 * @param {-1 | 1} by
 * @returns {string[] | undefined} undefined when it cannot go that way
 */
export function orderAfterStep(rows, draftId, by) {
  const from = rows.findIndex(row => row.draftId === draftId)
  return orderAfterMove(rows, draftId, from + by)
}

/**
 * The order to ask for when a draft is put at a place of the list.
 * @param {readonly Row[]} rows of one workspace, as shown
 * @param {string} draftId
 * @param {number} to its place afterwards
 * @returns {string[] | undefined} undefined when that changes nothing, or crosses the pinned ones
 */
export function orderAfterMove(rows, draftId, to) {
  const from = rows.findIndex(row => row.draftId === draftId)
  const moved = rows[from]
  const target = rows[to]
  if (!moved || !target || from === to || moved.pinned !== target.pinned) return undefined
  const ids = rows.map(row => row.draftId)
  ids.splice(from, 1)
  ids.splice(to, 0, draftId)
  return ids
}
