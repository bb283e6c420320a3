/**
 * What there is to tell of drafts when they are off or do not all work, and whether a
 * person has had enough of it.
 */

/**
 * @typedef {import('../wire/types.js').Reason} Reason
 * @typedef {import('../wire/types.js').Mode} Mode
 * @typedef {Pick<Storage, 'getItem' | 'setItem'>} Memory
 */
/**
 * What there is to tell.
 * @typedef {object} Standing
 * @property {Mode} mode
 * @property {readonly Reason[]} reasons
 * @property {boolean} overridden
 * @property {boolean} rearmable
 */

const dismissedKey = 'draft-sessions.dismissed'

/** @param {Standing} standing @returns {string} what is told; '' for nothing */
export function toldBy({ mode, reasons, overridden }) {
  // What passes by itself is told where drafts are.
  if (mode !== 'stock' && mode !== 'full') return ''
  const told = reasons.map(({ code, subject, found }) => `${code} ${subject} ${found}`)
  return told.length === 0 ? '' : JSON.stringify([mode, overridden, ...told.sort()])
}

/** @param {Memory} storage @param {string} told */
export function isDismissed(storage, told) {
  return dismissed(storage).includes(told)
}

/** @param {Memory} storage @param {string} told */
export function dismiss(storage, told) {
  try {
    // The newest few: what is told again after years may be told anew.
    storage.setItem(dismissedKey, JSON.stringify([...dismissed(storage), told].slice(-10)))
  } catch {
    // Without storage it is dismissed until the next load.
  }
}

/** @param {Memory} storage @returns {unknown[]} */
function dismissed(storage) {
  try {
    const known = JSON.parse(storage.getItem(dismissedKey) ?? '[]')
    return Array.isArray(known) ? known : []
  } catch {
    return []
  }
}

/**
 * Show what there is to tell as long as there is something and nobody has dismissed it.
 * @param {{
 *   standing: import('./dsh.js').Observable<Standing>,
 *   storage: Memory,
 *   show: (close: () => void) => () => void,
 * }} host show: close dismisses it; what it returns takes it away. What it throws is a DSH without a place for it.
 * @returns {() => void}
 */
export function watchStanding({ standing, storage, show }) {
  /** @type {(() => void) | undefined} */
  let off
  let told = ''
  /** Dismissed in this load, for want of storage. @type {Set<string>} */
  const gone = new Set()
  const hide = () => {
    off?.()
    off = undefined
  }
  const close = () => {
    gone.add(told)
    dismiss(storage, told)
    hide()
  }
  const check = () => {
    told = toldBy(standing.getSnapshot())
    if (told === '' || gone.has(told) || isDismissed(storage, told)) return hide()
    try {
      off ??= show(close)
    } catch {
      // The log and the status tell it.
    }
  }
  check()
  const unsubscribe = standing.subscribe(check)
  return () => {
    unsubscribe()
    hide()
  }
}

/**
 * The line above the drafts that says that an untested DSH is run at one's own risk.
 * @param {Standing} standing
 * @param {Memory} storage
 * @returns {import('../wire/types.js').Notice | undefined} undefined: nothing to say, or dismissed
 */
export function overrideNotice({ overridden, reasons }, storage) {
  const version = reasons.find(({ code }) => code === 'HOST_VERSION_MISMATCH' || code === 'PACKAGE_MISMATCH')?.found
  if (!overridden || version === undefined) return undefined
  const id = `page:overridden:${version}`
  return isDismissed(storage, id) ? undefined : { id, kind: 'overridden', draftId: '', title: version, at: 0 }
}
