/** The person's language: the choice, the words, and how long ago something was. */

/** @typedef {(key: string, params?: Record<string, unknown>) => string} Translate */

const languageKey = 'draft-sessions.language'

/** @typedef {'en' | 'zh'} Language */

/** The person's choice, else the browser's. @returns {Language} */
export function language() {
  try {
    const chosen = localStorage.getItem(languageKey)
    if (chosen === 'en' || chosen === 'zh') return chosen
  } catch {
    // Without storage the browser's language it is.
  }
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en'
}

/** @param {Language} chosen */
export function chooseLanguage(chosen) {
  try {
    localStorage.setItem(languageKey, chosen)
  } catch {
    // It holds until the page is left.
  }
}

/** Only the words of the language that is shown are fetched. @param {Language} chosen @returns {Promise<Translate>} */
export async function load(chosen) {
  const { words } = chosen === 'zh' ? await import('./locale/zh.js') : await import('./locale/en.js')
  return translator(words)
}

/** @param {Record<string, string>} words @returns {Translate} */
export function translator(words) {
  return (key, params = {}) => (words[key] ?? key).replace(/\{(\w+)\}/g, (_, name) => String(params[name] ?? ''))
}

/**
 * Why something failed, in the person's language; the host's own words where there
 * are none for the code.
 * @param {Translate} t
 * @param {string} code
 * @param {string} message
 */
export function reasonText(t, code, message) {
  const known = t(`why.${code}`)
  return known === `why.${code}` ? message || code : known
}

/**
 * How long ago, short.
 * @param {number} at
 * @param {Language} chosen
 * @param {number} [now]
 */
export function ago(at, chosen, now = Date.now()) {
  const minutes = Math.max(0, Math.floor((now - at) / 60_000))
  const zh = chosen === 'zh'
  if (minutes < 1) return zh ? '刚刚' : 'now'
  if (minutes < 60) return zh ? `${minutes} 分` : `${minutes}m`
  if (minutes < 1_440) return zh ? `${Math.floor(minutes / 60)} 时` : `${Math.floor(minutes / 60)}h`
  if (minutes < 525_600) return zh ? `${Math.floor(minutes / 1_440)} 天` : `${Math.floor(minutes / 1_440)}d`
  return zh ? `${Math.floor(minutes / 525_600)} 年` : `${Math.floor(minutes / 525_600)}y`
}
