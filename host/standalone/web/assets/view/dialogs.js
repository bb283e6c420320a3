/** Questions and lists in a window of their own. The keyboard goes back to where it was. */
import { asApiError, drafts, get } from '../api.js'
import { h, icon } from './dom.js'

/**
 * @typedef {import('../app.js').App} App
 * @typedef {import('../../types/api.js').Draft} Draft
 * @typedef {import('../../types/api.js').Session} Session
 * @typedef {import('../../types/api.js').TrashEntry} TrashEntry
 */

/**
 * @param {App} app
 * @param {string} title
 * @param {...import('./dom.js').Child} children
 */
function dialog(app, title, ...children) {
  const before = document.activeElement
  const close = h('button', { type: 'button', class: 'icon-button', 'aria-label': app.t('close'), onclick: () => element.close() }, icon('cross'))
  const element = h('dialog', { class: 'dialog', 'aria-label': title },
    h('header', {}, h('h2', {}, title), close), h('div', { class: 'dialog-body' }, ...children))
  element.addEventListener('click', event => { if (event.target === element) element.close() })
  element.addEventListener('close', () => {
    if (before instanceof HTMLElement && before.isConnected && document.activeElement?.closest('dialog') === element) before.focus()
    element.remove()
    if (document.activeElement === document.body) app.focusMain()
  })
  document.body.append(element)
  element.showModal()
  return element
}

/** @param {App} app @param {string} draftId */
function moveDialog(app, draftId) {
  const { t } = app
  const row = app.row(draftId)
  if (!row) return
  const list = app.model.state.workspaces.filter(({ id }) => id !== row.workspaceId).map(({ id, name, path }) => h('button', {
    type: 'button', class: 'choice', onclick: () => {
      window.close()
      void app.actions.move(row.draftId, id)
    },
  }, icon('folder'), h('span', {}, name), h('span', { class: 'aside' }, path)))
  const window = dialog(app, t('move.title', { title: row.title || t('empty') }), ...list)
}

/** @param {App} app @param {string} draftId */
async function conflictsDialog(app, draftId) {
  const { t } = app
  const list = h('div', { class: 'cards' })
  const window = dialog(app, t('conflicts.title', { title: app.row(draftId)?.title || t('empty') }), h('p', { class: 'aside' }, t('conflicts.about')), list)
  const fill = async () => {
    try {
      const { conflicts } = /** @type {Draft} */ (await drafts('get', { draftId }))
      if (conflicts.length === 0) return window.close()
      list.replaceChildren(...conflicts.map(({ id, text, at }) => {
        /** @param {string} key @param {{ keepAsDraft?: boolean, take?: boolean }} how */
        const decide = (key, how) => h('button', { type: 'button', class: 'button', onclick: async () => { if (await app.actions.resolve(draftId, id, how)) await fill() } }, t(key))
        return h('article', { class: 'card' },
          h('p', { class: 'aside' }, t('conflicts.at', { time: new Date(at).toLocaleString(app.language) })),
          h('pre', { class: 'copy', tabindex: '0' }, text === '' ? t('conflicts.blank') : text),
          h('div', { class: 'actions' }, decide('conflicts.take', { take: true }), decide('conflicts.keep', { keepAsDraft: true }), decide('conflicts.remove', {})))
      }))
      list.querySelector('button')?.focus()
    } catch (error) {
      app.fail(asApiError(error))
      window.close()
    }
  }
  await fill()
}

/** @param {App} app */
async function trashDialog(app) {
  const { t } = app
  const body = h('div', {}, h('p', { class: 'aside' }, t('loading')))
  dialog(app, t('trash'), h('p', { class: 'aside' }, t('trash.about')), body)
  /** @param {string} title @param {() => Promise<unknown>} restore */
  const line = (title, restore) => {
    const element = h('li', { class: 'line' }, h('span', { class: 'line-title' }, title), h('button', {
      type: 'button', class: 'button', 'aria-label': `${t('trash.restore')}: ${title}`,
      onclick: async () => {
        if (!await restore()) return
        const next = element.nextElementSibling ?? element.previousElementSibling
        const focus = /** @type {HTMLElement | null} */ (next?.querySelector('button') ?? element.closest('dialog')?.querySelector('header button') ?? null)
        focus?.focus()
        element.remove()
      },
    }, t('trash.restore')))
    return element
  }
  /** @param {string} title @param {HTMLElement[]} lines */
  const section = (title, lines) => lines.length > 0 && h('section', {}, h('h3', {}, title), h('ul', { class: 'lines' }, ...lines))
  /** @param {'trash' | 'archived'} state @param {'untrash' | 'restore'} how */
  const sessions = async (state, how) => {
    const { sessions: list } = /** @type {{ sessions: Session[] }} */ (await get(`/api/sessions?state=${state}&limit=100`))
    return list.map(({ id, title }) => line(title || t('untitled'), () => app.actions.bringBack(id, how)))
  }
  try {
    const [deleted, trashed, archived] = await Promise.all([
      app.ready ? drafts('list-trash').then((/** @type {{ entries: TrashEntry[] }} */ { entries }) => entries) : [],
      sessions('trash', 'untrash'), sessions('archived', 'restore'),
    ])
    const parts = [
      section(t('trash.drafts'), deleted.map(({ draft }) => line(draft.title || firstLine(draft.text) || t('empty'), () => app.actions.restore(draft.id)))),
      section(t('trash.sessions'), trashed), section(t('trash.archived'), archived),
    ].filter(part => part !== false)
    body.replaceChildren(...parts.length > 0 ? parts : [h('p', { class: 'nothing' }, t('trash.none'))])
  } catch (error) {
    body.replaceChildren(h('p', { class: 'nothing' }, app.reason(asApiError(error).code, asApiError(error).message)))
  }
}

/** @param {string} text */
const firstLine = text => text.trim().split('\n')[0]?.slice(0, 120) ?? ''

/** @param {App} app */
async function folderDialog(app) {
  const { t } = app
  const path = h('input', { type: 'text', class: 'input', 'aria-label': t('folder.path'), spellcheck: 'false', autocomplete: 'off' })
  const list = h('ul', { class: 'folders', 'aria-label': t('folder.list') })
  const error = h('p', { class: 'problem', role: 'alert' })
  const add = async () => {
    if (await app.actions.addWorkspace(path.value.trim())) window.close()
  }
  const form = h('form', { onsubmit: (/** @type {Event} */ event) => {
    event.preventDefault()
    void add()
  } }, path, h('button', { type: 'submit', class: 'button main' }, t('folder.add')))
  const window = dialog(app, t('folder.title'), h('p', { class: 'aside' }, t('folder.about')), form, error, list)
  /** @param {string} to @param {boolean} [fromList] */
  const go = async (to, fromList = false) => {
    try {
      const { path: here, parent, folders } = await get(`/api/folders${to === '' ? '' : `?path=${encodeURIComponent(to)}`}`)
      error.textContent = ''
      path.value = here
      /** @param {string} name @param {string} target @param {import('./dom.js').IconName} image */
      const entry = (name, target, image) => h('li', {}, h('button', { type: 'button', class: 'choice', onclick: () => { void go(target, true) } }, icon(image), h('span', {}, name)))
      const inside = folders.map((/** @type {string} */ name) => entry(name, `${here.replace(/\/$/, '')}/${name}`, 'folder'))
      list.replaceChildren(...parent && parent !== here ? [entry(t('folder.up'), parent, 'up')] : [],
        ...inside.length > 0 ? inside : [h('li', { class: 'nothing' }, t('folder.none'))])
      if (fromList) list.querySelector('button')?.focus()
    } catch (failed) {
      error.textContent = app.reason(asApiError(failed).code, asApiError(failed).message)
    }
  }
  path.addEventListener('change', () => { void go(path.value.trim()) })
  await go('')
  path.focus()
}

export const dialogs = { move: moveDialog, conflicts: conflictsDialog, trash: trashDialog, folder: folderDialog }
