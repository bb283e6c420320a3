/** The whole page: both sides, the drawer on narrow screens, toasts, and the keys that work everywhere. */
import { attribute, focusIn, h, icon, setText } from './dom.js'
import { Fields } from './fields.js'
import { Sidebar } from './sidebar.js'
import { Stage } from './stage.js'

/** @typedef {import('../app.js').App} App */

const narrow = matchMedia('(max-width: 760px)')

export class Shell {
  #app
  #root
  #fields
  /** @type {Sidebar} */
  #sidebar
  /** @type {Stage} */
  #stage
  #toasts = h('div', { class: 'toasts', role: 'status' })
  #said = h('p', { class: 'sr', role: 'status' })
  #scrim = h('div', { class: 'scrim', onclick: () => this.#drawer(false) })
  #drawerOpen = false
  #toastIds = ''
  #saveSaid = ''
  #running = ''

  /** @param {App} app @param {HTMLElement} root */
  constructor(app, root) {
    this.#app = app
    this.#root = root
    this.#fields = new Fields(app)
    const built = this.#build()
    this.#sidebar = built.sidebar
    this.#stage = built.stage
    app.render = () => this.update()
    app.rebuild = () => {
      const { sidebar, stage } = this.#build()
      this.#sidebar = sidebar
      this.#stage = stage
      this.#fields.relabel()
      this.update()
      document.getElementById('language')?.focus()
    }
    app.showText = draftId => this.#fields.show(draftId)
    app.moveField = (oldId, newId) => this.#fields.rename(oldId, newId)
    app.atField = () => document.hasFocus() && this.#stage.field !== undefined && document.activeElement === this.#stage.field
    app.focusMain = () => {
      this.#drawer(false)
      if (!this.#stage.focus()) this.#stage.focusNew()
    }
    app.announce = text => setText(this.#said, text)
    app.actions.focusRow = key => this.#sidebar.tree.focus(key)
    addEventListener('keydown', event => this.#key(event))
    narrow.addEventListener('change', () => this.#drawer(false))
  }

  #build() {
    const app = this.#app
    document.documentElement.lang = app.language === 'zh' ? 'zh-CN' : 'en'
    const sidebar = new Sidebar(app)
    const stage = new Stage(app, this.#fields, { openDrawer: () => this.#drawer(true), entries: () => this.#sidebar.tree.entries })
    this.#root.replaceChildren(sidebar.element, this.#scrim, stage.element, this.#toasts, this.#said)
    this.#toastIds = ''
    return { sidebar, stage }
  }

  update() {
    const had = document.activeElement !== document.body
    this.#sidebar.update()
    this.#stage.update()
    this.#showToasts()
    this.#say()
    this.#inert()
    attribute(this.#root, 'data-connection', this.#app.connection)
    // What had the keyboard is gone or hidden: it goes to the text, never to nothing.
    const active = document.activeElement
    if (had && (!active || active === document.body || !active.checkVisibility())) this.#app.focusMain()
  }

  /** What only a screen reader tells: a save that fails, and that it is well again; the end of a turn. */
  #say() {
    const { desk: { shown }, session, selection, t } = this.#app
    const state = shown?.state
    const failed = state?.save === 'not_saved' ? t('save.because', { reason: this.#app.reason(state.code, state.message) }) : ''
    if (failed !== this.#saveSaid) {
      if (failed !== '') this.#app.announce(failed)
      else if (state?.save === 'saved') this.#app.announce(t('save.saved'))
      if (failed !== '' || state?.save !== 'saving') this.#saveSaid = failed
    }
    const running = selection.kind === 'session' && session?.running ? session.id : ''
    if (running === this.#running) return
    if (this.#running !== '' && running === '' && session?.id === this.#running) this.#app.announce(t('answered'))
    this.#running = running
  }

  #showToasts() {
    const { toasts, t } = this.#app
    const ids = toasts.map(({ id }) => id).join()
    if (ids === this.#toastIds) return
    this.#toastIds = ids
    const had = focusIn(this.#toasts)
    this.#toasts.replaceChildren(...toasts.map(({ id, text, level, kind, action }) => h('div', { class: `toast ${level}`, 'data-kind': kind }, h('p', {}, text),
      action && h('button', { type: 'button', class: 'button', onclick: action.run }, action.label),
      h('button', { type: 'button', class: 'icon-button', 'aria-label': t('dismiss'), onclick: () => this.#app.endToast(id) }, icon('cross')))))
    if (had) this.#app.focusMain()
  }

  // ---- narrow screens ----

  /** @param {boolean} open */
  #drawer(open) {
    const wanted = open && narrow.matches
    if (wanted === this.#drawerOpen) return
    this.#drawerOpen = wanted
    attribute(this.#root, 'data-drawer', wanted)
    this.#inert()
    if (wanted) {
      const { tree } = this.#sidebar
      if (tree.active !== '') tree.focus(tree.active)
      else /** @type {HTMLElement | null} */ (this.#sidebar.element.querySelector('button'))?.focus()
    } else if (document.activeElement === document.body || focusIn(this.#sidebar.element)) {
      /** @type {HTMLElement | null} */ (this.#stage.element.querySelector('.drawer-button'))?.focus()
    }
  }

  /** What is behind something cannot be reached. */
  #inert() {
    this.#stage.element.inert = this.#drawerOpen
    this.#sidebar.element.inert = narrow.matches && !this.#drawerOpen
  }

  // ---- keys ----

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.isComposing || event.keyCode === 229 || event.defaultPrevented) return
    const command = event.ctrlKey !== event.metaKey && (event.ctrlKey || event.metaKey)
    const modal = document.querySelector('dialog[open]') !== null
    if (event.code === 'KeyN' && event.shiftKey && !event.repeat && (command !== event.altKey) && !modal) {
      event.preventDefault()
      this.#app.actions.newDraft()
    } else if (event.code === 'KeyK' && command && !event.shiftKey && !event.altKey && !modal) {
      event.preventDefault()
      this.#drawer(true)
      this.#sidebar.focusSearch()
    } else if (event.key === 'Escape' && this.#drawerOpen && !modal) {
      event.preventDefault()
      this.#drawer(false)
    } else if (event.key === 'F6') {
      event.preventDefault()
      const { tree } = this.#sidebar
      if (focusIn(this.#sidebar.element)) this.#app.focusMain()
      else {
        this.#drawer(true)
        tree.focus(tree.active)
      }
    }
  }
}
