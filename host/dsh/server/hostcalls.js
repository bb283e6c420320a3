/** What the plugin can ask of DSH over the host channel, in process. */
import { randomUUID } from 'node:crypto'
import { HostCallError } from './channel.js'

/** @typedef {import('./host.js').HostContext} HostContext */
/** @typedef {import('./host.js').SessionEvent} SessionEvent */

/**
 * @param {HostContext} ctx
 * @returns {import('./channel.js').Handlers}
 */
export function hostCalls(ctx) {
  return {
    createSession: request => createSession(ctx, request),
    listWorkspaces: () => listWorkspaces(ctx),
    readSession: ({ sessionId }) => readSession(ctx, sessionId),
    flushSession: async ({ sessionId }) => {
      await flush(ctx, sessionId)
      return {}
    },
    applySettings: async ({ sessionId, permission }) => {
      if (permission !== '') applyPermission(ctx, sessionId, permission)
      await flush(ctx, sessionId)
      return {}
    },
    sendPrompt: async ({ sessionId, promptId, text }) => {
      await sendPrompt(ctx, sessionId, promptId, text)
      return {}
    },
    readAnswer: request => readAnswer(ctx, request),
  }
}

/**
 * @param {(request: import('./host.js').RpcRequest) => Promise<import('./host.js').RpcResponse>} method
 * @param {object} payload
 */
async function value(method, payload) {
  const { result } = await method({ rpcId: randomUUID(), payload })
  if (result.ok) return result.value
  throw new HostCallError(result.error.code, result.error.message)
}

/**
 * On disk when answered: DSH writes a session about 200 ms after it has created it.
 * @param {HostContext} ctx
 * @param {{ sessionId: string, workspaceId: string, agentPresetId: string, permission: string }} request
 */
async function createSession(ctx, { sessionId, workspaceId, agentPresetId, permission }) {
  const { sessions } = ctx.apiProxy
  const created = await value(request => sessions.create(request), {
    workspaceId, sessionId, ...agentPresetId === '' ? {} : { agentPreset: agentPresetId },
  })
  if (permission !== '') applyPermission(ctx, created.sessionId, permission)
  await flush(ctx, created.sessionId)
  return { sessionId: created.sessionId, agentPresetId: created.agentPreset ?? '' }
}

/** @param {HostContext} ctx */
async function listWorkspaces(ctx) {
  const { workspace } = ctx.apiProxy
  const { items, archivedSessionIds } = await value(request => workspace.list(request), {})
  return {
    workspaces: items.map((/** @type {any} */ item) => ({
      workspaceId: item.workspaceId, path: item.path, sessionIds: item.sessionIds,
    })),
    archivedSessionIds,
  }
}

/**
 * The whole history, whether the session is attached or lies on disk.
 * @param {HostContext} ctx
 * @param {string} sessionId
 */
async function readSession(ctx, sessionId) {
  const found = await history(ctx, sessionId)
  if (!found) return { exists: false, userMessages: [], permission: '', agentPresetId: '', lastSeq: 0 }
  const { events, header } = found
  return {
    exists: true,
    userMessages: events.filter(isUserMessage).map(userMessage),
    permission: ctx.get('permissionPresets')?.current(events) ?? '',
    agentPresetId: events.findLast(event => event.type === 'agent-preset/selected')?.data.agentPreset
      ?? header.agentPreset ?? '',
    lastSeq: events.at(-1)?.seq ?? 0,
  }
}

/** @param {HostContext} ctx @param {string} sessionId */
async function history(ctx, sessionId) {
  const attached = ctx.get('sessions')?.get(sessionId)
  if (attached) return { events: attached.events, header: attached.header }
  const persistence = ctx.get('sessionPersistence')
  if (!persistence) throw new HostCallError('session-history-unavailable', 'this DSH keeps no sessions')
  try {
    const { events, meta } = await persistence.inspect(sessionId)
    return { events, header: meta }
  } catch (error) {
    // "Not there" and "not readable" look alike, and only the first may count as proof.
    if ((await persistence.list()).some(header => header.id === sessionId)) {
      throw new HostCallError('session-history-unavailable', `the history could not be read: ${String(error)}`)
    }
    return undefined
  }
}

/** @param {SessionEvent} event */
export function isUserMessage(event) {
  return event.type === 'user/message' && event.data?.source?.kind === 'user'
}

/**
 * A message of kind user as the contract has it.
 * @param {SessionEvent} event
 */
export function userMessage(event) {
  return { seq: event.seq, promptId: event.data.source.rpcId ?? '' }
}

/** @param {HostContext} ctx @param {string} sessionId @param {string} permission */
function applyPermission(ctx, sessionId, permission) {
  const session = ctx.get('sessions')?.get(sessionId)
  if (!session) throw new HostCallError('session-not-found', 'the session is not attached')
  const presets = ctx.get('permissionPresets')
  if (!presets) throw new HostCallError('permission-unavailable', 'this DSH has no permission presets')
  if (presets.current(session.events) === permission) return
  try {
    presets.set(session, permission)
  } catch (error) {
    // Going on would run the draft with other rights than it was written with.
    throw new HostCallError('permission-unavailable', `the permission could not be set: ${String(error)}`)
  }
}

/**
 * The way that a prompt of the page takes, our own observer of it included.
 * @param {HostContext} ctx
 * @param {string} sessionId @param {string} promptId @param {string} text
 */
async function sendPrompt(ctx, sessionId, promptId, text) {
  const { result } = await ctx.apiProxy.sessions.prompt({
    rpcId: promptId, payload: { sessionId, mode: 'queue', content: [{ type: 'text', text: text.trim() }] },
  })
  if (!result.ok) throw new HostCallError(result.error.code, result.error.message)
}

/**
 * What the model said after a prompt, from the session's own log.
 * @param {HostContext} ctx
 * @param {{ sessionId: string, submissionId: string, afterSeq: number }} request
 */
async function readAnswer(ctx, { sessionId, submissionId, afterSeq }) {
  const found = await history(ctx, sessionId)
  if (!found) throw new HostCallError('session-not-found', 'there is no such session')
  const start = found.events.findIndex(event => isUserMessage(event) && event.data.source.rpcId === submissionId)
  const answer = { text: '', nextSeq: Number(afterSeq), done: false, outcome: '', message: '' }
  if (start < 0) return answer
  // What streams in is followed piece by piece; a message that did not stream comes whole.
  let streamed = false
  for (const event of found.events.slice(start + 1)) {
    const isNew = event.seq > afterSeq
    const { chunk, message, reason } = event.data ?? {}
    if (event.type === 'step/start') streamed = false
    let text = ''
    if (event.type === 'assistant/chunk' && chunk?.type === 'text-delta') {
      text = chunk.text
      streamed = true
    } else if (event.type === 'assistant/message' && !streamed) {
      text = (message?.content ?? []).filter((/** @type {any} */ part) => part.type === 'text').map((/** @type {any} */ part) => part.text).join('')
    }
    if (isNew) {
      answer.text += text
      answer.nextSeq = event.seq
    }
    if (event.type === 'turn/end') return { ...answer, ...ending(reason) }
  }
  return answer
}

/** @param {any} reason why DSH ended the turn */
function ending(reason) {
  if (reason?.kind === 'completed') return { done: true, outcome: 'completed' }
  if (reason?.kind === 'error') return { done: true, outcome: 'failed', message: `${reason.error?.code ?? 'error'}: ${reason.error?.message ?? ''}` }
  return { done: true, outcome: 'cancelled', message: String(reason?.kind ?? '') }
}

/** A session that is not attached is on disk already. @param {HostContext} ctx @param {string} sessionId */
async function flush(ctx, sessionId) {
  const sessions = ctx.get('sessions')
  const session = sessions?.get(sessionId)
  if (sessions && session) await sessions.flush(session)
}
