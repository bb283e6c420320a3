/** What stands above DSH's workspace browser, and the rows inside its groups. */
import { Fragment, createElement as h, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import { usePage, useText } from '../app.js'
import { DraftIcon, NewDraftIcon, TrashIcon } from '../icons.js'
import { Notices } from '../notices.js'
import { byWorkspace, recognise } from './placement.js'
import { KeepFocus, keepingFocus, rowOf } from './focus.js'
import { DraftList } from './rows.js'

/**
 * @typedef {import('../app.js').App} App
 * @typedef {import('../dsh.js').BrowserProps} BrowserProps
 * @typedef {import('../dsh.js').Workspace} Workspace
 * @typedef {import('../../wire/types.js').Row} Row
 */

/** @type {Row[]} */
const noRows = []
/** @type {readonly Workspace[]} */
const noWorkspaces = []

/**
 * @param {App} app
 * @returns {import('react').ComponentType<BrowserProps>}
 */
export function createRows(app) {
  return function Drafts({ wide, expandSidebar, useSessions, useWorkspaces }) {
    const rows = usePage(app, state => state.sidebar?.rows ?? noRows)
    const current = useSessions(list => list.current)
    const workspaces = useWorkspaces(list => list.items ?? noWorkspaces)
    const ready = useWorkspaces(list => list.baselinesReady)
    const marker = useRef(/** @type {HTMLDivElement | null} */ (null))
    const { placed, gone } = useMemo(() => byWorkspace(rows, workspaces), [rows, workspaces])
    const places = usePlaces(marker, workspaces, placed, wide)
    const wanted = usePage(app, state => state.focus)
    useReveal(app, places)
    const ids = useMemo(() => [...workspaces.flatMap(({ workspaceId }) => placed.get(workspaceId) ?? noRows), ...gone].map(row => row.draftId), [workspaces, placed, gone])
    const arrived = useCallback(() => app.store.set({ focus: undefined }), [])
    if (!wide) {
      return h('div', { ref: marker, className: 'dss-rail' }, h(NewButton, { app, wide }), ids.length > 0 && h(ShowButton, {
        app, count: ids.length,
        onShow: () => {
          app.store.set({ focus: rows.find(row => row.sessionId !== '' && row.sessionId === current)?.draftId ?? ids[0] })
          expandSidebar()
        },
      }))
    }
    return h(KeepFocus, { ids, wanted, onArrived: arrived },
      h('div', { ref: marker, className: 'dss-top' },
        h('div', { className: 'dss-bar' }, h(NewButton, { app, wide }), h(TrashButton, { app })),
        h(Notices, { app }),
        h(Section, { app, current, placed: places ? new Map() : placed, gone: ready ? gone : noRows, workspaces })),
      places?.map(({ workspaceId, host }) => createPortal(
        h(DraftList, { app, current, workspaceId, rows: placed.get(workspaceId) ?? noRows, label: labelOf(app, workspaces, workspaceId) }),
        host, workspaceId)))
  }
}

/** @param {App} app @param {readonly Workspace[]} workspaces @param {string} workspaceId */
function labelOf({ ctx }, workspaces, workspaceId) {
  const name = workspaces.find(workspace => workspace.workspaceId === workspaceId)?.title ?? ''
  return ctx.locale.bind('draftSessions')('drafts.in', { name })
}

/**
 * One element behind the header of each group that has drafts, put back whenever DSH
 * renders anew.
 * @param {import('react').RefObject<HTMLElement | null>} marker
 * @param {readonly Workspace[]} workspaces
 * @param {Map<string, Row[]>} placed
 * @param {boolean} wide
 * @returns {{ workspaceId: string, host: HTMLElement }[] | undefined} undefined: DSH's tree is not there or of another shape
 */
function usePlaces(marker, workspaces, placed, wide) {
  const [places, setPlaces] = useState(/** @type {{ workspaceId: string, host: HTMLElement }[] | undefined} */ (undefined))
  const hosts = useRef(/** @type {Map<string, HTMLElement>} */ (new Map()))

  const place = useCallback(() => {
    const tree = wide ? marker.current?.parentElement?.querySelector('[role=tree]') ?? null : null
    const groups = recognise(tree, workspaces)
    const wanted = groups?.filter(group => placed.has(group.workspaceId)) ?? []
    const keep = new Set(wanted.map(group => group.workspaceId))
    for (const [id, host] of hosts.current) {
      if (keep.has(id)) continue
      host.remove()
      hosts.current.delete(id)
    }
    const next = wanted.map(({ workspaceId, header, expanded }) => {
      let host = hosts.current.get(workspaceId)
      if (!host) {
        host = document.createElement('div')
        host.setAttribute('data-drafts-group', workspaceId)
        hosts.current.set(workspaceId, host)
      }
      const element = host
      if (header.nextElementSibling !== element) keepingFocus(element, () => header.after(element))
      host.hidden = !expanded
      return { workspaceId, host }
    })
    setPlaces(known => {
      if (!groups) return undefined
      const unchanged = known?.length === next.length && known.every(({ host }, i) => host === next[i]?.host)
      return unchanged ? known : next
    })
  }, [marker, workspaces, placed, wide])

  useLayoutEffect(() => {
    place()
    const region = marker.current?.parentElement
    if (!region) return
    // A mutation is told before the browser paints, so the rows never flicker.
    const observer = new MutationObserver(place)
    observer.observe(region, { childList: true, subtree: true, attributes: true, attributeFilter: ['aria-expanded'] })
    return () => observer.disconnect()
  }, [marker, place])

  useLayoutEffect(() => {
    const known = hosts.current
    return () => {
      for (const host of known.values()) host.remove()
      known.clear()
    }
  }, [])
  return places
}

/**
 * Bring a row into view that was asked for: its group is unfolded, as a person would.
 * @param {App} app
 * @param {{ workspaceId: string, host: HTMLElement }[] | undefined} places
 */
function useReveal(app, places) {
  const reveal = usePage(app, state => state.reveal)
  const workspaceId = usePage(app, state => state.sidebar?.rows.find(row => row.draftId === state.reveal)?.workspaceId)
  useEffect(() => {
    if (reveal === undefined || workspaceId === undefined) return
    const host = places?.find(place => place.workspaceId === workspaceId)?.host
    const row = rowOf(reveal)
    if (!row || (host && !host.contains(row))) return
    app.store.set({ reveal: undefined })
    if (host?.hidden) unfold(host)
    row.scrollIntoView({ block: 'nearest' })
  }, [app, places, reveal, workspaceId])
}

/** @param {HTMLElement} host behind the header of its group */
function unfold(host) {
  const header = host.previousElementSibling
  const row = [header, header?.firstElementChild].find(element => element?.getAttribute('aria-expanded') === 'false')
  if (row instanceof HTMLElement) row.click()
}

/** Drafts that have no group to stand in. @param {{ app: App, current: string | undefined, placed: Map<string, Row[]>, gone: Row[], workspaces: readonly Workspace[] }} props */
function Section({ app, current, placed, gone, workspaces }) {
  const t = useText(app)
  /** @type {Map<string, Row[]>} */
  const byPath = new Map()
  for (const row of gone) byPath.set(row.workspacePath, [...byPath.get(row.workspacePath) ?? [], row])
  if (placed.size === 0 && byPath.size === 0) return null
  return h('section', { 'className': 'dss-section', 'aria-label': t('drafts'), 'data-drafts-section': '' },
    h('h2', { className: 'dss-heading' }, t('drafts')),
    workspaces.filter(workspace => placed.has(workspace.workspaceId)).map(({ workspaceId, title, path }) => h(Fragment, { key: workspaceId },
      (placed.size > 1 || byPath.size > 0) && h('div', { className: 'dss-subheading', title: path }, title),
      h(DraftList, { app, current, workspaceId, rows: placed.get(workspaceId) ?? noRows, label: t('drafts.in', { name: title }) }))),
    [...byPath].map(([path, rows]) => h(Fragment, { key: `path:${path}` },
      h('div', { className: 'dss-subheading', title: t('gone', { path }) }, h('bdi', null, path || '—')),
      h(DraftList, { app, current, workspaceId: rows[0]?.workspaceId ?? '', rows, label: t('drafts.in', { name: path }) }))))
}

/** @param {{ app: App, wide: boolean }} props */
function NewButton({ app, wide }) {
  const t = useText(app)
  const creating = usePage(app, state => state.creating)
  return h('button', {
    'type': 'button', 'className': 'dss-new', 'data-drafts-new': '', 'title': t('new.hint'), 'aria-label': t('new'),
    'aria-keyshortcuts': 'Alt+Shift+N Control+Shift+N Meta+Shift+N', 'aria-busy': creating,
    'onClick': () => { void app.actions.newDraft() },
  }, h(NewDraftIcon, { size: wide ? 14 : 18 }), wide && h('span', null, creating ? t('creating') : t('new')))
}

/** Where the sidebar is a rail: how many drafts there are, and the way to them. @param {{ app: App, count: number, onShow: () => void }} props */
function ShowButton({ app, count, onShow }) {
  const t = useText(app)
  const label = count === 1 ? t('show.one') : t('show.many', { n: count })
  return h('button', { 'type': 'button', 'className': 'dss-new', 'data-drafts-show': count, 'title': label, 'aria-label': label, 'onClick': onShow },
    h(DraftIcon, { size: 18 }), h('span', { 'className': 'dss-count', 'aria-hidden': true }, count > 99 ? '99+' : count))
}

/** The way to what was deleted, while there is any. @param {{ app: App }} props */
function TrashButton({ app }) {
  const t = useText(app)
  const count = usePage(app, state => state.sidebar?.trashCount ?? 0)
  const open = usePage(app, state => state.trash)
  if (count === 0 && !open) return null
  const label = t('trash.show', { n: count })
  return h('button', {
    'type': 'button', 'className': 'dss-trash', 'data-drafts-trash': count, 'title': label, 'aria-label': label, 'aria-haspopup': 'dialog',
    'onClick': () => app.store.set({ trash: true }),
  }, h(TrashIcon, {}))
}
