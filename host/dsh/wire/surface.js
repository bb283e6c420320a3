/**
 * The remote surface of the bundle: its methods, its push route and its names.
 * Both halves are bundled with this file, so they cannot disagree.
 *
 * Every method takes one object and returns `{ok: true, value}` or
 * `{ok: false, error: {code, message}}`: an error that is thrown reaches the page
 * as an opaque "internal". The codes are those of package shared in Go.
 */

/** The npm package name, and the owner of everything that is registered in DSH. */
export const packageName = 'draft-sessions-dsh'

/** The Typert namespace, and the name of the service behind it. */
export const namespace = 'draftSessions'

/**
 * `GET` this for `text/event-stream`. The first event is `status` (a Status), then,
 * in full mode, an `event` with the current sidebar. Both are repeated on change.
 */
export const eventsPath = '/draft-sessions/events'

/** A comment is sent this often, in milliseconds, so that a dead connection is noticed. */
export const heartbeatMs = 15_000

/**
 * What the page may do. `starting`: not decided yet; `full`: everything; `paused`: the
 * plugin process is down and being restarted, nothing is saved meanwhile; `stock`:
 * nothing of ours in the page, the reasons say why.
 */
export const modes = /** @type {const} */ (['starting', 'full', 'paused', 'stock'])

/** The code of a call that found no plugin process (paused, stock, or not yet up). */
export const unavailableCode = 'OPERATION_UNKNOWN'

/** The code of a request or an answer that is not of the shape described here. */
export const invalidCode = 'DRAFT_INVALID_INPUT'

/**
 * The deadline of a call, in milliseconds; `slow` is that of calls that create
 * sessions or wait for the disk.
 */
export const deadlines = { normal: 10_000, slow: 20_000 }

/**
 * By method: the gRPC call behind it (`''`: the host half answers itself), the
 * messages it takes and gives, and whether it has the slow deadline.
 */
export const methods = /** @type {const} */ ({
  status: { rpc: '', request: 'Empty', response: 'Status' },
  // Starts the plugin again after it was given up; answers with the status then.
  rearm: { rpc: '', request: 'Empty', response: 'Status' },
  // What a page can do, told by it before it uses any of DSH; in full mode only.
  report: { rpc: '', request: 'PageReport', response: 'Verdict' },

  sidebar: { rpc: 'GetSidebar', request: 'Empty', response: 'Sidebar' },
  list: { rpc: 'List', request: 'ListRequest', response: 'ListResponse' },
  get: { rpc: 'Get', request: 'DraftRef', response: 'Draft' },
  create: { rpc: 'Create', request: 'CreateRequest', response: 'Draft' },
  update: { rpc: 'Update', request: 'UpdateRequest', response: 'Draft' },
  delete: { rpc: 'Delete', request: 'RevisionRef', response: 'DeleteResponse' },
  restore: { rpc: 'Restore', request: 'DraftRef', response: 'Draft' },
  listTrash: { rpc: 'ListTrash', request: 'ListTrashRequest', response: 'ListTrashResponse' },
  rebind: { rpc: 'Rebind', request: 'RebindRequest', response: 'Draft' },
  reorder: { rpc: 'Reorder', request: 'ReorderRequest', response: 'Sidebar' },
  duplicate: { rpc: 'Duplicate', request: 'DraftRef', response: 'Draft' },
  resolveConflict: { rpc: 'ResolveConflict', request: 'ResolveConflictRequest', response: 'Draft' },
  dismissNotice: { rpc: 'DismissNotice', request: 'DismissNoticeRequest', response: 'Empty' },

  newDraft: { rpc: 'NewDraft', request: 'NewDraftRequest', response: 'Draft', slow: true },
  bind: { rpc: 'Bind', request: 'DraftRef', response: 'BindResponse', slow: true },
  move: { rpc: 'Move', request: 'MoveRequest', response: 'Draft', slow: true },
  openEditor: { rpc: 'OpenEditor', request: 'OpenEditorRequest', response: 'OpenEditorResponse' },
  edit: { rpc: 'Edit', request: 'EditRequest', response: 'EditResponse' },
  flush: { rpc: 'Flush', request: 'FlushRequest', response: 'Empty', slow: true },
  closeEditor: { rpc: 'CloseEditor', request: 'EditorRef', response: 'Empty' },
  reconcile: { rpc: 'Reconcile', request: 'ReconcileRequest', response: 'ReconcileResponse', slow: true },
  chooseSession: { rpc: 'ChooseSession', request: 'ChooseSessionRequest', response: 'ChooseSessionResponse' },
})

/** By kind of a pushed `event`: the message in its `value`. */
export const events = /** @type {const} */ ({
  sidebar: 'Sidebar',
  saved: 'Saved',
  notSaved: 'NotSaved',
  textChanged: 'TextChanged',
  removed: 'Removed',
})
