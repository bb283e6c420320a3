/** The transcript of the session on screen. */
import { attribute, focusIn, h, icon, setText } from './dom.js'
import { body, draw } from './logitems.js'

/**
 * @typedef {import('../app.js').App} App
 * @typedef {import('../transcript.js').Item} Item
 */

/** So near to its end the transcript follows what is written, in pixels. */
const nearPx = 96

export class Log {
  #app
  #list = h('div', { class: 'log-list' })
  #live = h('div', { class: 'item item-assistant live', hidden: true })
  #earlier
  #latest
  #scroller
  #element
  /** @type {Map<string, { element: HTMLElement, data: any, answer: any, open: boolean }>} */
  #items = new Map()
  /** @type {import('../transcript.js').Transcript | undefined} */
  #shown
  #liveHtml = ''
  /** The person reads the end. */
  #atEnd = true

  /** @param {App} app */
  constructor(app) {
    this.#app = app
    const { t } = app
    this.#earlier = h('button', { type: 'button', class: 'button quiet', hidden: true, onclick: () => this.#showEarlier() }, t('earlier'))
    this.#latest = h('button', { type: 'button', class: 'latest', hidden: true, onclick: () => this.#toEnd() }, icon('down'), t('latest'))
    this.#scroller = h('div', { class: 'log', role: 'region', 'aria-label': t('session'), tabindex: '0' },
      h('div', { class: 'log-top' }, this.#earlier), this.#list, this.#live)
    this.#scroller.addEventListener('scroll', () => {
      const { scrollHeight, scrollTop, clientHeight } = this.#scroller
      this.#atEnd = scrollHeight - scrollTop - clientHeight < nearPx
      this.#latest.hidden = this.#atEnd
    }, { passive: true })
    new ResizeObserver(() => { if (this.#atEnd) this.#toEnd() }).observe(this.#list)
    this.#element = h('div', { class: 'log-frame' }, this.#scroller, this.#latest)
  }

  get element() {
    return this.#element
  }

  focus() {
    this.#scroller.focus({ preventScroll: true })
  }

  #toEnd() {
    if (focusIn(this.#latest)) this.focus()
    this.#scroller.scrollTop = this.#scroller.scrollHeight
    this.#atEnd = true
  }

  async #showEarlier() {
    const from = this.#scroller.scrollHeight - this.#scroller.scrollTop
    try {
      await this.#app.following.earlier()
    } catch (error) {
      this.#app.fail(error)
      return
    }
    this.#app.renderNow()
    if (this.#earlier.hidden) this.focus()
    this.#scroller.scrollTop = this.#scroller.scrollHeight - from
  }

  update() {
    const { transcript, requests, sessionId } = this.#app.following
    if (this.#shown !== transcript) {
      this.#shown = transcript
      this.#items.clear()
      this.#list.replaceChildren()
      this.#atEnd = true
    }
    this.#earlier.hidden = !transcript.more
    const asked = new Set(requests.map(({ requestId }) => requestId))
    /** @type {Element | undefined} */
    let previous
    for (const item of transcript.items) {
      const element = this.#item(item, asked, sessionId)
      const next = previous ? previous.nextElementSibling : this.#list.firstElementChild
      if (element !== next) this.#list.insertBefore(element, next)
      previous = element
    }
    this.#writing()
    if (this.#atEnd) this.#scroller.scrollTop = this.#scroller.scrollHeight
  }

  /** @param {Item} item @param {Set<string>} asked @param {string} sessionId */
  #item(item, asked, sessionId) {
    const open = item.type === 'permission' && item.answer === undefined && asked.has(item.data.requestId)
    const known = this.#items.get(item.key)
    if (known && known.data === item.data && known.answer === item.answer && known.open === open) return known.element
    const had = known ? focusIn(known.element) : false
    const element = draw(this.#app, item, { open, sessionId, prompt: () => this.#shown?.promptOf(item.data.submissionId) })
    if (known) {
      // What was unfolded stays unfolded.
      const folds = known.element.querySelectorAll('details')
      element.querySelectorAll('details').forEach((fold, i) => { if (folds[i]) fold.open = folds[i].open })
      known.element.replaceWith(element)
      if (had) this.focus()
    }
    this.#items.set(item.key, { element, data: item.data, answer: item.answer, open })
    return element
  }

  #writing() {
    const { t, following: { transcript: { live }, requests }, session } = this.#app
    const waits = session?.running === true && !live && requests.length === 0
    this.#live.hidden = !live && !waits
    if (this.#live.hidden) {
      this.#liveHtml = ''
      return
    }
    const html = live ? `${live.kind}${live.html}` : 'waits'
    if (html === this.#liveHtml) return
    this.#liveHtml = html
    attribute(this.#live, 'class', `item ${live?.kind === 'thought' ? 'item-thought' : 'item-assistant'} live`)
    if (live) this.#live.replaceChildren(body(live.html))
    else {
      const dots = h('p', { class: 'writing' }, h('span', { class: 'dot busy' }))
      setText(dots.appendChild(h('span')), t('writing'))
      this.#live.replaceChildren(dots)
    }
  }
}
