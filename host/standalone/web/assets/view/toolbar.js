/** What stands under the text: the agent, model and permission of its session, whether it is saved, and Send. */
import { attribute, h, icon, setText } from './dom.js'

/** @typedef {import('../app.js').App} App */

export class Toolbar {
  #app
  #preset
  #model
  #permission
  #save
  #saveText = h('span')
  #send
  #element
  #options = ''
  #sendIcon = ''

  /** @param {App} app @param {() => void} send */
  constructor(app, send) {
    this.#app = app
    const { t } = app
    this.#preset = picker(t('pick.preset'), value => this.#change({ agentPresetId: value }))
    this.#model = picker(t('pick.model'), value => this.#change({ model: value }))
    this.#permission = picker(t('pick.permission'), value => this.#change({ permission: value }))
    this.#save = h('p', { class: 'save' }, this.#saveText)
    this.#send = h('button', { type: 'button', class: 'send', onclick: send })
    this.#element = h('div', { class: 'toolbar' },
      h('div', { class: 'pickers' }, this.#preset.element, this.#model.element, this.#permission.element),
      h('div', { class: 'toolbar-end' }, this.#save, this.#send))
  }

  get element() {
    return this.#element
  }

  /** @param {{ agentPresetId?: string, model?: string, permission?: string }} change */
  #change(change) {
    const { session } = this.#app
    if (session) void this.#app.actions.change(session.id, change).then(() => this.update())
  }

  update() {
    this.#pickers()
    this.#saved()
    this.#sending()
  }

  #pickers() {
    const { session, model: { state: { agents } }, t, language } = this.#app
    for (const { element } of [this.#preset, this.#model, this.#permission]) element.hidden = session === undefined
    if (!session) return
    const { agentPresetId, model, permission, blank, running } = session
    const signature = JSON.stringify([agents, session.agent, blank, language])
    if (signature !== this.#options) {
      this.#options = signature
      const agent = agents.find(({ id }) => id === session.agent)
      fill(this.#preset.select, agents.filter(({ id }) => blank || id === session.agent).flatMap(({ title, available, presets }) => presets.map(({ id, name }) => {
        const whole = presets.length === 1 ? title : `${title}: ${name}`
        return { id, name: available ? whole : t('pick.off', { name: whole }), off: !available }
      })))
      fill(this.#model.select, agent?.models ?? [])
      fill(this.#permission.select, agent?.permissions ?? [])
    }
    choose(this.#preset.select, agentPresetId)
    choose(this.#model.select, model)
    choose(this.#permission.select, permission)
    for (const { element, select } of [this.#preset, this.#model, this.#permission]) {
      element.hidden = select.options.length === 0
      select.disabled = running || !this.#app.ready
    }
  }

  #saved() {
    const { selection, desk: { shown }, t } = this.#app
    this.#save.hidden = selection.kind !== 'draft' || !shown
    if (!shown || selection.kind !== 'draft') return
    const { save, code, message, retrying } = shown.state
    const off = !this.#app.ready
    const why = this.#app.reason(code, message)
    const text = save === 'not_saved' ? t('save.because', { reason: retrying ? t('why.retrying', { why }) : why })
      : off && shown.dirty ? t('save.local') : t(`save.${save}`)
    attribute(this.#save, 'data-state', off && shown.dirty ? 'not_saved' : save)
    setText(this.#saveText, text)
    attribute(this.#save, 'title', text)
  }

  #sending() {
    const { app, stop, busy, empty } = this.state
    const { t } = app
    const name = stop ? 'stop' : 'send'
    const label = t(stop ? (busy ? 'stopping' : 'stop') : busy ? 'send.busy' : 'send')
    if (this.#sendIcon !== name + label) {
      this.#sendIcon = name + label
      this.#send.replaceChildren(icon(name), h('span', {}, label))
      attribute(this.#send, 'title', stop ? t('stop') : t('send.hint'))
    }
    attribute(this.#send, 'data-stop', stop)
    // Not `disabled`: a button that is pressed keeps the keyboard.
    attribute(this.#send, 'aria-disabled', String(busy || empty))
  }

  /** What the button does now. */
  get state() {
    const app = this.#app
    const { selection, desk: { shown }, actions, session } = app
    if (selection.kind === 'session') {
      const stop = session?.running === true && app.replies.read(selection.id).trim() === ''
      const busy = stop ? actions.stopping.has(selection.id) : actions.sending.has(selection.id)
      return { app, stop, busy, empty: !stop && app.replies.read(selection.id).trim() === '' }
    }
    return { app, stop: false, busy: shown?.sending === true, empty: (shown?.text ?? '').trim() === '' || !app.ready }
  }
}

/** @param {string} label @param {(value: string) => void} change */
function picker(label, change) {
  const select = h('select', { 'aria-label': label, title: label })
  select.addEventListener('change', () => change(select.value))
  return { select, element: h('span', { class: 'picker' }, select, icon('down')) }
}

/** @param {HTMLSelectElement} select @param {readonly { id: string, name: string, off?: boolean }[]} options */
function fill(select, options) {
  select.replaceChildren(...options.map(({ id, name, off }) => h('option', { value: id, disabled: off }, name || id)))
}

/** @param {HTMLSelectElement} select @param {string} value */
function choose(select, value) {
  if (select.value === value) return
  select.value = value
  // A choice that the agent offers no more is still what the session has.
  if (select.value !== value && value !== '') {
    select.append(h('option', { value }, value))
    select.value = value
  }
}
