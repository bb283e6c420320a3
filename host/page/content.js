/** What a draft holds, as a page knows it. */

/**
 * @typedef {object} Content
 * @property {string} text
 * @property {string} contentJson what stands behind the text where a host has such a thing, else ''
 */

/** The largest text that the store takes, in bytes of UTF-8 (shared.MaxTextBytes). */
export const maxTextBytes = 1 << 20

/** @type {Content} */
export const emptyContent = Object.freeze({ text: '', contentJson: '' })

/** @param {Content} a @param {Content} b */
export function same(a, b) {
  return a.text === b.text && a.contentJson === b.contentJson
}

/** @param {string} text */
export function tooLarge(text) {
  // Three bytes a unit is the most that UTF-8 needs: short texts are not encoded to be counted.
  return text.length * 3 > maxTextBytes && new TextEncoder().encode(text).length > maxTextBytes
}
