/** Rows by their places in the list. */

/**
 * @typedef {import('../../wire/types.js').Row} Row
 */

/**
 * The row that takes the focus of one that is gone: the next that is left, else the
 * one before it.
 * @param {readonly string[]} before the drafts as they were shown
 * @param {readonly string[]} after as they are shown now
 * @param {string} gone
 * @returns {string | undefined} undefined: no row is left
 */
export function heir(before, after, gone) {
  const left = new Set(after)
  if (left.has(gone)) return gone
  const at = before.indexOf(gone)
  const candidates = at < 0 ? after : [...before.slice(at + 1), ...before.slice(0, at).reverse()]
  return candidates.find(id => left.has(id))
}

/**
 * Whether a row can change places with the one so many places further. Pinned rows
 * stay before the others, whatever order is asked for.
 * @param {readonly Pick<Row, 'pinned'>[]} rows
 * @param {number} at
 * @param {number} by
 */
export function movable(rows, at, by) {
  const row = rows[at]
  const other = rows[at + by]
  return row !== undefined && other !== undefined && row.pinned === other.pinned
}
