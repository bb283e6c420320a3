/**
 * What the plugin must know about a send, taken from where DSH admits it. Each
 * observer gives DSH its own function back; a plugin that is down, slow or wrong
 * changes nothing for the sender.
 */
import { randomUUID } from 'node:crypto'
import { isUserMessage, userMessage } from './hostcalls.js'

const beforeMs = 2_000
/**
 * The page gives up after 30 s, keeps the text and may send it again, while DSH
 * would still admit the first: rather refuse what has waited so long. In ms.
 */
const tooLateMs = 25_000
/** So many sessions that were prompted are observed beside the drafts' own. */
const maxRecent = 200

/** @typedef {import('./host.js').HostContext} HostContext */
/** @typedef {{ link: () => Pick<import('./link.js').Link, 'call'> | undefined, outbox: import('./outbox.js').Outbox, log: import('./log.js').HostLog }} Plugin */
/** @typedef {{ decision: 'PROCEED' | 'REFUSE', code: string, message: string }} Admission */

const proceed = /** @type {Admission} */ ({ decision: 'PROCEED', code: '', message: '' })

/** Which sessions' events are worth a call: all others cost a lookup. */
export class WatchedSessions {
  /** @type {ReadonlySet<string>} */
  #drafts = new Set()
  /** @type {Set<string>} */
  #recent = new Set()

  /** @param {readonly string[]} sessionIds of the current sidebar */
  setDrafts(sessionIds) { this.#drafts = new Set(sessionIds) }

  /** @param {string} sessionId */
  addRecent(sessionId) {
    this.#recent.delete(sessionId)
    this.#recent.add(sessionId)
    if (this.#recent.size <= maxRecent) return
    const [oldest] = this.#recent
    if (oldest !== undefined) this.#recent.delete(oldest)
  }

  /** @param {string} sessionId */
  has(sessionId) { return this.#drafts.has(sessionId) || this.#recent.has(sessionId) }
}

/**
 * @param {Plugin} plugin
 * @param {string} rpc
 * @param {object} request
 * @returns {Promise<Admission>}
 */
async function admission(plugin, rpc, request) {
  const link = plugin.link()
  if (!link) return proceed
  try {
    return await link.call(rpc, request, beforeMs)
  } catch (error) {
    plugin.log.warn('the plugin was not asked before a send', { rpc, error: String(error) })
    return proceed
  }
}

/**
 * @param {HostContext} ctx
 * @param {Plugin} plugin
 * @param {WatchedSessions} watched
 * @returns {() => void}
 */
export function observePrompts(ctx, plugin, watched) {
  return replace(ctx.apiProxy.sessions, 'prompt', original => /** @this {any} */ async function (request, ...rest) {
    const started = Date.now()
    const { sessionId, content } = request.payload ?? {}
    if (typeof sessionId !== 'string') return original.call(this, request, ...rest)
    const parts = Array.isArray(content) ? content : []
    const admitted = await admission(plugin, 'BeforePrompt', {
      sessionId,
      promptId: request.rpcId,
      text: parts.filter(part => part.type === 'text').map(part => part.text).join(''),
      hasImages: parts.some(part => part.type === 'image'),
    })
    if (admitted.decision === 'REFUSE') return refusal(request, admitted.message)
    watched.addRecent(sessionId)
    const after = (/** @type {boolean} */ accepted, code = '') => {
      plugin.outbox.push('AfterPrompt', { sessionId, promptId: request.rpcId, accepted, code })
    }
    if (Date.now() - started > tooLateMs) {
      after(false, 'agent-busy')
      return refusal(request, 'DSH was too busy to take the prompt in time. It was not sent.')
    }
    try {
      const response = await original.call(this, request, ...rest)
      const { result } = response
      if (result.ok) after(true)
      else after(false, result.error.code)
      return response
    } catch (error) {
      after(false, 'internal')
      throw error
    }
  })
}

/** @param {import('./host.js').RpcRequest} request @param {string} message */
function refusal(request, message) {
  // A code outside of DSH's own would be shown to the user as a schema error.
  return { rpcId: request.rpcId, result: { ok: /** @type {const} */ (false), error: { code: 'agent-busy', message, details: { reason: message } } } }
}

/**
 * @param {HostContext} ctx
 * @param {Plugin} plugin
 * @param {WatchedSessions} watched
 * @returns {() => void}
 */
export function observeCommands(ctx, plugin, watched) {
  const commands = ctx.get('commands')
  if (!commands) return () => {}
  return replace(commands, 'execute', original => /** @this {any} */ async function (agent, line, ...rest) {
    const session = agent?.session
    if (typeof session?.id !== 'string' || typeof line !== 'string') return original.call(this, agent, line, ...rest)
    const sessionId = session.id
    const commandId = randomUUID()
    const admitted = await admission(plugin, 'BeforeCommand', { sessionId, commandId, line, lastSeq: session.seq - 1 })
    // A returned error would clear the composer; a thrown one keeps the text.
    if (admitted.decision === 'REFUSE') throw new Error(admitted.message)
    watched.addRecent(sessionId)
    let succeeded = false
    try {
      const execution = await original.call(this, agent, line, ...rest)
      succeeded = execution?.result?.kind === 'success'
      return execution
    } finally {
      plugin.outbox.push('AfterCommand', { sessionId, commandId, succeeded })
    }
  })
}

/**
 * @param {HostContext} ctx
 * @param {Plugin} plugin
 * @param {WatchedSessions} watched
 * @returns {() => void}
 */
export function observeSessions(ctx, plugin, watched) {
  return ctx.on('session/event', (session, event) => {
    if (!watched.has(session.id)) return
    const observation = observed(event)
    if (observation) plugin.outbox.push('ObserveSession', { sessionId: session.id, ...observation })
  })
}

/** @param {import('./host.js').SessionEvent} event */
function observed(event) {
  if (isUserMessage(event)) return { userMessage: userMessage(event) }
  if (event.type === 'permission/preset') return { permission: event.data?.preset ?? '' }
  if (event.type === 'agent-preset/selected') return { agentPreset: event.data?.agentPreset ?? '' }
  return undefined
}

/**
 * Put a wrapper in a method's place. The returned function undoes it, unless
 * somebody has put another wrapper around ours: then ours only passes on.
 * @template {object} T
 * @template {keyof T} K
 * @param {T} owner
 * @param {K} name
 * @param {(original: T[K]) => T[K]} wrap
 * @returns {() => void}
 */
export function replace(owner, name, wrap) {
  const original = owner[name]
  const own = Object.hasOwn(owner, name)
  const wrapped = /** @type {any} */ (wrap(original))
  let active = true
  /** @this {any} @param {...any} args */
  const outer = function (...args) {
    return (active ? wrapped : /** @type {any} */ (original)).apply(this, args)
  }
  owner[name] = /** @type {any} */ (outer)
  return () => {
    active = false
    if (owner[name] !== outer) return
    if (own) owner[name] = original
    else delete owner[name]
  }
}
