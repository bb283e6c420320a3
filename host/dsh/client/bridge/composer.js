/** One session's stock composer: what it holds, when it changes, and writing into it. */
import { same } from '../../../page/content.js'
import { occurrencesOf, project } from './projection.js'

/**
 * @typedef {import('../dsh.js').Context} Context
 * @typedef {import('../dsh.js').ComposerInput} ComposerInput
 * @typedef {import('../dsh.js').Conversation} Conversation
 * @typedef {import('../dsh.js').ComposerPhase} ComposerPhase
 * @typedef {import('./projection.js').Projection} Projection
 * @typedef {Projection & { raw: string, phase: ComposerPhase, images: number }} ComposerView
 */

/**
 * The face of the composer that belongs to a session, or undefined where DSH has none
 * (the session is not in the page's list) or one of another shape than expected.
 * @param {Pick<Context, 'sessions' | 'get'>} ctx
 * @param {string} sessionId
 * @returns {Composer | undefined}
 */
export function composerOf(ctx, sessionId) {
  const scope = ctx.sessions.scope(sessionId)
  const input = scope && conversationOf(ctx)?.input.for(scope)
  const state = input?.state?.getSnapshot()
  const expected = typeof state?.draft === 'string' && Array.isArray(state.occurrences)
    && typeof state.phase === 'string' && typeof input?.setDraft === 'function'
  return expected && input ? new Composer(input) : undefined
}

/** DSH brings the service later than the rest. @param {Pick<Context, 'get'>} ctx @returns {Conversation | undefined} */
function conversationOf(ctx) {
  return ctx.get('conversation')
}

export class Composer {
  #input
  /** The same state is projected once, however often it is asked for. */
  #cache = /** @type {{ state: object, view: ComposerView } | undefined} */ (undefined)

  /** @param {ComposerInput} input */
  constructor(input) {
    this.#input = input
  }

  /** @returns {ComposerView} */
  read() {
    const state = this.#input.state.getSnapshot()
    if (this.#cache?.state !== state) {
      const known = this.#cache?.view
      // The state also changes for the queue and for images: the text is compared first.
      const projection = known && known.raw === state.draft && known.contentJson === '' && state.occurrences.length === 0
        ? known
        : project(state)
      this.#cache = {
        state,
        view: {
          text: projection.text, contentJson: projection.contentJson,
          raw: state.draft, phase: state.phase, images: state.imageIds?.length ?? 0,
        },
      }
    }
    return this.#cache.view
  }

  /** @param {() => void} listener */
  subscribe(listener) {
    return this.#input.state.subscribe(listener)
  }

  /**
   * Make the composer hold text, with its references as chips where DSH takes them
   * and as plain text where not. Only in phase `plain`: DSH itself does not check.
   * @param {Projection} wanted
   * @returns {boolean} whether it holds the text now
   */
  write(wanted) {
    if (this.read().phase !== 'plain') return false
    if (same(this.read(), wanted)) return true
    this.#input.setDraft(wanted.text)
    // From the end, so that the offsets of those before stay right.
    for (const occurrence of occurrencesOf(wanted.text, wanted.contentJson).reverse()) this.#insert(occurrence)
    if (this.read().text !== wanted.text) this.#input.setDraft(wanted.text)
    return this.read().text === wanted.text
  }

  /** @param {import('../dsh.js').Occurrence} occurrence */
  #insert({ source, ref, label, appearance, clipboardText, offset, length }) {
    const before = this.#input.state.getSnapshot()
    const tail = before.draft.slice(offset + length)
    const reference = { source, ref, label, clipboardText, ...(appearance === undefined ? {} : { appearance }) }
    if (!this.#input.insertReference?.(reference, { start: offset, end: offset + length, draftRev: before.draftRev })) return
    const { draft } = this.#input.state.getSnapshot()
    const gap = draft.length - tail.length
    // DSH puts a space behind a chip; one that was not in the saved text goes again.
    if (!tail.startsWith(' ') && draft.endsWith(` ${tail}`)) this.#input.setDraft(draft.slice(0, gap - 1) + tail)
  }
}
