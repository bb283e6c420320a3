/**
 * One page in DSH's list of plugins (Settings, Plugins) that tells why drafts are off,
 * or what does not work. It is there only while there is something to tell, can be
 * dismissed, and has the button that starts the plugin again.
 */
import { createElement as h, useSyncExternalStore } from 'react'
import { lineDictionaries, lineNamespace, reasonLine } from './reasons.js'
import { Quiet } from './sidebar/slot.js'
import { watchStanding } from './standing.js'

/**
 * @typedef {import('./dsh.js').Context} Context
 * @typedef {import('./standing.js').Standing} Standing
 */
/**
 * @typedef {object} LineHost
 * @property {Pick<Context, 'slots' | 'locale'>} ctx
 * @property {import('./dsh.js').Observable<Standing>} standing
 * @property {() => void} rearm
 * @property {import('./standing.js').Memory} storage
 */

/** Documented in DSH's catalogue of slots: an id of one's own stands beside the shipped ones. */
const slot = 'settings.plugins.tab'

/**
 * @param {LineHost} host
 * @returns {() => void}
 */
export function installLine({ ctx: { slots, locale }, standing, rearm, storage }) {
  return watchStanding({
    standing, storage,
    show: close => {
      const texts = locale.register(lineNamespace, lineDictionaries)
      const Tab = () => h(Quiet, { name: 'line' }, h(Line, { locale, standing, rearm, close }))
      const label = () => locale.bind(lineNamespace)('tab')
      const seat = slots.inject(slot, () => slots.register({ name: slot, id: 'draft-sessions', order: 20, label }, Tab))
      return () => {
        seat()
        texts()
      }
    },
  })
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
