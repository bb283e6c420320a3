/** Stand-ins for what surrounds an editor: the plugin, and the browser's storage and locks. */
import { createHash } from 'node:crypto'
import { ApiError } from '../assets/api.js'
import { Editor } from '../assets/editor/editor.js'
import { Unsaved } from '../assets/editor/unsaved.js'

/** @param {string} text */
export const hashOf = text => createHash('sha256').update(text).digest('hex')

/** The plugin, for any number of drafts and editors; what it is told to is slow or fails. */
export class StandPlugin {
  /** @type {Map<string, { text: string, textRevision: number, contentJson?: string }>} */
  records = new Map([['draft', { text: '', textRevision: 1 }]])
  epoch = 'epoch-1'
  generation = 0
  /** @type {{ operation: string, request: any }[]} */
  calls = []
  /** Called before each answer; what it throws is the answer. @type {(operation: string, request: any) => void | Promise<void>} */
  before = () => {}
  /** @type {(request: any, text: string) => { show: string, conflictId: string }} */
  decide = (request, text) => request.hostText !== undefined && request.hostText !== text && (text === '' || request.baseHash === hashOf(text))
    ? { show: 'host', conflictId: '' }
    : { show: 'record', conflictId: '' }

  /** @param {string} id */
  draft(id) {
    const record = this.records.get(id)
    if (!record) throw new ApiError('DRAFT_NOT_FOUND', 'gone')
    return { id, sessionId: `session-of-${id}`, ...record, textHash: hashOf(record.text), revision: record.textRevision }
  }

  /** @param {string} text */
  change(text, id = 'draft') {
    this.records.set(id, { text, textRevision: (this.records.get(id)?.textRevision ?? 0) + 1 })
    const { textRevision, textHash } = this.draft(id)
    return { draftId: id, editorId: 'other', textRevision, text, textHash, contentJson: '', replaced: false }
  }

  /** The word that an edit is on disk. @param {any} edit @param {object} [more] */
  save(edit, more) {
    if (edit.text !== this.records.get(edit.draftId)?.text) this.change(edit.text, edit.draftId)
    const { textRevision, textHash } = this.draft(edit.draftId)
    return {
      draftId: edit.draftId, editorId: edit.editorId, generation: edit.generation, seq: edit.seq, revision: textRevision,
      textRevision, textHash, conflictId: '', newDraftId: '', ...more,
    }
  }

  get edits() {
    return this.calls.filter(({ operation }) => operation === 'edit').map(({ request }) => request)
  }

  /** @type {import('../assets/api.js').Call} */
  call = async (operation, request) => {
    const asked = /** @type {any} */ (request)
    this.calls.push({ operation, request: asked })
    await this.before(operation, asked)
    switch (operation) {
      case 'new':
        if (!this.records.has(asked.idempotencyKey)) this.records.set(asked.idempotencyKey, { text: '', textRevision: 1 })
        return this.draft(asked.idempotencyKey)
      case 'open-editor': {
        const draft = this.draft(asked.draftId)
        return { epoch: this.epoch, generation: ++this.generation, draft, ...this.decide(asked, draft.text) }
      }
      case 'edit':
        if (asked.epoch !== this.epoch || asked.generation !== this.generation) throw new ApiError('OPERATION_UNKNOWN', 'open it again')
        return { acceptedSeq: asked.seq }
      case 'get': return this.draft(asked.draftId)
      default: return {}
    }
  }
}

/** A browser's storage. */
export function standStorage() {
  /** @type {Map<string, string>} */
  const held = new Map()
  return {
    getItem: (/** @type {string} */ key) => held.get(key) ?? null,
    setItem: (/** @type {string} */ key, /** @type {string} */ value) => { held.set(key, value) },
    removeItem: (/** @type {string} */ key) => { held.delete(key) },
    key: (/** @type {number} */ index) => [...held.keys()][index] ?? null,
    get length() { return held.size },
  }
}

/** The locks of one browser: a name that is held is not handed out until it is let go. */
export function standLocks() {
  /** @type {Set<string>} */
  const held = new Set()
  return {
    held,
    /** @param {string} name @param {any} options @param {any} [callback] */
    async request(name, options, callback = options) {
      if (held.has(name)) throw new Error('aborted')
      const result = callback()
      if (result instanceof Promise) held.add(name)
      return result
    },
  }
}

/**
 * An editor on a stand-in plugin.
 * @param {{ plugin?: StandPlugin, storage?: ReturnType<typeof standStorage>, locks?: any, editorId?: string, start?: object }} [options]
 */
export function standEditor({ plugin = new StandPlugin(), storage = standStorage(), locks = standLocks(), editorId = 'editor', start = {} } = {}) {
  const unsaved = new Unsaved(storage, editorId, locks)
  const world = { engaged: false, gone: 0, became: /** @type {string[]} */ ([]), created: 0, wrote: 0 }
  const editor = new Editor({
    call: plugin.call, editorId, unsaved,
    engaged: () => world.engaged,
    changed: () => {},
    wrote: () => { world.wrote++ },
    created: () => { world.created++ },
    becameDraft: one => { world.became.push(one.draftId) },
    gone: () => { world.gone++ },
  }, { draftId: 'draft', workspaceId: 'workspace', ...start })
  return { editor, plugin, world, unsaved, storage }
}

/** Let every answer that is ready arrive. */
export async function answers() {
  for (let i = 0; i < 50; i++) await Promise.resolve()
}
