/** One item of the transcript: a message, a thought, a tool call, a plan, a permission request, a remark. */
import { h, icon, rendered } from './dom.js'

/**
 * @typedef {import('../app.js').App} App
 * @typedef {import('../transcript.js').Item} Item
 * @typedef {{ open: boolean, sessionId: string, prompt: () => string | undefined }} How open: the request still waits for an answer
 */

/** @param {string} html */
export function body(html) {
  const element = h('div', { class: 'prose' })
  rendered(element, html)
  return element
}

/** @param {App} app @param {Item} item @param {How} how @returns {HTMLElement} */
export function draw(app, item, how) {
  const { data, type } = item
  const { t } = app
  switch (type) {
    case 'user':
      return h('div', { class: 'item item-user' }, h('h2', { class: 'sr' }, t('you')), h('div', { class: 'words' }, data.text))
    case 'assistant':
      return h('div', { class: 'item item-assistant' }, h('h2', { class: 'sr' }, agentTitle(app)), body(data.html),
        data.partial && h('p', { class: 'aside' }, t('end.partial')))
    case 'thought':
      return h('div', { class: 'item item-thought' }, fold('bulb', t('thought'), '', body(data.html)))
    case 'tool': return tool(app, data)
    case 'plan': return plan(app, data)
    case 'permission': return permission(app, item, how)
    case 'notice':
      return h('div', { class: 'item item-notice' }, icon('warn'), h('p', {}, data.message || data.code))
    case 'end': return end(app, data, how)
  }
}

/** @param {App} app */
function agentTitle({ session, model: { state: { agents } }, t }) {
  return agents.find(({ id }) => id === session?.agent)?.title ?? t('pick.preset')
}

/** @param {import('./dom.js').IconName} name @param {string} title @param {string} state @param {...import('./dom.js').Child} children */
function fold(name, title, state, ...children) {
  return h('details', { class: 'fold' },
    h('summary', {}, icon(name), h('span', { class: 'fold-title' }, title), h('span', { class: 'fold-state' }, state), icon('fold')), ...children)
}

/** @param {App} app @param {any} data */
function tool({ t }, { title, kind, status, content = [], locations = [], input = '' }) {
  const parts = content.map((/** @type {any} */ part) => {
    if (part.type === 'diff') return diff(part)
    if (part.type === 'terminal' || !part.html) return h('pre', { tabindex: '0' }, part.text ?? '')
    return body(part.html)
  })
  const places = locations.length > 0 && h('p', { class: 'aside' },
    locations.map((/** @type {any} */ { path, line }) => line ? `${path}:${line}` : path).join(', '))
  const details = fold('tool', title || kind, t(`tool.${status}`), places, ...parts,
    input !== '' && input !== '{}' && h('div', {}, h('p', { class: 'aside' }, t('tool.input')), h('pre', { tabindex: '0' }, input)))
  return h('div', { class: 'item item-tool', 'data-status': status }, details)
}

/** @param {{ path?: string, oldText?: string, newText?: string }} part */
function diff({ path = '', oldText = '', newText = '' }) {
  const lines = (/** @type {string} */ text) => text === '' ? [] : text.replace(/\n$/, '').split('\n')
  const before = lines(oldText)
  const after = lines(newText)
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head++
  let tail = 0
  while (tail < before.length - head && tail < after.length - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++
  const shown = [
    ...before.slice(Math.max(0, head - 2), head).map(line => h('span', {}, `  ${line}\n`)),
    ...before.slice(head, before.length - tail).map(line => h('del', {}, `- ${line}\n`)),
    ...after.slice(head, after.length - tail).map(line => h('ins', {}, `+ ${line}\n`)),
    ...after.slice(after.length - tail, after.length - tail + 2).map(line => h('span', {}, `  ${line}\n`)),
  ]
  return h('figure', { class: 'diff' }, h('figcaption', {}, path), h('pre', { tabindex: '0' }, ...shown))
}

/** @param {App} app @param {any} data */
function plan({ t }, { entries = [] }) {
  const done = entries.filter((/** @type {any} */ { status }) => status === 'completed').length
  return h('section', { class: 'item item-plan', 'aria-label': t('plan') },
    h('p', { class: 'card-title' }, icon('list'), t('plan'), h('span', { class: 'fold-state' }, `${done}/${entries.length}`)),
    h('ul', {}, ...entries.map((/** @type {any} */ { text, status }) => h('li', { 'data-status': status },
      h('span', { class: 'tick' }, status === 'completed' && icon('check')), h('span', { class: 'sr' }, `${t(`plan.${status}`)}: `), h('span', {}, text)))))
}

/** @param {App} app @param {Item} item @param {How} how */
function permission(app, { data, answer }, { open, sessionId }) {
  const { t } = app
  const title = h('p', { class: 'card-title' }, icon('shield'), open ? t('permission.ask') : '', !open && h('span', {}, outcome(app, answer)))
  if (!open) {
    return h('div', { class: 'item item-permission' }, title, data.title && h('p', { class: 'aside' }, data.title))
  }
  const card = h('section', { class: 'item item-permission open', 'aria-label': t('permission.ask') }, title, h('p', {}, data.title),
    h('div', { class: 'actions' }, ...data.options.map((/** @type {any} */ { id, name, kind }) => h('button', {
      type: 'button', class: String(kind).startsWith('allow_once') ? 'button main' : 'button',
      onclick: () => { void app.actions.answer(sessionId, data.requestId, id) },
    }, name))))
  return card
}

/** @param {App} app @param {any} answer */
function outcome({ t }, answer) {
  if (!answer || answer.cancelled) return t('permission.cancelled')
  return t(answer.by === 'preset' ? 'permission.preset' : 'permission.answered', { option: answer.optionName || answer.optionId })
}

/** @param {App} app @param {any} data @param {How} how */
function end(app, { outcome: how, code, message }, { sessionId, prompt }) {
  const { t } = app
  if (how === 'completed') return h('div', { class: 'item item-end' }, h('p', {}, message))
  const why = app.reason(code ?? '', message ?? '')
  const text = how === 'failed' ? t('end.failed', { why }) : t(`end.${how}`)
  const again = (how === 'unknown' || how === 'failed') && h('button', {
    type: 'button', class: 'button', onclick: () => { void app.actions.prompt(sessionId, prompt() ?? '') },
  }, t('end.again'))
  return h('div', { class: 'item item-end', 'data-outcome': how }, h('p', {}, how !== 'cancelled' && icon('warn'), text), again)
}
