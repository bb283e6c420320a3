/** One line of the list. */
import { ago } from '../locale.js'
import { attribute, h, icon } from './dom.js'

/**
 * @typedef {import('../entries.js').Entry} Entry
 * @typedef {import('./tree.js').Tree} Tree
 * @typedef {import('./dom.js').Child} Child
 */

/** @param {Entry} entry in pixels, as style.css has them */
export const rowHeight = entry => entry.kind === 'workspace' ? 44 : 32

/**
 * Bring a row up to date; untouched where nothing that it shows has changed.
 * @param {Tree} tree
 * @param {Entry} entry
 * @param {{ element: HTMLElement, signature: string }} row
 * @returns {string} its new signature
 */
export function fillRow(tree, entry, { element, signature }) {
  const { app } = tree
  const selected = isSelected(tree, entry)
  attribute(element, 'tabindex', tree.active === entry.key ? '0' : '-1')
  attribute(element, 'aria-level', String(entry.level))
  attribute(element, 'aria-posinset', String(entry.at))
  attribute(element, 'aria-setsize', String(entry.of))
  attribute(element, 'aria-selected', String(selected))
  if (entry.kind === 'workspace') attribute(element, 'aria-expanded', String(entry.open))
  const renaming = tree.renaming === entry.key
  const shown = shows(tree, entry)
  const now = JSON.stringify(renaming ? [entry.key, 'rename'] : [shown, app.language])
  if (now === signature) return now
  element.className = `row row-${entry.kind}`
  attribute(element, 'aria-label', renaming ? undefined : shown.label)
  attribute(element, 'title', shown.hint)
  element.replaceChildren(...renaming ? [renameField(tree, entry)] : content(tree, entry))
  return now
}

/** @param {Tree} tree @param {Entry} entry */
function isSelected({ app: { selection } }, entry) {
  return (entry.kind === 'draft' && selection.kind === 'draft' && selection.id === entry.row.draftId)
    || (entry.kind === 'session' && selection.kind === 'session' && selection.id === entry.session.id)
}

/** @param {Tree} tree @param {Entry} entry */
export function titleOf({ app: { t } }, entry) {
  switch (entry.kind) {
    case 'workspace': return entry.name
    case 'draft': return entry.row.title || t('empty')
    case 'session': return entry.session.title || t('untitled')
    case 'more': return t('more', { n: entry.left })
  }
}

/** What a row shows, as plain data. @param {Tree} tree @param {Entry} entry @returns {{ key: string, title: string, marks: string, label?: string, hint?: string }} */
function shows(tree, entry) {
  const { t, language } = tree.app
  const title = titleOf(tree, entry)
  if (entry.kind === 'workspace') {
    const why = entry.gone ? t('gone', { path: entry.path }) : entry.missing ? t('missing', { path: entry.path }) : entry.path
    const drafts = entry.drafts > 0 ? t('count', { n: entry.drafts }) : ''
    return { key: entry.key, title, marks: `${entry.open}${entry.drafts}${entry.missing}`, label: [title, drafts, entry.missing ? why : ''].filter(Boolean).join(', '), hint: why }
  }
  if (entry.kind === 'draft') {
    const { row } = entry
    const marks = [
      row.pinned && t('pinned'),
      row.conflicts > 0 && (row.conflicts === 1 ? t('conflicts.one') : t('conflicts.many', { n: row.conflicts })),
      row.state === 'converting' && t('send.busy'),
      row.state === 'error' && (row.lastError || tree.app.reason('SESSION_UNAVAILABLE')),
      row.saveState === 'not_saved' && t('save.because', { reason: tree.app.reason(row.saveCode, row.saveMessage) }),
    ].filter(Boolean)
    return { key: entry.key, title, marks: marks.join(), label: [`${t('draft')}: ${title}`, ...marks].join(', '), hint: [title, ...marks].join('\n') }
  }
  if (entry.kind === 'session') {
    const { running, waiting, unknown, updatedAt } = entry.session
    const state = waiting ? t('waiting') : running ? t('running') : unknown ? t('unknown') : ''
    const time = ago(updatedAt, language)
    return { key: entry.key, title, marks: `${state}${time}`, label: [title, state || time].join(', '), hint: [title, state].filter(Boolean).join('\n') }
  }
  return { key: entry.key, title, marks: '', label: title }
}

/** @param {Tree} tree @param {Entry} entry @returns {Node[]} */
function content(tree, entry) {
  const { app } = tree
  const { t } = app
  const title = titleOf(tree, entry)
  const name = h('span', { class: 'row-title' }, title)
  const menu = h('button', { type: 'button', class: 'row-button', tabindex: '-1', 'data-act': 'menu', 'aria-haspopup': 'menu', 'aria-label': t('menu', { title }) }, icon('more'))
  switch (entry.kind) {
    case 'workspace':
      return [
        icon('fold'), name,
        h('span', { class: 'row-marks' }, entry.missing && icon('warn'), !entry.open && entry.drafts > 0 && h('span', { class: 'count' }, String(entry.drafts))),
        ...entry.gone ? [] : [
          h('button', { type: 'button', class: 'row-button', tabindex: '-1', 'data-act': 'new', 'aria-label': t('new.in', { name: title }), title: t('new.in', { name: title }) }, icon('plus')),
          menu,
        ],
      ]
    case 'draft': {
      const { row } = entry
      const trouble = row.state === 'error' || row.saveState === 'not_saved'
      return [
        icon('pen'), name,
        h('span', { class: 'row-marks' },
          trouble && icon('warn'), row.state === 'converting' && h('span', { class: 'dot busy' }),
          row.conflicts > 0 && icon('copies'), row.pinned && icon('pin')),
        menu,
      ]
    }
    case 'session': {
      const { running, waiting, unknown, updatedAt } = entry.session
      return [
        h('span', { class: waiting ? 'dot waiting' : running ? 'dot busy' : unknown ? 'dot unknown' : 'dot' }), name,
        h('span', { class: 'row-marks row-time' }, ago(updatedAt, app.language)), menu,
      ]
    }
    case 'more':
      return [icon('down'), name]
  }
}

/** @param {Tree} tree @param {Entry} entry */
function renameField(tree, entry) {
  const { app } = tree
  const old = titleOf(tree, entry)
  const label = entry.kind === 'draft' ? 'rename.draft' : entry.kind === 'session' ? 'rename.session' : 'rename.workspace'
  const input = h('input', { class: 'row-rename', type: 'text', value: old, maxlength: '200', 'aria-label': app.t(label) })
  let done = false
  /** @param {boolean} keep */
  const end = keep => {
    if (done) return
    done = true
    const title = input.value.trim()
    tree.endRename(entry.key)
    if (!keep || title === old) return
    if (entry.kind === 'draft') void app.actions.update(entry.row.draftId, { title })
    else if (entry.kind === 'session' && title !== '') void app.actions.change(entry.session.id, { title })
    else if (entry.kind === 'workspace' && title !== '') void app.actions.renameWorkspace(entry.id, title)
  }
  input.addEventListener('keydown', event => {
    event.stopPropagation()
    // Enter and Escape of an input method are its own.
    if (event.isComposing || event.keyCode === 229) return
    if (event.key === 'Enter' || event.key === 'Escape') {
      event.preventDefault()
      end(event.key === 'Enter')
    }
  })
  input.addEventListener('blur', () => end(true))
  return input
}
