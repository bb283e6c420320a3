/**
 * Ctrl/Cmd+Z takes back what the toast offers to take back, while the focus is in the
 * drafts, in the toast, or nowhere; in the drafts it does nothing else. Everywhere
 * else it stays what it is: in the composer it undoes what was written there.
 */

/** @param {Pick<KeyboardEvent, 'key' | 'code' | 'shiftKey' | 'ctrlKey' | 'metaKey' | 'altKey' | 'isComposing'>} event */
export function isUndo({ key, code, shiftKey, ctrlKey, metaKey, altKey, isComposing }) {
  if (ctrlKey === metaKey || shiftKey || altKey || isComposing) return false
  // Where the layout has no Latin letters the place of the key counts.
  return /^[a-z]$/i.test(key) ? key.toLowerCase() === 'z' : code === 'KeyZ'
}

/** Where the key belongs to the drafts. A title that is being written keeps its own undo. */
const places = '.dss-list, [data-drafts-menu], [data-drafts-toast], [data-drafts-new], [data-drafts-trash]'

/** @param {EventTarget | null} target @returns {'drafts' | 'nowhere' | 'elsewhere'} */
function placeOf(target) {
  if (!(target instanceof Element) || target === document.body || target === document.documentElement) return 'nowhere'
  return target.closest(places) !== null && !target.matches('input, textarea') ? 'drafts' : 'elsewhere'
}

/**
 * @param {() => boolean} undo whether there was something to take back
 * @param {Window} [target]
 * @returns {() => void}
 */
export function installUndo(undo, target = window) {
  /** @param {KeyboardEvent} event */
  const pressed = event => {
    if (!isUndo(event)) return
    const place = placeOf(event.target)
    if (place === 'elsewhere' || (!undo() && place === 'nowhere')) return
    // The browser would undo the last edit of the page, wherever it was made.
    event.preventDefault()
    event.stopPropagation()
  }
  target.addEventListener('keydown', pressed, true)
  return () => target.removeEventListener('keydown', pressed, true)
}
