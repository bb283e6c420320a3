/**
 * The keyboard focus in the drafts' rows. A row that goes takes the focus with it,
 * and one that moves loses it: without this it falls to the page's body, and the
 * next Tab starts at the top of the page.
 */
import { Component } from 'react'
import { heir } from './order.js'

/**
 * @typedef {import('../app.js').App} App
 * @typedef {{ draftId: string, part: string }} Held a row's button
 */

const openPart = '.dss-open'
const morePart = '.dss-more'

/** @param {string} draftId @returns {HTMLElement | undefined} */
export function rowOf(draftId) {
  return [...document.querySelectorAll('li[data-draft-id]')]
    .find(/** @returns {row is HTMLElement} */ row => row instanceof HTMLElement && row.dataset['draftId'] === draftId)
}

/** @param {Held} held @returns {boolean} whether that row has the focus now */
function focusRow({ draftId, part }) {
  const row = rowOf(draftId)
  const open = row?.querySelector(openPart)
  if (!(open instanceof HTMLElement)) return false
  // The second button shows only while the focus is in its row.
  open.focus()
  const wanted = part === openPart ? null : row?.querySelector(part)
  if (wanted instanceof HTMLElement) wanted.focus()
  // A row of a folded group cannot have it.
  return row?.contains(document.activeElement) === true
}

/** @returns {Held | undefined} the row that has the focus, in itself or in its menu */
export function heldRow() {
  const focused = document.activeElement
  const row = focused?.closest('[data-draft-id], [data-drafts-menu]')
  if (!focused || !(row instanceof HTMLElement)) return undefined
  const draftId = row.dataset['draftId'] ?? row.dataset['draftsMenu'] ?? ''
  return { draftId, part: focused.matches(morePart) ? morePart : openPart }
}

/** Whether nothing has the focus. */
function lost() {
  return document.activeElement === null || document.activeElement === document.body
}

/** Whether the focus is nowhere, or where this page put it: it may be moved on. */
function free() {
  return lost() || document.activeElement?.closest('[data-draft-id], [data-drafts-menu], [data-drafts-new], [data-drafts-toast], [data-drafts-trash]') !== null
}

/**
 * Change the document around an element that may hold the focus: moving it loses it.
 * @param {HTMLElement} element
 * @param {() => void} change
 */
export function keepingFocus(element, change) {
  const focused = document.activeElement
  const inside = focused instanceof HTMLElement && element.contains(focused)
  change()
  if (inside && lost()) focused.focus({ preventScroll: true })
}

/**
 * Around all rows. `wanted` is a draft whose row shall have the focus once it is
 * there (restored, copied); after that `onArrived` is called.
 * @extends {Component<{ ids: readonly string[], wanted: string | undefined, onArrived: () => void, children?: import('react').ReactNode }>}
 */
export class KeepFocus extends Component {
  /** @override */
  getSnapshotBeforeUpdate() {
    return heldRow() ?? null
  }

  /** @override */
  componentDidMount() {
    this.#arrive()
  }

  /** @returns {boolean} whether the wanted row has the focus now */
  #arrive() {
    const { ids, wanted, onArrived } = this.props
    if (wanted === undefined || !rowOf(wanted)) return false
    onArrived()
    // The next best where its group is folded.
    return free() && [wanted, ...ids].some(draftId => focusRow({ draftId, part: openPart }))
  }

  /** @override @param {{ ids: readonly string[] }} before @param {unknown} _ @param {Held | null} held */
  componentDidUpdate(before, _, held) {
    if (this.#arrive() || !held || !lost()) return
    const { ids } = this.props
    const next = heir(before.ids, ids, held.draftId)
    if (next !== undefined && focusRow({ draftId: next, part: next === held.draftId ? held.part : openPart })) return
    // It is in a folded group now.
    const found = ids.slice(next === undefined ? 0 : ids.indexOf(next)).some(draftId => focusRow({ draftId, part: openPart }))
    if (!found) focusNew()
  }

  /** @override */
  render() {
    return this.props.children
  }
}

function focusNew() {
  const button = document.querySelector('[data-drafts-new]')
  if (button instanceof HTMLElement) button.focus()
}
