/** Stand-ins for what surrounds the bridge: DSH's composer and the plugin, as far as the page sees them. */
import { createHash } from 'node:crypto'
import { Bases } from '../bridge/base.js'
import { Composer } from '../bridge/composer.js'
import { Editor } from '../bridge/editor.js'
import { RemoteError } from '../remote.js'

/**
 * @typedef {import('../dsh.js').ComposerState} ComposerState
 * @typedef {import('../dsh.js').Occurrence} Occurrence
 */

/** @param {string} text */
export const hashOf = text => createHash('sha256').update(text).digest('hex')

/** A composer that behaves as DSH's: chips with a space behind them, edits that shift or break them. */
export class StandInput {
  /** @type {ComposerState} */
  #state = { draft: '', imageIds: [], draftRev: 0, phase: 'plain', occurrences: [] }
  /** @type {Set<() => void>} */
  #listeners = new Set()
  writes = 0
  takesChips = true

  state = {
    getSnapshot: () => this.#state,
    subscribe: (/** @type {() => void} */ listener) => {
      this.#listeners.add(listener)
      return () => { this.#listeners.delete(listener) }
    },
  }

  /** @param {Partial<ComposerState>} change */
  set(change) {
    this.#state = { ...this.#state, ...change, draftRev: this.#state.draftRev + 1 }
    for (const listener of [...this.#listeners]) listener()
  }

  /** @param {string} draft */
  setDraft(draft) {
    const old = this.#state.draft
    if (draft === old) return
    this.writes++
    let start = 0
    while (start < Math.min(old.length, draft.length) && old[start] === draft[start]) start++
    let tail = 0
    while (tail < Math.min(old.length, draft.length) - start && old[old.length - 1 - tail] === draft[draft.length - 1 - tail]) tail++
    this.set({ draft, occurrences: this.#shifted(start, old.length - tail, draft.length - old.length) })
  }

  /** @param {number} start @param {number} end @param {number} delta @returns {Occurrence[]} */
  #shifted(start, end, delta) {
    return this.#state.occurrences.flatMap(occurrence => {
      if (occurrence.offset + occurrence.length <= start) return [occurrence]
      return occurrence.offset >= end ? [{ ...occurrence, offset: occurrence.offset + delta }] : []
    })
  }

  /** @param {Omit<Occurrence, 'offset' | 'length'>} reference @param {{ start: number, end: number, draftRev: number }} span */
  insertReference(reference, { start, end, draftRev }) {
    const { draft } = this.#state
    if (!this.takesChips || draftRev !== this.#state.draftRev) return false
    const shown = `@${reference.label}`
    const gap = draft[end] === ' ' ? '' : ' '
    const kept = this.#shifted(start, end, shown.length + gap.length - (end - start))
    const occurrences = [...kept, { ...reference, offset: start, length: shown.length }].sort((a, b) => a.offset - b.offset)
    this.set({ draft: draft.slice(0, start) + shown + gap + draft.slice(end), occurrences })
    return true
  }
}

/** One draft in the plugin, for any number of editors; what it is told to is slow or fails. */
export class StandPlugin {
  record = { text: '', contentJson: '', textRevision: 1 }
  epoch = 'epoch-1'
  generation = 0
  /** @type {{ id: string }[]} */
  conflicts = []
  /** @type {{ method: string, request: any }[]} */
  calls = []
  /** Called before each answer; what it throws is the answer. @type {(method: string, request: any) => void | Promise<void>} */
  before = () => {}
  /** @type {(request: any) => { show: string, conflictId: string }} */
  decide = request => request.hostText !== undefined && request.hostText !== this.record.text && this.record.text === ''
    ? { show: 'host', conflictId: '' }
    : { show: 'record', conflictId: '' }

  get draft() {
    return { id: 'draft', sessionId: 'session', ...this.record, textHash: hashOf(this.record.text), revision: this.record.textRevision, conflicts: this.conflicts }
  }

  /** @param {string} text */
  change(text) {
    this.record = { text, contentJson: '', textRevision: this.record.textRevision + 1 }
    const { textRevision } = this.record
    return { draftId: 'draft', editorId: '', textRevision, text, contentJson: '', textHash: hashOf(text), replaced: false }
  }

  /** The word that an edit is on disk. @param {any} edit @param {object} [more] */
  save(edit, more) {
    if (edit.text !== this.record.text) this.change(edit.text)
    const { textRevision, text } = this.record
    return {
      draftId: 'draft', editorId: edit.editorId, generation: edit.generation, seq: edit.seq, revision: textRevision,
      textRevision, textHash: hashOf(text), conflictId: '', newDraftId: '', ...more,
    }
  }

  get edits() {
    return this.calls.filter(({ method }) => method === 'edit').map(({ request }) => request)
  }

  /** @type {any} */
  call = async (/** @type {string} */ method, /** @type {any} */ request) => {
    this.calls.push({ method, request })
    await this.before(method, request)
    switch (method) {
      case 'openEditor': return { epoch: this.epoch, generation: ++this.generation, draft: this.draft, ...this.decide(request) }
      case 'edit':
        if (request.epoch !== this.epoch || request.generation !== this.generation) throw new RemoteError('OPERATION_UNKNOWN', 'open it again')
        return { acceptedSeq: request.seq }
      default: return this.draft
    }
  }
}

/** @returns {Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>} */
export function standStorage() {
  /** @type {Map<string, string>} */
  const held = new Map()
  return {
    getItem: key => held.get(key) ?? null,
    setItem: (key, value) => { held.set(key, value) },
    removeItem: key => { held.delete(key) },
  }
}

/** An editor on a stand-in composer and plugin. @param {{ plugin?: StandPlugin, text?: string, storage?: ReturnType<typeof standStorage>, editorId?: string, unseen?: boolean }} [options] */
export function standEditor({ plugin = new StandPlugin(), text = '', storage = standStorage(), editorId = 'editor', unseen = false } = {}) {
  const input = new StandInput()
  if (text !== '') input.setDraft(text)
  input.writes = 0
  const world = {
    edited: false, composing: false,
    standing: /** @type {'blank' | 'converting' | 'started'} */ ('blank'),
    picked: /** @type {string | undefined} */ (undefined),
    moved: /** @type {any[]} */ ([]), became: /** @type {string[]} */ ([]), gone: 0,
  }
  const bases = new Bases(storage, standStorage())
  const editor = new Editor({
    call: plugin.call, bases, editorId, unseen,
    engaged: () => world.edited || world.composing,
    composing: () => world.composing,
    editedWithin: () => world.edited,
    changed: () => {},
    pickedTarget: () => world.picked,
    moved: (_, held, target) => { world.moved.push({ held, target }) },
    becameDraft: (_, id) => { world.became.push(id) },
    gone: () => { world.gone++ },
    standing: () => world.standing,
  }, new Composer(input), 'draft', 'session')
  /** A person writes. @param {string} draft */
  const type = draft => {
    world.edited = true
    input.setDraft(draft)
  }
  return { editor, input, plugin, world, bases, type }
}

/** Let every answer that is ready arrive. */
export async function answers() {
  for (let i = 0; i < 30; i++) await Promise.resolve()
}
