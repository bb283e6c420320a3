/**
 * The messages that cross between the page and the host half, member by member:
 * the camelCase JSON of shared/proto/draftsessionsv1/draft_sessions.proto. Codecs
 * (codec.js) and types (types.d.ts) are both made from this one description.
 *
 * A member's type is `string`, `int` (a safe integer), `boolean` or the name of a
 * message; `[]` behind it makes it a list, `?` a member that may be absent. Absent
 * and `""` differ only for members marked `?`. Times are milliseconds since the
 * epoch, sizes bytes of UTF-8.
 */
export const messages = /** @type {const} */ ({
  Empty: {},

  // What the host half itself answers; mode is one of `modes`.
  Status: {
    mode: 'string', version: 'string', epoch: 'string', reasons: 'Reason[]', capabilities: 'string[]',
    overridden: 'boolean', rearmable: 'boolean', pages: 'Reason[]',
  },
  // What a page found of itself: its features (compatibility.json), the revisions of the
  // packages that it was served, and which of our parts failed in it.
  PageReport: { pageId: 'string', features: 'string[]', served: 'Served[]', faults: 'string[]' },
  Served: { id: 'string', rev: 'string' },
  // What the gate says of that page; mode is 'full' or 'stock'.
  Verdict: { mode: 'string', capabilities: 'string[]', overridden: 'boolean', reasons: 'Reason[]' },
  Reason: { code: 'string', subject: 'string', expected: 'string', found: 'string', message: 'string' },

  Draft: {
    id: 'string', sessionId: 'string', workspaceId: 'string', workspacePath: 'string',
    text: 'string', title: 'string', createdAt: 'int', updatedAt: 'int', order: 'int',
    pinned: 'boolean', agentPresetId: 'string', state: 'string', lastError: 'string',
    revision: 'int', textRevision: 'int', conflicts: 'Conflict[]', contentJson: 'string',
    settingsJson: 'string', textHash: 'string',
  },
  Conflict: { id: 'string', text: 'string', at: 'int', editorId: 'string', contentJson: 'string' },
  DraftRef: { draftId: 'string' },
  RevisionRef: { draftId: 'string', expectedRevision: 'int' },
  ListRequest: { workspaceId: 'string' },
  ListResponse: { drafts: 'Draft[]' },
  CreateRequest: {
    workspaceId: 'string', workspacePath: 'string', text: 'string', title: 'string',
    agentPresetId: 'string',
  },
  UpdateRequest: {
    draftId: 'string', expectedRevision: 'int', text: 'string?', title: 'string?',
    pinned: 'boolean?', agentPresetId: 'string?', contentJson: 'string?', settingsJson: 'string?',
  },
  DeleteResponse: { deletedAt: 'int' },
  ListTrashRequest: { preview: 'int' },
  ListTrashResponse: { entries: 'TrashEntry[]' },
  TrashEntry: { draft: 'Draft', deletedAt: 'int', title: 'string' },
  RebindRequest: { draftId: 'string', expectedRevision: 'int', sessionId: 'string' },
  ReorderRequest: { workspaceId: 'string', draftIds: 'string[]' },
  ResolveConflictRequest: { draftId: 'string', conflictId: 'string', keepAsDraft: 'boolean', take: 'boolean' },

  StorageState: {
    path: 'string', generation: 'int', code: 'string', message: 'string', migratedFrom: 'string',
  },
  Sidebar: {
    epoch: 'string', rows: 'Row[]', sessionIds: 'string[]', notices: 'Notice[]',
    trashCount: 'int', storage: 'StorageState?',
  },
  Row: {
    draftId: 'string', sessionId: 'string', workspaceId: 'string', workspacePath: 'string',
    title: 'string', pinned: 'boolean', order: 'int', state: 'string', lastError: 'string',
    revision: 'int', textRevision: 'int', conflicts: 'int', updatedAt: 'int',
    saveState: 'string', saveCode: 'string', saveMessage: 'string',
  },
  Notice: { id: 'string', kind: 'string', draftId: 'string', title: 'string', at: 'int' },
  DismissNoticeRequest: { noticeId: 'string' },

  Saved: {
    draftId: 'string', editorId: 'string', generation: 'int', seq: 'int', revision: 'int',
    textRevision: 'int', textHash: 'string', conflictId: 'string', newDraftId: 'string',
  },
  NotSaved: {
    draftId: 'string', editorId: 'string', generation: 'int', seq: 'int', code: 'string',
    message: 'string', retrying: 'boolean',
  },
  TextChanged: {
    draftId: 'string', editorId: 'string', textRevision: 'int', text: 'string',
    contentJson: 'string', textHash: 'string', replaced: 'boolean',
  },
  Removed: { draftId: 'string', sessionId: 'string', reason: 'string' },

  NewDraftRequest: {
    workspaceId: 'string', currentSessionId: 'string', recentWorkspaceId: 'string',
    openEditor: 'EditorRef?', idempotencyKey: 'string', text: 'string', agentPresetId: 'string',
  },
  BindResponse: { draft: 'Draft', recreated: 'boolean' },
  MoveRequest: { draftId: 'string', workspaceId: 'string', sessionId: 'string' },
  EditorRef: { draftId: 'string', editorId: 'string', generation: 'int' },
  OpenEditorRequest: {
    draftId: 'string', editorId: 'string', hostText: 'string?', hostContentJson: 'string',
    baseTextRevision: 'int', baseHash: 'string', baseDraftId: 'string', baseEditorId: 'string',
  },
  OpenEditorResponse: {
    epoch: 'string', generation: 'int', draft: 'Draft', show: 'string', conflictId: 'string',
  },
  EditRequest: {
    draftId: 'string', editorId: 'string', generation: 'int', seq: 'int', text: 'string',
    contentJson: 'string', baseTextRevision: 'int', epoch: 'string',
  },
  EditResponse: { acceptedSeq: 'int' },
  FlushRequest: { draftId: 'string' },
  ReconcileRequest: { workspaceId: 'string' },
  ReconcileResponse: { recreated: 'int', converted: 'int', detached: 'int', failed: 'int' },
  ChooseSessionRequest: { workspaceId: 'string', candidateSessionIds: 'string[]' },
  ChooseSessionResponse: { sessionId: 'string' },
})
