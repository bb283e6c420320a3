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
    if (!isNewDraftChord(event) || isModal(target.document)) return
    event.preventDefault()
    event.stopPropagation()
    newDraft()
  }
  target.addEventListener('keydown', pressed, true)
  return () => target.removeEventListener('keydown', pressed, true)
}

/**
 * Whether a dialog lies over the page: what is under it takes no keys.
 * @param {Pick<Document, 'querySelectorAll'>} doc
 */
export function isModal(doc) {
  return [...doc.querySelectorAll('[aria-modal="true"], dialog:modal')].some(dialog => dialog.getClientRects().length > 0)
}
