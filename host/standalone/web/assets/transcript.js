/** A session's log as what is shown of it: one item for each message, thought, tool call, plan and remark. No DOM. */

/**
 * @typedef {import('../types/api.js').LogEvent} LogEvent
 * @typedef {import('../types/api.js').Live} Live
 * @typedef {import('../types/api.js').PermissionRequest} PermissionRequest
 */
/**
 * @typedef {object} Item
 * @property {string} key the same key is the same item
 * @property {number} seq
 * @property {number} at
 * @property {'user' | 'assistant' | 'thought' | 'tool' | 'plan' | 'permission' | 'notice' | 'end'} type
 * @property {any} data
 * @property {any} [answer] of a permission
 */

const silent = new Set(['session/created', 'session/renamed', 'session/settings', 'session/archived', 'session/restored',
  'session/trashed', 'session/untrashed', 'prompt/received', 'prompt/refused', 'agent/state'])

export class Transcript {
  /** In order. @type {Item[]} */
  items = []
  /** What is being written right now. @type {Live | undefined} */
  live
  /** The last event that is in here. */
  lastSeq = 0
  firstSeq = Infinity
  /** There are older events than the first. */
  more = false

  /** @type {Map<string, Item>} */
  #byKey = new Map()

  /** @param {readonly LogEvent[]} events oldest first, older than what is here or newer @param {{ more?: boolean }} [page] */
  add(events, { more } = {}) {
    if (more !== undefined) this.more = more
    const older = events.filter(({ seq }) => seq < this.firstSeq)
    const newer = this.firstSeq === Infinity ? [] : events.filter(({ seq }) => seq > this.lastSeq)
    if (older.length > 0) this.#prepend(older)
    for (const event of newer) this.#append(event)
  }

  /** @param {readonly LogEvent[]} events */
  #prepend(events) {
    const before = this.items
    const known = this.#byKey
    this.items = []
    this.#byKey = new Map()
    const { live, lastSeq } = this
    for (const event of events) this.#append(event)
    this.live = live
    this.lastSeq = Math.max(lastSeq, this.lastSeq)
    this.firstSeq = /** @type {LogEvent} */ (events[0]).seq
    for (const item of before) {
      // A later state of something that began before this page's first event.
      const begun = this.#byKey.get(item.key)
      if (begun) Object.assign(begun, { data: item.data, answer: item.answer ?? begun.answer })
      else this.items.push(item)
    }
    for (const [key, item] of known) if (!this.#byKey.has(key)) this.#byKey.set(key, item)
  }

  /** @param {LogEvent} event */
  #append({ seq, at, type, data }) {
    this.lastSeq = Math.max(this.lastSeq, seq)
    this.firstSeq = Math.min(this.firstSeq, seq)
    if (silent.has(type)) return
    switch (type) {
      case 'user/message':
        return this.#put({ key: `u${seq}`, seq, at, type: 'user', data })
      case 'assistant/message':
        this.#endLive('message')
        return this.#put({ key: `a${seq}`, seq, at, type: 'assistant', data })
      case 'assistant/thought':
        this.#endLive('thought')
        return this.#put({ key: `h${seq}`, seq, at, type: 'thought', data })
      case 'plan':
        return this.#put({ key: `p${data.submissionId}`, seq, at, type: 'plan', data })
      case 'tool/call':
        return this.#put({ key: `t${data.submissionId}/${data.toolCallId}`, seq, at, type: 'tool', data })
      case 'permission/asked':
        return this.#put({ key: `q${data.requestId}`, seq, at, type: 'permission', data })
      case 'permission/answered': {
        const asked = this.#byKey.get(`q${data.requestId}`)
        if (asked) asked.answer = data
        else this.#put({ key: `q${data.requestId}`, seq, at, type: 'permission', data: { ...data, title: '', options: [] }, answer: data })
        return
      }
      case 'notice':
        return this.#put({ key: `n${seq}`, seq, at, type: 'notice', data })
      case 'turn/ended':
        this.live = undefined
        if (data.outcome !== 'completed' || data.message) this.#put({ key: `e${seq}`, seq, at, type: 'end', data })
    }
  }

  /** @param {Item} item a new one, or the next state of one that is there */
  #put(item) {
    const known = this.#byKey.get(item.key)
    if (known) {
      known.data = item.data
      return
    }
    this.#byKey.set(item.key, item)
    this.items.push(item)
  }

  /** @param {Live['kind']} kind */
  #endLive(kind) {
    if (this.live?.kind === kind) this.live = undefined
  }

  /** @param {Live | undefined} live */
  setLive(live) {
    this.live = live
  }

  /** The text of a submission's prompt. @param {string} submissionId @returns {string | undefined} */
  promptOf(submissionId) {
    return this.items.find(({ type, data }) => type === 'user' && data.submissionId === submissionId)?.data.text
  }
}
