/** What this browser remembers of how the page was left. None of it matters. */
const closedKey = 'draft-sessions.closed'
const selectionKey = 'draft-sessions.selection'

/** @param {string} key @returns {any} */
function read(key) {
  try {
    return JSON.parse(localStorage.getItem(key) ?? 'null')
  } catch {
    return null
  }
}

/** @param {string} key @param {unknown} value */
function write(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value))
  } catch {
    // Forgotten, then.
  }
}

export const remembered = {
  /** @returns {string[]} */
  closed() {
    const value = read(closedKey)
    return Array.isArray(value) ? value.filter(item => typeof item === 'string') : []
  },
  /** @param {string[]} ids */
  close(ids) {
    write(closedKey, ids)
  },
  /** @returns {import('./app.js').Selection | undefined} */
  selection() {
    const value = read(selectionKey)
    const sound = (value?.kind === 'draft' || value?.kind === 'session') && typeof value.id === 'string'
    return sound ? { kind: value.kind, id: value.id } : undefined
  },
  /** @param {import('./app.js').Selection} selection */
  select(selection) {
    write(selectionKey, selection)
  },
}
