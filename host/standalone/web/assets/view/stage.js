/** The right side: what is selected, with its text or transcript. */
import { h, icon, attribute, setText } from './dom.js'
import { openDialog } from './dialog.js'
import { Fields } from './fields.js'
import { entryItems } from './items.js'
import { openMenu } from './menu.js'
import { Toolbar } from './toolbar.js'

/** @typedef {import('../app.js').App} App */

export class Stage {
  element

  #app
  #fields
  /** Fetched when a session is shown for the first time. @type {import('./log.js').Log | undefined} */
  #log
  #toolbar
  #entries
  #title = h('h1')
  #where = h('p', { class: 'where' })
  #menu
  #notes = h('div', { class: 'notes' })
  #body = h('div', { class: 'stage-body' })
  #dock = h('div', { class: 'dock' })
  #slot = h('div', { class: 'slot' })
  #signature = ''
  /** @type {HTMLTextAreaElement | undefined} */
  #field
  #welcome

  /**
   * @param {App} app
   * @param {Fields} fields
   * @param {{ openDrawer: () => void, entries: () => readonly import('../entries.js').Entry[] }} how
   */
  constructor(app, fields, { openDrawer, entries }) {
    this.#app = app
    this.#fields = fields
    this.#entries = entries
    const { t } = app
    this.#toolbar = new Toolbar(app, () => this.send())
    this.#menu = h('button', { type: 'button', class: 'icon-button', 'aria-haspopup': 'menu', onclick: () => this.#openMenu() }, icon('more'))
    this.#welcome = this.#makeWelcome()
    this.#dock.append(this.#slot, this.#toolbar.element)
    this.element = h('main', { class: 'stage' },
      h('header', { class: 'bar' },
        h('button', { type: 'button', class: 'icon-button drawer-button', 'aria-label': t('sidebar.open'), title: t('sidebar.open'), onclick: openDrawer }, icon('menu')),
        h('div', { class: 'titles' }, this.#title, this.#where), this.#menu),
      this.#notes, this.#body, this.#dock)
    fields.send = () => this.send()
  }

  #makeWelcome() {
    const { t } = this.#app
    return {
      new: h('button', { type: 'button', class: 'button main', onclick: () => this.#app.actions.newDraft() }, icon('pen'), t('new')),
      add: h('button', { type: 'button', class: 'button', onclick: () => { openDialog('folder', this.#app) } }, icon('folder'), t('menu.add')),
      text: h('p', {}),
    }
  }

  /** The text field on screen. */
  get field() {
    return this.#field
  }

  /** The keyboard goes to the text. @returns {boolean} whether there is one */
  focus() {
    if (!this.#field?.isConnected) return false
    this.#field.focus({ preventScroll: true })
    return true
  }

  focusNew() {
    const button = this.#welcome.new.hidden ? this.#welcome.add : this.#welcome.new
    if (button.isConnected) button.focus()
  }

  send() {
    const app = this.#app
    const { stop, busy, empty } = this.#toolbar.state
    if (busy || empty) return
    const { selection } = app
    if (selection.kind === 'draft') void app.actions.sendDraft()
    if (selection.kind !== 'session') return
    if (stop) return void app.actions.stop(selection.id)
    const text = app.replies.read(selection.id).toWellFormed()
    void app.actions.prompt(selection.id, text).then(done => {
      if (!done || app.replies.read(selection.id).toWellFormed() !== text) return
      app.replies.write(selection.id, '')
      this.#fields.reply(selection.id).value = ''
      app.changed()
    })
  }

  update() {
    this.#place()
    this.#titles()
    this.#showNotes()
    const { selection } = this.#app
    if (selection.kind !== 'none') this.#toolbar.update()
    if (selection.kind === 'session') this.#log?.update()
    if (selection.kind === 'draft' && this.#field) {
      const shown = this.#app.desk.shown
      this.#field.readOnly = shown ? !shown.writable : false
    }
  }

  /** Put the parts of what is selected into the page. */
  #place() {
    const { selection, loaded, language, model: { state: { workspaces } }, t } = this.#app
    const signature = JSON.stringify([selection, loaded, language, this.#log !== undefined, selection.kind === 'none' && workspaces.length === 0])
    if (signature === this.#signature) return
    this.#signature = signature
    attribute(this.element, 'data-kind', selection.kind)
    this.#dock.hidden = selection.kind === 'none'
    if (selection.kind === 'none') {
      this.#field = undefined
      const { new: make, add, text } = this.#welcome
      make.hidden = workspaces.length === 0
      setText(text, workspaces.length === 0 ? t('welcome.noFolder') : t('welcome.text'))
      this.#body.replaceChildren(...loaded ? [h('div', { class: 'welcome' }, h('h2', {}, t('welcome')), text, h('div', { class: 'actions' }, make, add))] : [])
    } else if (selection.kind === 'draft') {
      this.#field = this.#fields.draft(selection.id)
      this.#slot.replaceChildren()
      // Taken out and put in again it would lose the keyboard.
      if (this.#body.firstChild !== this.#field) this.#body.replaceChildren(this.#field)
    } else {
      this.#field = this.#fields.reply(selection.id)
      if (this.#slot.firstChild !== this.#field) this.#slot.replaceChildren(this.#field)
      this.#body.replaceChildren(...this.#log ? [this.#log.element] : [])
      if (!this.#log) void this.#fetchLog()
    }
  }

  async #fetchLog() {
    try {
      const { Log } = await import('./log.js')
      this.#log ??= new Log(this.#app)
      this.#app.changed()
    } catch {
      this.#signature = ''
      this.#app.fail({ code: 'UNREACHABLE' })
    }
  }

  #titles() {
    const app = this.#app
    const { selection, t } = app
    this.#menu.hidden = selection.kind === 'none'
    let title = ''
    let where = ''
    if (selection.kind === 'draft') {
      const row = app.row(selection.id)
      title = row?.title || t('empty')
      where = this.#workspace(row?.workspaceId ?? app.desk.shown?.workspaceId ?? '', row?.workspacePath ?? '')
    } else if (selection.kind === 'session') {
      title = app.session?.title || (app.session ? t('untitled') : t('loading'))
      where = this.#workspace(app.session?.workspaceId ?? '', app.session?.workspacePath ?? '')
    }
    setText(this.#title, title)
    setText(this.#where, where === '' ? '' : `${where} · ${t(selection.kind === 'draft' ? 'draft' : 'session')}`)
    attribute(this.#menu, 'aria-label', t('menu', { title }))
    const page = selection.kind === 'none' ? t('app') : `${title} – ${t('app')}`
    if (document.title !== page) document.title = page
  }

  /** @param {string} id @param {string} path */
  #workspace(id, path) {
    return this.#app.model.state.workspaces.find(one => one.id === id)?.name ?? path.split('/').at(-1) ?? ''
  }

  #openMenu() {
    const { selection } = this.#app
    if (selection.kind === 'none') return
    const key = `${selection.kind === 'draft' ? 'd' : 's'}:${selection.id}`
    const entries = this.#entries()
    const entry = entries.find(one => one.key === key) ?? this.#loose()
    if (!entry) return
    const { label, items } = entryItems(this.#app, entry, { entries })
    openMenu(this.#menu, label, items, () => this.#menu.focus())
  }

  /** What is on screen may be folded away in the list. @returns {import('../entries.js').Entry | undefined} */
  #loose() {
    const { selection, session } = this.#app
    const row = selection.kind === 'draft' ? this.#app.row(selection.id) : undefined
    if (row) return { kind: 'draft', key: '', row, workspaceId: row.workspaceId, level: 2, at: 1, of: 1 }
    return session && selection.kind === 'session' ? { kind: 'session', key: '', session, workspaceId: session.workspaceId, level: 2, at: 1, of: 1 } : undefined
  }

  // ---- what the person should know ----

  #showNotes() {
    const { element, signature } = this.#wantedNotes()
    if (this.#notes.dataset.signature === signature) return
    this.#notes.dataset.signature = signature
    const had = this.#notes.contains(document.activeElement)
    this.#notes.replaceChildren(...element())
    if (had && document.activeElement === document.body) this.#app.focusMain()
  }

  #wantedNotes() {
    const app = this.#app
    const { t, connection, selection, model: { state } } = app
    /** @type {{ kind: string, text: string, level?: string, actions?: { label: string, run: () => void }[] }[]} */
    const notes = []
    if (connection === 'lost') notes.push({ kind: 'unreachable', text: t('lost'), level: 'warn', actions: [{ label: t('retry'), run: () => app.events?.retry() }] })
    else if (connection === 'unauthorized') notes.push({ kind: 'unauthorized', text: t('unauthorized'), level: 'warn' })
    else if (app.loaded && app.trouble === 'stock') notes.push({ kind: 'stock', text: t('stock', { why: state.plugin.message }), level: 'warn' })
    else if (app.loaded && app.trouble === 'starting') notes.push({ kind: 'paused', text: t('paused'), level: 'warn' })
    else if (app.trouble === 'storage') notes.push({ kind: state.sidebar?.storage?.code ?? '', text: t('storage', { why: app.reason(state.sidebar?.storage?.code ?? '', state.sidebar?.storage?.message) }), level: 'warn' })
    if (app.session?.damaged && selection.kind === 'session') notes.push({ kind: 'damaged', text: t('damaged'), level: 'warn' })
    const editor = selection.kind === 'draft' ? app.desk.shown?.state : undefined
    const conflicts = selection.kind === 'draft' ? app.row(selection.id)?.conflicts ?? 0 : 0
    const versions = { label: t('elsewhere.versions'), run: () => { if (selection.kind === 'draft') openDialog('conflicts', app, selection.id) } }
    if (editor?.elsewhere || (editor?.conflictId ?? '') !== '') {
      const { elsewhere = false, conflictId = '', replaced = false } = editor ?? {}
      const kept = conflictId !== ''
      notes.push({
        kind: kept ? 'conflict' : 'elsewhere',
        text: [t(replaced ? 'elsewhere.replaced' : 'elsewhere'), ...kept ? [t(elsewhere ? 'elsewhere.kept' : 'elsewhere.shown')] : []].join(' '),
        actions: [
          ...elsewhere ? [{ label: t('elsewhere.show'), run: () => { void app.actions.showElsewhere() } }] : [],
          { label: t(elsewhere ? 'elsewhere.mine' : 'elsewhere.back'), run: () => { void app.actions.keepMine() } },
          ...conflicts > 0 ? [versions] : [],
          ...elsewhere ? [] : [{ label: t('dismiss'), run: () => app.actions.dismissElsewhere() }],
        ],
      })
    } else if (conflicts > 0) {
      notes.push({ kind: 'conflicts', text: conflicts === 1 ? t('conflicts.one') : t('conflicts.many', { n: conflicts }), actions: [versions] })
    }
    for (const { id, kind, title } of state.sidebar?.notices ?? []) {
      notes.push({ kind, text: t(`notice.${kind}`, { title: title || t('empty') }), actions: [{ label: t('dismiss'), run: () => { void app.actions.dismiss(id) } }] })
    }
    return {
      signature: JSON.stringify(notes),
      element: () => notes.map(({ kind, text, level, actions = [] }) => h('div', { class: `note ${level ?? ''}`, 'data-kind': kind }, h('p', {}, text),
        ...actions.map(({ label, run }) => h('button', { type: 'button', class: 'button', onclick: run }, label)))),
    }
  }
}
