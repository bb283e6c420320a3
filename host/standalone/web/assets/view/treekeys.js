/** What the keys do in the list. None of them acts while an input method composes. */
import { orderAfterStep } from '../entries.js'
import { rowsBeside } from './items.js'
import { titleOf } from './row.js'

/**
 * @typedef {import('./tree.js').Tree} Tree
 * @typedef {import('../entries.js').Entry} Entry
 */

/** @param {Tree} tree @param {KeyboardEvent} event */
export function treeKey(tree, event) {
  if (event.isComposing || event.keyCode === 229 || event.target instanceof HTMLInputElement) return
  const at = tree.entries.findIndex(entry => entry.key === tree.active)
  const entry = tree.entries[at]
  if (!entry) return
  const command = event.ctrlKey || event.metaKey
  const handled = command ? commandKey(tree, event) : event.altKey ? altKey(tree, event, entry) : plainKey(tree, event, entry, at)
  if (!handled) return
  event.preventDefault()
  event.stopPropagation()
}

/** @param {Tree} tree @param {KeyboardEvent} event */
function commandKey(tree, event) {
  return event.key.toLowerCase() === 'z' && !event.shiftKey && !event.altKey && tree.app.actions.undo()
}

/** @param {Tree} tree @param {KeyboardEvent} event @param {Entry} entry */
function altKey(tree, event, entry) {
  if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return false
  const by = event.key === 'ArrowUp' ? -1 : 1
  const { app } = tree
  if (entry.kind === 'workspace') void app.actions.moveWorkspace(entry.id, by)
  if (entry.kind !== 'draft') return true
  const order = orderAfterStep(rowsBeside(tree.entries, entry.workspaceId), entry.row.draftId, by)
  if (!order) return true
  void app.actions.reorder(entry.row.workspaceId, order).then(done => {
    if (done) app.announce(app.t('moved', { title: titleOf(tree, entry), at: order.indexOf(entry.row.draftId) + 1, of: order.length }))
  })
  return true
}

/** @param {Tree} tree @param {KeyboardEvent} event @param {Entry} entry @param {number} at */
function plainKey(tree, event, entry, at) {
  const { app, entries } = tree
  /** @param {number} to */
  const go = to => {
    const next = entries[Math.max(0, Math.min(to, entries.length - 1))]
    if (next) tree.focus(next.key)
    return true
  }
  switch (event.key) {
    case 'ArrowDown': return go(at + 1)
    case 'ArrowUp': return go(at - 1)
    case 'Home': return go(0)
    case 'End': return go(entries.length - 1)
    case 'PageDown': return go(at + 10)
    case 'PageUp': return go(at - 10)
    case 'ArrowRight':
      if (entry.kind === 'workspace' && !entry.open) app.fold(entry.id)
      else if (entry.kind === 'workspace') go(at + 1)
      return true
    case 'ArrowLeft':
      if (entry.kind === 'workspace' && entry.open && !tree.found) app.fold(entry.id)
      else if (entry.kind !== 'workspace') go(entries.findLastIndex((one, index) => index < at && one.kind === 'workspace'))
      return true
    case 'Enter':
      tree.open(entry)
      return true
    case ' ':
      tree.open(entry, true)
      return true
    case 'ContextMenu': return menu(tree, entry)
    case 'F10': return event.shiftKey && menu(tree, entry)
    case 'F2':
      if (entry.kind !== 'more' && !(entry.kind === 'workspace' && entry.gone)) tree.rename(entry.key)
      return true
    case 'Delete':
    case 'Backspace': return remove(tree, entry)
    default: return event.key.length === 1 && jump(tree, event.key, at)
  }
}

/** A letter goes to the next row that begins with it. @param {Tree} tree @param {string} letter @param {number} at */
function jump(tree, letter, at) {
  const { entries } = tree
  const wanted = letter.toLocaleLowerCase()
  const next = [...entries.slice(at + 1), ...entries.slice(0, at)].find(entry => titleOf(tree, entry).toLocaleLowerCase().startsWith(wanted))
  if (next) tree.focus(next.key)
  return next !== undefined
}

/** @param {Tree} tree @param {Entry} entry */
function menu(tree, entry) {
  const element = tree.elementOf(entry.key)
  if (!element) return false
  const { left, bottom } = element.getBoundingClientRect()
  tree.openMenu(entry, { x: left + 24, y: bottom })
  return true
}

/** @param {Tree} tree @param {Entry} entry */
function remove(tree, entry) {
  const { app } = tree
  if (entry.kind === 'draft') void app.actions.remove(entry.row.draftId, titleOf(tree, entry))
  else if (entry.kind === 'session') void app.actions.putAway(entry.session, titleOf(tree, entry), 'trash')
  else return false
  return true
}
