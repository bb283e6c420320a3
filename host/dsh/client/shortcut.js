/** The chords for a new draft: Ctrl/Cmd+Shift+N where the window delivers it, Alt+Shift+N everywhere. */

/** @param {Pick<KeyboardEvent, 'code' | 'shiftKey' | 'ctrlKey' | 'metaKey' | 'altKey' | 'repeat' | 'isComposing'>} event */
export function isNewDraftChord({ code, shiftKey, ctrlKey, metaKey, altKey, repeat, isComposing }) {
  if (code !== 'KeyN' || !shiftKey || repeat || isComposing) return false
  return altKey ? !ctrlKey && !metaKey : ctrlKey !== metaKey
}

/**
 * @param {() => void} newDraft
 * @param {Window} [target]
 * @returns {() => void}
 */
export function installShortcut(newDraft, target = window) {
  /** @param {KeyboardEvent} event */
  const pressed = event => {
    if (!isNewDraftChord(event)) return
    event.preventDefault()
    event.stopPropagation()
    newDraft()
  }
  target.addEventListener('keydown', pressed, true)
  return () => target.removeEventListener('keydown', pressed, true)
}
