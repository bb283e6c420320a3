/** Light, dark, or as the system has it. first.js sets it before the first paint. */
const key = 'draft-sessions.theme'

/** @typedef {'system' | 'light' | 'dark'} Theme */

/** @returns {Theme} */
export function currentTheme() {
  const { theme } = document.documentElement.dataset
  return theme === 'light' || theme === 'dark' ? theme : 'system'
}

/** The next of the three. */
export function nextTheme() {
  const next = /** @type {const} */ ({ system: 'light', light: 'dark', dark: 'system' })[currentTheme()]
  if (next === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = next
  try {
    localStorage.setItem(key, next)
  } catch {
    // It holds until the page is left.
  }
}
