/**
 * One page in DSH's list of plugins (Settings, Plugins) that tells why drafts are off,
 * or what does not work. It is there only while there is something to tell, can be
 * dismissed, and has the button that starts the plugin again.
 */
import { createElement as h, useSyncExternalStore } from 'react'
import { lineDictionaries, lineNamespace, reasonLine } from './reasons.js'
import { Quiet } from './sidebar/slot.js'

/**
 * @typedef {import('./dsh.js').Context} Context
 * @typedef {import('../wire/types.js').Reason} Reason
 * @typedef {import('../wire/types.js').Mode} Mode
 */
/**
 * What there is to tell.
 * @typedef {object} Standing
 * @property {Mode} mode
 * @property {readonly Reason[]} reasons
 * @property {boolean} overridden
 * @property {boolean} rearmable
 */
/**
 * @typedef {object} LineHost
 * @property {Pick<Context, 'slots' | 'locale'>} ctx
 * @property {import('./dsh.js').Observable<Standing>} standing
 * @property {() => void} rearm
 * @property {Pick<Storage, 'getItem' | 'setItem'>} storage
 */

/** Documented in DSH's catalogue of slots: an id of one's own stands beside the shipped ones. */
const slot = 'settings.plugins.tab'
const dismissedKey = 'draft-sessions.dismissed'

/** @param {Standing} standing @returns {string} what is told; '' for nothing */
export function toldBy({ mode, reasons, overridden }) {
  const told = reasons.map(({ code, subject, found }) => `${code} ${subject} ${found}`)
  if (mode !== 'stock' && mode !== 'full') return ''
  return told.length === 0 ? '' : JSON.stringify([mode, overridden, ...told.sort()])
}

/** @param {LineHost['storage']} storage @param {string} told */
export function isDismissed(storage, told) {
  try {
    return JSON.parse(storage.getItem(dismissedKey) ?? '[]').includes(told)
  } catch {
    return false
  }
}

/** @param {LineHost['storage']} storage @param {string} told */
export function dismiss(storage, told) {
  try {
    // The newest few: what is told again after years may be told anew.
    const known = JSON.parse(storage.getItem(dismissedKey) ?? '[]')
    storage.setItem(dismissedKey, JSON.stringify([...Array.isArray(known) ? known : [], told].slice(-10)))
  } catch {
    // Without storage it is dismissed until the next load.
  }
}

/**
 * @param {LineHost} host
 * @returns {() => void}
 */
export function installLine({ ctx, standing, rearm, storage }) {
  const { slots, locale } = ctx
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
  const show = () => {
    const texts = locale.register(lineNamespace, lineDictionaries)
    const Tab = () => h(Quiet, { name: 'line' }, h(Line, { locale, standing, rearm, close }))
    const seat = slots.inject(slot, () => slots.register({ name: slot, id: 'draft-sessions', order: 20, label: () => locale.bind(lineNamespace)('tab') }, Tab))
    return () => {
      seat()
      texts()
    }
  }
  const check = () => {
    told = toldBy(standing.getSnapshot())
    const wanted = told !== '' && !gone.has(told) && !isDismissed(storage, told)
    if (!wanted) return hide()
    try {
      off ??= show()
    } catch {
      // A DSH without such a list: the log and the status tell it.
    }
  }
  check()
  const unsubscribe = standing.subscribe(check)
  return () => {
    unsubscribe()
    hide()
  }
}

const quiet = { color: 'var(--dsw-alias-label-tertiary)', fontSize: 12, lineHeight: '18px', overflowWrap: /** @type {const} */ ('anywhere') }
const button = {
  border: '1px solid var(--dsw-alias-border-l2)', borderRadius: 10, padding: '3px 10px', background: 'none', cursor: 'pointer',
  color: 'var(--dsw-alias-label-primary)', font: 'inherit', fontSize: 13, lineHeight: '20px',
}

/** @param {{ locale: Context['locale'], standing: LineHost['standing'], rearm: () => void, close: () => void }} props */
function Line({ locale, standing, rearm, close }) {
  useSyncExternalStore(listener => locale.subscribe(listener), () => locale.getSnapshot().revision)
  const { mode, reasons, overridden, rearmable } = useSyncExternalStore(listener => standing.subscribe(listener), () => standing.getSnapshot())
  const t = locale.bind(lineNamespace)
  const head = mode === 'stock' ? 'off' : overridden ? 'overridden' : 'degraded'
  return h('div', { 'data-drafts-line': mode, 'style': { display: 'flex', flexDirection: 'column', gap: 12, color: 'var(--dsw-alias-label-secondary)', fontSize: 14, lineHeight: '22px' } },
    h('p', { role: 'status', style: { margin: 0, color: 'var(--dsw-alias-label-primary)' } }, t(head)),
    h('ul', { style: { margin: 0, padding: 0, listStyle: 'none', display: 'flex', flexDirection: 'column', gap: 10 } }, reasons.map(reason => {
      const { text, facts } = reasonLine(t, locale.getSnapshot().active, reason)
      return h('li', { key: JSON.stringify(reason) }, text, h('div', { style: quiet }, facts))
    })),
    h('div', { style: { display: 'flex', gap: 8 } },
      rearmable && h('button', { 'type': 'button', 'style': button, 'data-drafts-action': 'rearm', 'onClick': rearm }, t('rearm')),
      h('button', { 'type': 'button', 'style': button, 'data-drafts-action': 'dismiss-line', 'onClick': close }, t('dismiss'))))
}

/**
 * The line above the drafts that says that an untested DSH is run at one's own risk.
 * @param {Standing} standing
 * @param {LineHost['storage']} storage
 * @returns {import('../wire/types.js').Notice | undefined} undefined: nothing to say, or dismissed
 */
export function overrideNotice({ overridden, reasons }, storage) {
  const version = reasons.find(({ code }) => code === 'HOST_VERSION_MISMATCH' || code === 'PACKAGE_MISMATCH')?.found
  if (!overridden || version === undefined) return undefined
  const id = `page:overridden:${version}`
  return isDismissed(storage, id) ? undefined : { id, kind: 'overridden', draftId: '', title: version, at: 0 }
}
