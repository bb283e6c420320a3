/**
 * What is saved of a composer: its clipboard projection. Each picked reference is
 * replaced by its clipboard text, which sends the same prompt as the chip, and the
 * references themselves go beside the text, so that the chips come back.
 */

/**
 * @typedef {import('../dsh.js').Occurrence} Occurrence
 * @typedef {import('../dsh.js').ComposerState} ComposerState
 * @typedef {import('../../../page/content.js').Content} Projection
 */

/**
 * @param {Pick<ComposerState, 'draft' | 'occurrences'>} state
 * @returns {Projection} text without lone surrogates; contentJson is '' without references
 */
export function project({ draft, occurrences }) {
  if (occurrences.length === 0) return { text: draft.toWellFormed(), contentJson: '' }
  let text = ''
  let cursor = 0
  /** @type {Occurrence[]} */
  const projected = []
  for (const occurrence of occurrences) {
    const { source, ref, label, appearance, clipboardText } = occurrence
    text += draft.slice(cursor, occurrence.offset)
    projected.push({
      source, ref, offset: text.length, length: clipboardText.length, label,
      ...(appearance === undefined ? {} : { appearance }),
      clipboardText,
    })
    text += clipboardText
    cursor = occurrence.offset + occurrence.length
  }
  text += draft.slice(cursor)
  // A replaced surrogate is one unit for one unit, so the offsets stay right.
  return { text: text.toWellFormed(), contentJson: JSON.stringify({ occurrences: projected }).toWellFormed() }
}

/**
 * The references of a saved text. Whatever does not fit the text is left out: the
 * text alone sends the same prompt.
 * @param {string} text
 * @param {string} contentJson
 * @returns {Occurrence[]} in order, not overlapping
 */
export function occurrencesOf(text, contentJson) {
  if (contentJson === '') return []
  let parsed
  try {
    parsed = JSON.parse(contentJson)
  } catch {
    return []
  }
  const listed = Array.isArray(parsed?.occurrences) ? parsed.occurrences : []
  const sound = /** @type {Occurrence[]} */ (listed.filter(isOccurrence))
  sound.sort((a, b) => a.offset - b.offset)
  let end = 0
  return sound.filter(({ offset, length, clipboardText }) => {
    if (offset < end || text.slice(offset, offset + length) !== clipboardText) return false
    end = offset + length
    return true
  })
}

/** @param {any} value */
function isOccurrence(value) {
  return typeof value === 'object' && value !== null
    && ['source', 'ref', 'label', 'clipboardText'].every(key => typeof value[key] === 'string')
    && Number.isSafeInteger(value.offset) && Number.isSafeInteger(value.length) && value.length > 0
}
