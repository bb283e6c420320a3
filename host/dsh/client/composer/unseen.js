/** A line over the composer: the text of this draft cannot be shown while drafts are paused. */
import { createElement as h } from 'react'
import { usePage, useText } from '../app.js'
import { InfoIcon } from '../icons.js'
import { Quiet } from '../sidebar/slot.js'

const seat = 'conversation.input.dock'

/**
 * @param {import('../app.js').App} app
 * @param {import('../dsh.js').Slots} slots
 * @returns {() => void}
 */
export function installUnseen(app, slots) {
  /** @param {{ sessionId?: string }} props */
  const Dock = ({ sessionId }) => h(Quiet, { name: 'composer' }, h(Line, { app, sessionId }))
  return slots.inject(seat, () => slots.register({ name: seat, id: 'draft-sessions-unseen', order: 91 }, Dock))
}

/** @param {{ app: import('../app.js').App, sessionId: string | undefined }} props */
function Line({ app, sessionId }) {
  const t = useText(app)
  const unseen = usePage(app, state => sessionId !== undefined && state.unseen.has(sessionId))
  if (!unseen) return null
  return h('div', { 'className': 'dss-banner', 'role': 'status', 'data-drafts-notice': 'unseen' },
    h('span', { className: 'dss-slot' }, h(InfoIcon, {})),
    h('span', { className: 'dss-banner-text' }, t('unseen')))
}
