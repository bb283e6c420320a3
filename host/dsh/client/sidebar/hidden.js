/** The page's session list without the drafts' sessions, which have rows of their own. */

/**
 * @typedef {import('../dsh.js').SessionList} SessionList
 * @typedef {import('../dsh.js').SelectorHook<SessionList>} UseSessions
 */

/**
 * The same snapshot gives the same result: React would render for ever otherwise.
 * @param {ReadonlySet<string>} hidden
 * @returns {(list: SessionList) => SessionList}
 */
export function withoutSessions(hidden) {
  /** @type {WeakMap<SessionList, SessionList>} */
  const mapped = new WeakMap()
  return list => {
    const known = mapped.get(list)
    if (known) return known
    const byId = Object.fromEntries(Object.entries(list.byId).filter(([id]) => !hidden.has(id)))
    const result = list.ids.some(id => hidden.has(id)) || Object.keys(byId).length !== Object.keys(list.byId).length
      ? { ...list, ids: list.ids.filter(id => !hidden.has(id)), byId }
      : list
    mapped.set(list, result)
    return result
  }
}

/**
 * @param {UseSessions} useSessions
 * @param {ReadonlySet<string>} hidden
 * @returns {UseSessions}
 */
export function hidingHook(useSessions, hidden) {
  const map = withoutSessions(hidden)
  return (select, equal) => useSessions(list => select(map(list)), equal)
}
