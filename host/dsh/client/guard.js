/**
 * Keeps DSH's own New Session away from drafts' sessions. New Session, a group's "+",
 * the start page and the workspace picker all take the first blank session of a
 * workspace through `connectWorkspace`, and a draft's session is blank.
 */

/**
 * @typedef {import('./dsh.js').Context} Context
 * @typedef {import('../wire/types.js').Mode} Mode
 */
/**
 * @typedef {object} GuardHost
 * @property {(ms: number) => Promise<Mode>} mode decided, or what it is after that time
 * @property {(workspaceId: string, candidates: string[]) => Promise<string>} choose the first candidate that is no draft's, or ''
 * @property {() => ReadonlySet<string>} known sessions of drafts as last heard
 */

/** How long DSH's start may wait for the plugin to be up, in milliseconds. */
export const startMs = 2_000
/** How long a New Session may wait for the plugin's answer, in milliseconds. */
export const chooseMs = 3_000
/** How long after a connection DSH's picker may move a text, in milliseconds. */
const pickMs = 2_000

/**
 * @param {Pick<Context, 'sessions' | 'workspaces'>} ctx
 * @param {GuardHost} host
 * @returns {{ picked: () => string | undefined, dispose: () => void } | undefined}
 *   picked: the session that was connected a moment ago; undefined where DSH is not as expected
 */
export function installGuard({ sessions, workspaces }, host) {
  const original = workspaces.connectWorkspace
  if (typeof original !== 'function' || typeof sessions.create !== 'function') return undefined
  const own = Object.hasOwn(workspaces, 'connectWorkspace')
  /** One connection a workspace at a time, as in DSH. @type {Map<string, Promise<string>>} */
  const connecting = new Map()
  let last = { sessionId: '', at: 0 }

  /** @param {string} workspaceId */
  const connect = async workspaceId => {
    const mode = await host.mode(startMs)
    const workspace = workspaces.list.getSnapshot().items.find(item => item.workspaceId === workspaceId)
    if (mode === 'stock' || !workspace) return original.call(workspaces, workspaceId)
    const offered = candidates(sessions.list.getSnapshot(), workspaces.list.getSnapshot(), workspace)
    const chosen = offered.length === 0 ? '' : await choose(mode, workspaceId, offered)
    return chosen || /** @type {NonNullable<typeof sessions.create>} */ (sessions.create)({ workspaceId })
  }

  /** @param {Mode} mode @param {string} workspaceId @param {string[]} offered */
  const choose = async (mode, workspaceId, offered) => {
    if (mode === 'full') {
      try {
        return await host.choose(workspaceId, offered)
      } catch {
        // No answer: what was last heard is avoided, so that the button works anyway.
      }
    }
    const known = host.known()
    return offered.find(id => !known.has(id)) ?? ''
  }

  /** @param {string} workspaceId */
  const guarded = async workspaceId => {
    let attempt = connecting.get(workspaceId)
    if (!attempt) {
      attempt = connect(workspaceId).finally(() => { connecting.delete(workspaceId) })
      connecting.set(workspaceId, attempt)
    }
    const sessionId = await attempt
    last = { sessionId, at: Date.now() }
    return sessionId
  }

  try {
    workspaces.connectWorkspace = guarded
  } catch {
    return undefined
  }
  return {
    picked: () => last.sessionId !== '' && Date.now() - last.at < pickMs ? last.sessionId : undefined,
    dispose: () => {
      // Whoever wrapped it after us keeps it, and calls through to what now passes on.
      host = { ...host, mode: async () => 'stock' }
      if (workspaces.connectWorkspace !== guarded) return
      if (own) workspaces.connectWorkspace = original
      else delete /** @type {Partial<typeof workspaces>} */ (workspaces).connectWorkspace
    },
  }
}

/**
 * The sessions that DSH would take, in its order: blank, in the workspace's folder and
 * in its list, not archived.
 * @param {import('./dsh.js').SessionList} list
 * @param {import('./dsh.js').WorkspaceList} all
 * @param {import('./dsh.js').Workspace} workspace
 */
export function candidates(list, all, workspace) {
  return list.ids.filter(id => {
    const session = list.byId[id]
    return session?.blank === true && session.cwd === workspace.path
      && workspace.sessionIds.includes(id) && !all.archivedSessionIds.includes(id)
  })
}
