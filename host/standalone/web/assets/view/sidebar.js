/** The left side: New draft, search, the list, and what belongs to the whole page. */
import { drafts, get } from '../api.js'
import { applyPage } from '../model.js'
import { openDialog } from './dialog.js'
import { h, icon, setText } from './dom.js'
import { currentTheme, nextTheme } from './theme.js'
import { Tree } from './tree.js'

/** @typedef {import('../app.js').App} App */

const searchMs = 120
const maxFound = 50
const pageOfSessions = 50

export class Sidebar {
  tree
  element

  #app
  #search
  #found = h('p', { class: 'sr', role: 'status' })
  #nothing
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer
  #turn = 0

  /** @param {App} app */
  constructor(app) {
    this.#app = app
    const { t } = app
    this.tree = new Tree(app)
    this.tree.more = workspaceId => this.#more(workspaceId)
    this.#search = h('input', { type: 'search', class: 'search-field', placeholder: t('search'), 'aria-label': t('search.label'), autocomplete: 'off', spellcheck: 'false' })
    this.#nothing = h('p', { class: 'nothing', hidden: true }, t('search.none'))
    this.#search.addEventListener('input', event => {
      if (/** @type {InputEvent} */ (event).isComposing) return
      this.#later()
    })
    this.#search.addEventListener('compositionend', () => this.#later())
    this.#search.addEventListener('keydown', event => {
      if (event.isComposing || event.keyCode === 229) return
      if (event.key === 'Escape' && this.#search.value !== '') {
        this.#search.value = ''
        void this.#find()
      } else if (event.key === 'ArrowDown' || event.key === 'Enter') {
        const first = this.tree.entries.find(entry => entry.kind !== 'workspace') ?? this.tree.entries[0]
        if (first) this.tree.focus(first.key)
      } else return
      event.preventDefault()
    })
    this.element = h('nav', { class: 'sidebar', 'aria-label': t('app') },
      h('div', { class: 'sidebar-top' },
        h('button', { type: 'button', class: 'new', title: t('new.hint'), onclick: () => app.actions.newDraft() }, icon('pen'), h('span', {}, t('new')), h('kbd', {}, 'Alt ⇧ N')),
        h('div', { class: 'search' }, icon('search'), this.#search, h('kbd', {}, 'Ctrl K'))),
      this.#found, this.#nothing, this.tree.element,
      h('div', { class: 'sidebar-end' },
        this.#button('folder', t('menu.add'), () => { openDialog('folder', app) }),
        this.#button('trash', t('trash'), () => { openDialog('trash', app) }),
        h('span', { class: 'grow' }),
        this.#button('globe', t('language'), () => app.changeLanguage(), { id: 'language', lang: app.language === 'en' ? 'zh' : 'en' }),
        this.#theme()))
  }

  /** @param {import('./dom.js').IconName} name @param {string} label @param {() => void} run @param {object} [more] */
  #button(name, label, run, more = {}) {
    return h('button', { type: 'button', class: 'icon-button', 'aria-label': label, title: label, onclick: run, ...more }, icon(name))
  }

  #theme() {
    const { t } = this.#app
    const button = this.#button('theme', '', () => {
      nextTheme()
      label()
    })
    const label = () => {
      button.setAttribute('aria-label', t(`theme.${currentTheme()}`))
      button.title = t(`theme.${currentTheme()}`)
    }
    label()
    return button
  }

  focusSearch() {
    this.#search.focus()
    this.#search.select()
  }

  update() {
    this.tree.update()
  }

  // ---- search ----

  #later() {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => { void this.#find() }, searchMs)
  }

  async #find() {
    const turn = ++this.#turn
    const query = this.#search.value.trim()
    if (query === '') {
      this.tree.found = undefined
      setText(this.#found, '')
      this.#nothing.hidden = true
      return this.#app.changed()
    }
    const wanted = query.toLocaleLowerCase()
    const holds = (/** @type {string} */ text) => text.toLocaleLowerCase().includes(wanted)
    const { rows = [] } = this.#app.model.state.sidebar ?? {}
    // Titles at once; the texts and the host's sessions follow.
    const titles = new Set(rows.filter(({ title }) => holds(title)).map(({ draftId }) => draftId))
    const known = [...this.#app.model.listed.values()].flat().filter(({ title }) => holds(title)).slice(0, maxFound)
    this.#show({ drafts: titles, sessions: known })
    try {
      const [list, sessions] = await Promise.all([
        this.#app.ready ? drafts('list', {}) : { drafts: [] },
        get(`/api/sessions?state=open&limit=${maxFound}&q=${encodeURIComponent(query)}`),
      ])
      if (turn !== this.#turn) return
      const texts = list.drafts.filter((/** @type {import('../../types/api.js').Draft} */ { text, title }) => holds(text) || holds(title))
      const ofDrafts = new Set(this.#app.model.state.sidebar?.sessionIds)
      this.#show({
        drafts: new Set([...titles, ...texts.map((/** @type {{ id: string }} */ { id }) => id)]),
        sessions: sessions.sessions.filter((/** @type {{ id: string }} */ { id }) => !ofDrafts.has(id)),
      })
    } catch {
      // What is known here is shown already.
    }
  }

  /** @param {import('../entries.js').Found} found */
  #show(found) {
    const { t } = this.#app
    const n = found.drafts.size + found.sessions.length
    this.tree.found = found
    setText(this.#found, n === 0 ? t('search.none') : t('search.some', { n }))
    this.#nothing.hidden = n > 0
    this.#app.changed()
  }

  /** More sessions of one workspace. @param {string} workspaceId @returns {Promise<void>} */
  async #more(workspaceId) {
    const app = this.#app
    try {
      const { sessions, next } = await get(`/api/sessions?state=open&workspaceId=${encodeURIComponent(workspaceId)}&limit=${pageOfSessions}&before=${encodeURIComponent(this.#cursors.get(workspaceId) ?? '')}`)
      this.#cursors.set(workspaceId, next)
      // The first page is what the list began with: go on until something new came.
      if (applyPage(app.model, workspaceId, sessions, !next) === 0 && next) return await this.#more(workspaceId)
      app.changed()
    } catch (error) {
      app.fail(error)
    }
  }

  /** @type {Map<string, string>} */
  #cursors = new Map()
}
