/** What the host told this page: the whole state, and how each event changes it. No DOM. */

/**
 * @typedef {import('../types/api.js').State} State
 * @typedef {import('../types/api.js').Workspace} Workspace
 * @typedef {import('../types/api.js').Session} Session
 * @typedef {import('../types/api.js').Row} Row
 */
/**
 * @typedef {object} Model
 * @property {State} state
 * @property {Map<string, Session>} sessions every session that is known, those of drafts too
 * @property {Map<string, Session[]>} listed by workspace, the newest first, without those of drafts
 * @property {number} version another one after every change of what the list shows
 * @property {Map<string, number>} more by workspace, how many sessions the host has beyond those that it sent
 */

/** @returns {Model} */
export function emptyModel() {
  return {
    state: {
      instance: '', version: '', plugin: { mode: 'full', epoch: '', message: '' },
      defaultAgent: '', agents: [], workspaces: [], sidebar: null,
    },
    sessions: new Map(),
    listed: new Map(),
    more: new Map(),
    version: 0,
  }
}

/** @param {Model} model @param {State} state */
export function applyState(model, state) {
  model.state = state
  // Sessions that were shown beyond the newest stay.
  for (const { id, sessions = [], sessionCount } of state.workspaces) {
    const extra = [...model.sessions.values()].filter(session => session.workspaceId === id && !sessions.some(one => one.id === session.id))
    model.more.set(id, Math.max(0, sessionCount - sessions.length - extra.length))
    for (const session of sessions) model.sessions.set(session.id, session)
  }
  relist(model)
}

/** @param {Model} model @param {string} workspaceId @param {readonly Session[]} sessions the next of them @param {boolean} last there are no others */
export function applyPage(model, workspaceId, sessions, last) {
  const fresh = sessions.filter(({ id }) => !model.sessions.has(id))
  for (const session of sessions) model.sessions.set(session.id, session)
  model.more.set(workspaceId, last ? 0 : Math.max(1, (model.more.get(workspaceId) ?? 0) - fresh.length))
  relist(model)
  return fresh.length
}

/** @param {Model} model @param {string} name @param {any} data */
export function applyEvent(model, name, data) {
  const { state } = model
  switch (name) {
    case 'plugin':
      state.plugin = data
      break
    case 'agents':
      state.agents = data.agents
      break
    case 'workspaces':
      state.workspaces = data.workspaces
      relist(model)
      break
    case 'session':
      model.sessions.set(data.id, data)
      relist(model)
      break
    case 'session-removed':
      model.sessions.delete(data.id)
      relist(model)
      break
    case 'sidebar':
      state.sidebar = data
      relist(model)
      break
  }
}

/** @param {Model} model */
function relist(model) {
  model.version++
  const drafts = new Set(model.state.sidebar?.sessionIds)
  /** @type {Map<string, Session[]>} */
  const listed = new Map()
  const byPath = new Map(model.state.workspaces.map(({ id, path }) => [path, id]))
  for (const session of model.sessions.values()) {
    // A blank session without a name is what is left of a draft, or will be one's.
    if (session.archived || session.trashedAt > 0 || drafts.has(session.id) || (session.blank && session.title === '')) continue
    const workspace = session.workspaceId || byPath.get(session.workspacePath)
    if (workspace === undefined) continue
    const list = listed.get(workspace)
    if (list) list.push(session)
    else listed.set(workspace, [session])
  }
  for (const list of listed.values()) list.sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1))
  model.listed = listed
}

/** @param {Model} model @param {string} draftId @returns {Row | undefined} */
export function rowOf({ state }, draftId) {
  return state.sidebar?.rows.find(row => row.draftId === draftId)
}

/** The workspace that a row is shown in: by its id, then by its path. @param {Model} model @param {Pick<Row, 'workspaceId' | 'workspacePath'>} row */
export function workspaceOf({ state }, { workspaceId, workspacePath }) {
  return state.workspaces.find(({ id }) => id === workspaceId) ?? state.workspaces.find(({ path }) => path === workspacePath && path !== '')
}

/** @param {string} path */
export function baseName(path) {
  return path.split(/[\\/]/).filter(part => part !== '').at(-1) ?? path
}

/** Why drafts cannot be saved or shown, if they cannot. @param {Model} model @returns {'starting' | 'stock' | 'storage' | undefined} */
export function trouble({ state: { plugin, sidebar } }) {
  if (plugin.mode === 'stock') return 'stock'
  if (plugin.epoch === '') return 'starting'
  return (sidebar?.storage?.code ?? '') === '' ? undefined : 'storage'
}
