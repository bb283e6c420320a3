/**
 * The seams of the page that drafts build on, by their names in compatibility.json.
 * Each is looked at before it is used; what is missing is told to the host half, and
 * the gate says what that means.
 */

/**
 * @typedef {import('./dsh.js').Context} Context
 */

/** What stands in the sidebar, and what it must have to be DSH's browser of workspaces. */
const slot = 'sidebar.workspaces'
const child = 'sidebar.workspaces.directoryFlow'

/** How long DSH's own parts may take to be in place, in milliseconds. */
const settleMs = 15_000
const settlePollMs = 25

/** @type {Record<string, (ctx: any) => boolean>} */
const probes = {
  'page.remote': ({ remote }) => isFunction(remote?.$mount),
  'page.locale': ({ locale }) => isObservable(locale) && isFunction(locale.register) && isFunction(locale.bind),
  'page.sessions': ({ sessions }) => {
    const list = snapshot(sessions?.list)
    return isFunction(sessions.open) && isFunction(sessions.scope) && Array.isArray(list?.ids) && isObject(list?.byId)
  },
  'page.workspaces': ({ workspaces }) => {
    const list = snapshot(workspaces?.list)
    return Array.isArray(list?.items) && Array.isArray(list?.archivedSessionIds) && typeof list?.baselinesReady === 'boolean'
  },
  'page.connect': ({ workspaces, sessions }) => isFunction(workspaces?.connectWorkspace) && isFunction(sessions?.create),
  'page.sidebar': ({ slots }) => ['inject', 'register', 'entries', 'entriesOfSlot', 'subscribe'].every(name => isFunction(slots?.[name]))
    && slots.entries(slot).some((/** @type {any} */ entry) => isFunction(entry.component) && Object.hasOwn(entry.children ?? {}, child)),
  'page.composer': ctx => {
    const input = ctx.get('conversation')?.input
    const shown = inputOf(ctx)
    return isFunction(input?.for) && (shown === undefined || isComposer(shown))
  },
  'page.references': ctx => {
    const shown = inputOf(ctx)
    return shown === undefined || isFunction(shown.insertReference)
  },
}

/**
 * The features that are there now. A probe that throws finds none.
 * @param {Context} ctx
 */
export function pageFeatures(ctx) {
  return Object.keys(probes).filter(name => {
    try {
      return probes[name]?.(ctx) ?? false
    } catch {
      return false
    }
  })
}

/**
 * Resolves when DSH's own parts are in place, or a while has passed.
 * @param {Pick<Context, 'get'>} ctx
 */
export async function settled(ctx) {
  const end = Date.now() + settleMs
  while (Date.now() < end && busy(ctx)) await new Promise(resolve => setTimeout(resolve, settlePollMs))
}

/** @param {Pick<Context, 'get'>} ctx */
function busy(ctx) {
  try {
    return ctx.get('loader').getTasks().length > 0
  } catch {
    // A DSH that cannot be asked is taken as it is.
    return false
  }
}

/**
 * What this page was served, as its boot manifest tells it.
 * @param {unknown} boot
 * @returns {{ id: string, rev: string }[]}
 */
export function servedPackages(boot) {
  const entries = /** @type {{ entries?: unknown } | undefined} */ (boot)?.entries
  if (!Array.isArray(entries)) return []
  return entries.filter(entry => typeof entry?.id === 'string' && typeof entry.rev === 'string').map(({ id, rev }) => ({ id, rev }))
}

/** The composer of the session on screen, where there is one. @param {any} ctx */
function inputOf(ctx) {
  const { current } = snapshot(ctx.sessions?.list) ?? {}
  const scope = current === undefined ? undefined : ctx.sessions.scope(current)
  return scope && ctx.get('conversation')?.input?.for(scope)
}

/** @param {any} input */
export function isComposer(input) {
  const state = snapshot(input?.state)
  return typeof state?.draft === 'string' && Array.isArray(state.occurrences) && typeof state.phase === 'string' && isFunction(input.setDraft)
}

/** @param {any} source */
function snapshot(source) {
  return isObservable(source) ? source.getSnapshot() : undefined
}

/** @param {any} value */
function isObservable(value) {
  return isFunction(value?.getSnapshot) && isFunction(value?.subscribe)
}

/** @param {unknown} value */
function isFunction(value) {
  return typeof value === 'function'
}

/** @param {unknown} value */
function isObject(value) {
  return typeof value === 'object' && value !== null
}
