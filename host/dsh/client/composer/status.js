/** Beside DSH's composer: how saving stands, and a line when the draft was changed elsewhere. */
import { createElement as h, useEffect, useId, useLayoutEffect, useState } from 'react'
import { usePage, useText } from '../app.js'
import { CloseIcon, InfoIcon, WarnIcon } from '../icons.js'
import { reasonText } from '../locale.js'
import { saveOf } from '../state.js'
import { Quiet } from '../sidebar/slot.js'

/**
 * @typedef {import('../app.js').App} App
 * @typedef {import('../dsh.js').Slots} Slots
 */

/** DSH's seats: one in the tool row beside the model, one above the card. */
const toolSeat = 'conversation.input.right'
const dockSeat = 'conversation.input.dock'

/**
 * @param {App} app
 * @param {Slots} slots
 * @param {{ appeared: (sessionId: string) => void, mounted: (sessionId: string) => void }} told
 *   appeared: a session's composer is in the page; mounted: DSH has restored its text
 * @returns {() => void}
 */
export function installStatus(app, slots, { appeared, mounted }) {
  const quiet = (/** @type {import('react').ReactElement} */ child) => h(Quiet, { name: 'composer' }, child)
  /** @param {{ sessionId?: string }} props */
  const Tool = ({ sessionId }) => quiet(h(SaveState, { app, sessionId }))
  /** @param {{ sessionId?: string }} props */
  const Dock = ({ sessionId }) => {
    useLayoutEffect(() => { if (sessionId !== undefined) appeared(sessionId) }, [sessionId])
    useEffect(() => { if (sessionId !== undefined) mounted(sessionId) }, [sessionId])
    return quiet(h(Elsewhere, { app, sessionId }))
  }
  const undo = [
    slots.inject(toolSeat, () => slots.register({ name: toolSeat, id: 'draft-sessions', order: -10 }, Tool)),
    slots.inject(dockSeat, () => slots.register({ name: dockSeat, id: 'draft-sessions', order: 90 }, Dock)),
  ]
  return () => { for (const dispose of undo) dispose() }
}

/** @param {App} app @param {string | undefined} sessionId */
function useRow(app, sessionId) {
  return usePage(app, state => sessionId === undefined || sessionId === ''
    ? undefined
    : state.sidebar?.rows.find(row => row.sessionId === sessionId))
}

/** @param {{ app: App, sessionId: string | undefined }} props */
function SaveState({ app, sessionId }) {
  const t = useText(app)
  const row = useRow(app, sessionId)
  const editor = usePage(app, state => row && state.editors[row.draftId])
  const paused = usePage(app, state => state.mode !== 'full')
  if (!row) return null
  const { state, code, message, retrying } = saveOf(row, editor)
  const why = reasonText(t, code, message)
  const text = paused
    ? t(editor?.dirty === false ? 'save.paused.saved' : 'save.paused')
    : state === 'not_saved' ? t('save.because', { reason: retrying ? t('why.retrying', { why }) : why }) : t(`save.${state}`)
  const bad = paused || state === 'not_saved'
  const images = editor?.images === true
  return h('span', { className: 'dss-composer' },
    images && h('span', { 'className': 'dss-composer-images', 'title': t('save.images.long'), 'data-drafts-images': '' }, t('save.images')),
    h('span', {
      'className': bad ? 'dss-composer-state dss-warn' : 'dss-composer-state', 'role': 'status', 'title': text,
      'data-save-state': paused ? 'paused' : state, 'data-drafts-save': row.draftId,
    }, bad ? h(Reason, { text }) : h('span', { className: 'dss-composer-text' }, text)))
}

/** Why it is not saved: in the tool row as far as there is room, whole when it is asked for. @param {{ text: string }} props */
function Reason({ text }) {
  const id = useId()
  const [open, setOpen] = useState(false)
  return h('span', {
    className: 'dss-reason', onBlur: () => setOpen(false),
    /** @param {import('react').KeyboardEvent} event */
    onKeyDown: event => {
      if (event.key !== 'Escape' || !open) return
      event.stopPropagation()
      setOpen(false)
    },
  },
  h('button', {
    'type': 'button', 'className': 'dss-reason-button', 'aria-expanded': open, 'aria-controls': id, 'data-drafts-reason': '',
    'onClick': () => setOpen(shown => !shown),
  }, h(WarnIcon, { size: 14 }), h('span', { className: 'dss-composer-text' }, text)),
  h('span', { id, 'className': 'dss-reason-whole', 'hidden': !open, 'aria-hidden': true }, text))
}

/** @param {{ app: App, sessionId: string | undefined }} props */
function Elsewhere({ app, sessionId }) {
  const t = useText(app)
  const row = useRow(app, sessionId)
  const editor = usePage(app, state => row && state.editors[row.draftId])
  if (!row || !editor || (!editor.elsewhere && editor.conflictId === '')) return null
  const kept = editor.conflictId !== ''
  const title = row.title || t('empty')
  const what = [t(editor.replaced ? 'elsewhere.replaced' : 'elsewhere'), kept && t(editor.elsewhere ? 'elsewhere.kept' : 'elsewhere.shown')]
  return h('div', { 'className': 'dss-banner', 'role': 'status', 'data-drafts-notice': kept ? 'conflict' : 'elsewhere', 'data-drafts-replaced': editor.replaced },
    h('span', { className: 'dss-slot' }, h(InfoIcon, {})),
    h('span', { className: 'dss-banner-text' }, what.filter(Boolean).join(' ')),
    editor.elsewhere && h('button', { 'type': 'button', 'className': 'dss-quiet', 'data-drafts-action': 'show', 'onClick': () => { void app.actions.showElsewhere() } }, t('elsewhere.show')),
    h('button', { 'type': 'button', 'className': 'dss-quiet', 'data-drafts-action': 'mine', 'onClick': () => { void app.actions.keepMine() } }, t(editor.elsewhere ? 'elsewhere.mine' : 'elsewhere.back')),
    row.conflicts > 0 && h('button', { 'type': 'button', 'className': 'dss-quiet', 'data-drafts-action': 'versions', 'onClick': () => app.store.set({ dialog: { draftId: row.draftId, title } }) }, t('elsewhere.versions')),
    !editor.elsewhere && h('button', {
      'type': 'button', 'className': 'dss-close', 'data-drafts-action': 'dismiss', 'aria-label': t('dismiss'), 'title': t('dismiss'),
      'onClick': () => app.actions.dismissElsewhere(),
    }, h(CloseIcon, { size: 14 })))
}
