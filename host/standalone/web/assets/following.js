/** The session on screen: its log, what is being written, and what its agent asks. */
import { asApiError, get, sessionPath } from './api.js'
import { Transcript } from './transcript.js'

/**
 * @typedef {import('../types/api.js').PermissionRequest} PermissionRequest
 * @typedef {import('../types/api.js').Session} Session
 */
/**
 * @typedef {object} FollowingHost
 * @property {() => void} follow the stream shall follow what is followed now
 * @property {() => void} changed
 * @property {(session: Session) => void} session
 * @property {(code: string, message: string) => void} failed
 */

const page = 200
/** Transcripts of sessions that were left, to be shown at once when they are opened again. */
const maxKept = 8

export class Following {
  sessionId = ''
  transcript = new Transcript()
  /** @type {PermissionRequest[]} */
  requests = []
  loading = false

  #host
  /** @type {Map<string, Transcript>} */
  #kept = new Map()
  #turn = 0

  /** @param {FollowingHost} host */
  constructor(host) {
    this.#host = host
  }

  /** What the stream is asked for. */
  get wanted() {
    return { session: this.loading ? '' : this.sessionId, after: this.transcript.lastSeq }
  }

  /** @param {string} sessionId '' for none */
  async show(sessionId) {
    if (sessionId === this.sessionId) return
    this.sessionId = sessionId
    this.requests = []
    if (sessionId === '') {
      this.#turn++
      this.loading = false
      this.#host.follow()
      return
    }
    this.transcript = this.#kept.get(sessionId) ?? new Transcript()
    this.#kept.delete(sessionId)
    this.#kept.set(sessionId, this.transcript)
    for (const id of this.#kept.keys()) if (this.#kept.size > maxKept) this.#kept.delete(id)
    await this.load()
  }

  /** Take what there is, and follow from there: at first, and after the connection was lost. */
  async load() {
    const { sessionId, transcript } = this
    if (sessionId === '') return
    const turn = ++this.#turn
    this.loading = true
    this.#host.changed()
    try {
      const history = await get(`${sessionPath(sessionId)}?limit=${page}`)
      if (turn !== this.#turn) return
      // Too far behind to be joined: the newest page stands alone, older ones come when asked for.
      const first = history.events[0]?.seq ?? 0
      if (transcript.lastSeq > 0 && first > transcript.lastSeq + 1) {
        this.transcript = new Transcript()
        this.#kept.set(sessionId, this.transcript)
      }
      const fresh = this.transcript.firstSeq === Infinity
      this.transcript.add(history.events, fresh ? { more: history.more } : {})
      this.transcript.setLive(history.live ?? undefined)
      this.requests = history.requests ?? []
      this.#host.session(history.session)
    } catch (error) {
      if (turn !== this.#turn) return
      const { code, message, passing } = asApiError(error)
      if (!passing) this.#host.failed(code, message)
    } finally {
      if (turn === this.#turn) {
        this.loading = false
        this.#host.follow()
        this.#host.changed()
      }
    }
  }

  async earlier() {
    const { sessionId, transcript } = this
    const history = await get(`${sessionPath(sessionId)}?limit=${page}&before=${transcript.firstSeq}`)
    if (transcript !== this.transcript) return
    transcript.add(history.events, { more: history.more })
    this.#host.changed()
  }

  /** @param {string} name @param {any} data */
  onEvent(name, data) {
    if (data.session !== this.sessionId || this.sessionId === '') return
    if (name === 'log') this.transcript.add([data.event])
    else if (name === 'live') this.transcript.setLive(data)
    else if (name === 'permission') this.requests = data.requests
    this.#host.changed()
  }
}
