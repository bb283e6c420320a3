/**
 * The text of a draft that is no longer in this session. DSH brings a composer's
 * text back from its own storage, also after the draft was sent, deleted or moved
 * while the page was closed: the spent text would stand there again.
 */

/**
 * @typedef {import('./base.js').Base} Base
 */

/** @param {string} text @returns {Promise<string>} as the store hashes it: hex SHA-256 of the UTF-8 */
export async function textHash(text) {
  const sum = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text.toWellFormed()))
  return [...new Uint8Array(sum)].map(byte => byte.toString(16).padStart(2, '0')).join('')
}

/**
 * Whether a text that was based on a draft lives on elsewhere, so that clearing it
 * here loses nothing. Anything that cannot be proven answers no.
 * @param {import('../remote.js').Call} call
 * @param {Base} base
 * @param {{ sessionId: string, blank: boolean }} session
 */
export async function livesElsewhere(call, base, { sessionId, blank }) {
  try {
    const draft = await call('get', { draftId: base.draftId })
    return draft.sessionId !== sessionId && draft.sessionId !== ''
  } catch (error) {
    if (/** @type {{ code?: string }} */ (error).code !== 'DRAFT_NOT_FOUND') return false
  }
  if (!blank) return true
  const { entries } = await call('listTrash', { preview: 1 }).catch(() => ({ entries: [] }))
  return entries.some(({ draft }) => draft.id === base.draftId)
}
