/** The drafts of one workspace: a labelled list of real buttons, one tab stop, arrow keys between them. */
import { createElement as h, useCallback, useRef, useState } from 'react'
import { usePage, useText } from '../app.js'
import { CopiesIcon, DraftIcon, MoreIcon, PinIcon, WarnIcon } from '../icons.js'
import { reasonText } from '../locale.js'
import { saveOf } from '../state.js'
import { Menu } from './menu.js'
import { movable } from './order.js'

/**
 * @typedef {import('../app.js').App} App
 * @typedef {import('../../wire/types.js').Row} RowData
 */

/** @param {{ app: App, rows: RowData[], label: string, workspaceId: string, current: string | undefined }} props */
export function DraftList({ app, rows, label, workspaceId, current }) {
  const list = useRef(/** @type {HTMLUListElement | null} */ (null))
  const [drag, setDrag] = useState(/** @type {{ id: string, over: string, after: boolean } | null} */ (null))
  const [focused, setFocused] = useState('')
  const has = (/** @type {(row: RowData) => boolean} */ test) => rows.find(test)?.draftId
  const tabStop = has(row => row.draftId === focused) ?? has(row => row.sessionId !== '' && row.sessionId === current) ?? rows[0]?.draftId

  /** @param {string} id @param {number} to */
  const move = (id, to) => {
    const ids = rows.map(row => row.draftId)
    const from = ids.indexOf(id)
    if (from < 0 || to === from) return
    ids.splice(from, 1)
    ids.splice(to, 0, id)
    void app.actions.reorder(workspaceId, ids)
  }

  const drop = () => {
    if (!drag) return
    setDrag(null)
    const target = rows.findIndex(row => row.draftId === drag.over)
    const from = rows.findIndex(row => row.draftId === drag.id)
    if (target < 0 || from < 0) return
    const to = target + (drag.after ? 1 : 0)
    move(drag.id, to > from ? to - 1 : to)
  }

  /** @param {import('react').KeyboardEvent} event */
  const keyDown = event => {
    const target = /** @type {HTMLElement} */ (event.target)
    if (!target.matches('.dss-open, .dss-more')) return
    const buttons = /** @type {HTMLElement[]} */ ([...list.current?.querySelectorAll('.dss-open') ?? []])
    const row = target.closest('.dss-row')
    const now = buttons.findIndex(button => row?.contains(button))
    const to = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: buttons.length - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    if (event.altKey && rows[now]) move(rows[now].draftId, Math.max(0, Math.min(to, rows.length - 1)))
    else buttons[Math.max(0, Math.min(to, buttons.length - 1))]?.focus()
  }

  return h('ul', { ref: list, className: 'dss-list', 'aria-label': label, onKeyDown: keyDown },
    rows.map((row, i) => h(DraftRow, {
      key: row.draftId, app, row, current,
      tabStop: row.draftId === tabStop,
      onFocus: setFocused,
      onMove: by => { if (movable(rows, i, by)) move(row.draftId, i + by) },
      first: !movable(rows, i, -1), last: !movable(rows, i, 1),
      marker: drag && drag.over === row.draftId && drag.id !== row.draftId ? drag.after ? 'after' : 'before' : '',
      dragging: drag?.id === row.draftId,
      onDrag: { start: id => setDrag({ id, over: id, after: false }), over: (over, after) => setDrag(known => known && { ...known, over, after }), drop, end: () => setDrag(null) },
      active: drag !== null,
    })))
}

/**
 * @param {{
 *   app: App, row: RowData, current: string | undefined, tabStop: boolean, onFocus: (id: string) => void,
 *   onMove: (by: number) => void, first: boolean, last: boolean, marker: string, dragging: boolean, active: boolean,
 *   onDrag: { start: (id: string) => void, over: (id: string, after: boolean) => void, drop: () => void, end: () => void },
 * }} props
 */
function DraftRow({ app, row, current, tabStop, onFocus, onMove, first, last, marker, dragging, active, onDrag }) {
  const t = useText(app)
  const more = useRef(/** @type {HTMLButtonElement | null} */ (null))
  const [menu, setMenu] = useState(false)
  const [renaming, setRenaming] = useState(false)
  const { draftId } = row
  const title = row.title || t('empty')
  const isOpen = row.sessionId !== '' && row.sessionId === current
  const refocus = () => setTimeout(() => more.current?.closest('.dss-row')?.querySelector('button')?.focus(), 0)
  const closeMenu = useCallback((/** @type {boolean} */ back) => {
    setMenu(false)
    if (back) more.current?.focus()
  }, [])

  if (renaming) {
    return h(Rename, {
      app, row, label: t('rename.label'),
      onDone: byKey => {
        setRenaming(false)
        // Whoever clicked somewhere else has the focus there.
        if (byKey) refocus()
      },
    })
  }
  const remove = () => { void app.actions.remove(row, title) }
  const items = [
    { id: 'rename', label: t('menu.rename'), run: () => setRenaming(true) },
    { id: 'pin', label: t(row.pinned ? 'menu.unpin' : 'menu.pin'), run: () => { void app.actions.update(row, { pinned: !row.pinned }) } },
    { id: 'duplicate', label: t('menu.duplicate'), run: () => { void app.actions.duplicate(draftId) } },
    { id: 'up', label: t('menu.up'), disabled: first, run: () => onMove(-1) },
    { id: 'down', label: t('menu.down'), disabled: last, run: () => onMove(1) },
    ...(row.conflicts > 0 ? [{ id: 'conflicts', label: t('menu.conflicts'), run: () => app.store.set({ dialog: { draftId, title } }) }] : []),
    { id: 'delete', label: t('menu.delete'), danger: true, run: remove },
  ]
  return h('li', {
    'className': ['dss-row', isOpen && 'dss-is-open', menu && 'dss-has-menu', dragging && 'dss-dragging', marker && `dss-drop-${marker}`].filter(Boolean).join(' '),
    'data-draft-id': draftId,
    'data-draft-state': row.state,
    'draggable': true,
    /** @param {import('react').DragEvent} event */
    'onDragStart': event => {
      event.dataTransfer.effectAllowed = 'move'
      event.dataTransfer.setData('text/plain', title)
      onDrag.start(draftId)
    },
    /** @param {import('react').DragEvent} event */
    'onDragOver': event => {
      if (!active) return
      event.preventDefault()
      const box = event.currentTarget.getBoundingClientRect()
      onDrag.over(draftId, event.clientY > box.top + box.height / 2)
    },
    /** @param {import('react').DragEvent} event */
    'onDrop': event => {
      event.preventDefault()
      onDrag.drop()
    },
    'onDragEnd': onDrag.end,
    /** @param {import('react').KeyboardEvent} event */
    'onKeyDown': event => {
      // The row's menu is elsewhere in the document, and its keys are its own.
      if (!/** @type {HTMLElement} */ (event.target).matches('.dss-open, .dss-more')) return
      if (event.key === 'F2') setRenaming(true)
      else if (event.key === 'Delete') remove()
      else return
      event.preventDefault()
    },
    /** @param {import('react').MouseEvent} event */
    'onContextMenu': event => {
      event.preventDefault()
      setMenu(true)
    },
  },
  h('button', {
    'type': 'button', 'className': 'dss-open', 'tabIndex': tabStop ? 0 : -1, 'title': title,
    ...(isOpen ? { 'aria-current': 'true' } : {}),
    'onFocus': () => onFocus(draftId),
    'onClick': () => { void app.actions.open(draftId, row) },
  },
  h('span', { className: 'dss-slot' }, row.state === 'error' ? h(WarnIcon, {}) : h(DraftIcon, {})),
  h('span', { className: row.title ? 'dss-title' : 'dss-title dss-faint' }, title)),
  h('button', {
    'ref': more, 'type': 'button', 'className': 'dss-more', 'tabIndex': tabStop ? 0 : -1,
    'aria-haspopup': 'menu', 'aria-expanded': menu, 'aria-label': t('menu', { title }),
    'onFocus': () => onFocus(draftId),
    'onClick': () => setMenu(open => !open),
  }, h(MoreIcon, {})),
  h(Marks, { app, row, title }),
  menu && more.current && h(Menu, { label: t('menu', { title }), draftId, anchor: more.current, items, onClose: closeMenu }))
}

/** Pinned, other versions, and how saving stands. @param {{ app: App, row: RowData, title: string }} props */
function Marks({ app, row, title }) {
  const t = useText(app)
  const editor = usePage(app, state => state.editors[row.draftId])
  const paused = usePage(app, state => state.mode !== 'full')
  const { state, code, message, retrying } = saveOf(row, editor)
  const why = reasonText(t, code, message)
  const text = state === 'not_saved'
    ? t('save.because', { reason: retrying ? t('why.retrying', { why }) : why })
    : t(`save.${state}`)
  const copies = row.conflicts === 1 ? t('conflicts.one') : t('conflicts.many', { n: row.conflicts })
  return h('span', { className: 'dss-marks' },
    row.state === 'error' && h('button', {
      'type': 'button', 'className': 'dss-link dss-danger', 'data-drafts-retry': '', 'title': t('state.error', { reason: row.lastError }),
      'aria-label': `${t('retry')}: ${t('state.error', { reason: row.lastError })}`,
      'onClick': () => { void app.actions.open(row.draftId) },
    }, t('retry')),
    row.pinned && h(Mark, { name: 'pinned', label: t('pinned') }, h(PinIcon, { size: 14 })),
    row.conflicts > 0 && h('button', {
      'type': 'button', 'className': 'dss-mark dss-warn dss-button', 'data-drafts-conflicts': row.conflicts, 'title': copies, 'aria-label': copies,
      'tabIndex': -1, 'onClick': () => app.store.set({ dialog: { draftId: row.draftId, title } }),
    }, h(CopiesIcon, { size: 14 })),
    row.state === 'converting' && h(Mark, { name: 'converting', label: t('state.converting') }, h('span', { className: 'dss-dot' })),
    h('span', {
      'className': `dss-mark dss-save-${state}`, 'data-save-state': state, 'role': 'img',
      'aria-label': text, ...(state === 'saved' ? {} : { title: text }),
    }, state === 'saving' && !paused && h('span', { className: 'dss-dot' }), state === 'not_saved' && h(WarnIcon, { size: 14 })))
}

/** @param {{ name: string, label: string, children?: import('react').ReactNode }} props */
function Mark({ name, label, children }) {
  return h('span', { className: 'dss-mark', role: 'img', 'aria-label': label, title: label, [`data-drafts-${name}`]: '' }, children)
}

/** @param {{ app: App, row: RowData, label: string, onDone: (byKey: boolean) => void }} props */
function Rename({ app, row, label, onDone }) {
  const [value, setValue] = useState(row.title)
  const done = useRef(false)
  /** @param {boolean} keep @param {boolean} byKey */
  const finish = (keep, byKey) => {
    if (done.current) return
    done.current = true
    const title = value.trim().toWellFormed()
    if (keep && title !== row.title) void app.actions.update(row, { title })
    onDone(byKey)
  }
  return h('li', { 'className': 'dss-row', 'data-draft-id': row.draftId },
    h('input', {
      className: 'dss-rename', 'aria-label': label, value, autoFocus: true, maxLength: 300,
      onFocus: event => event.target.select(),
      onChange: event => setValue(event.target.value),
      onBlur: () => finish(true, false),
      onKeyDown: event => {
        if (event.nativeEvent.isComposing) return
        if (event.key === 'Enter') finish(true, true)
        else if (event.key === 'Escape') finish(false, true)
        else return
        event.preventDefault()
        event.stopPropagation()
      },
    }))
}
