/** The messages of host/standalone/API.md, as far as the page reads them. Times are milliseconds since 1970. */

export interface Preset { id: string, name: string, description: string }
export interface Named { id: string, name: string, description?: string }

export interface Agent {
  id: string
  title: string
  note: string
  models: Named[]
  defaultModel: string
  presets: Preset[]
  permissions: Named[]
  defaultPermission: string
  available: boolean
  message: string
}

export interface Session {
  id: string
  workspaceId: string
  workspacePath: string
  title: string
  titleSource: string
  agent: string
  agentPresetId: string
  model: string
  permission: string
  blank: boolean
  running: boolean
  waiting: boolean
  unknown: boolean
  archived: boolean
  trashedAt: number
  createdAt: number
  updatedAt: number
  lastSeq: number
  damaged: string
}

export interface Workspace {
  id: string
  name: string
  path: string
  missing: boolean
  sessionCount: number
  sessions?: Session[]
}

export interface PluginState { mode: 'full' | 'stock', epoch: string, message: string }

export interface Row {
  draftId: string
  sessionId: string
  workspaceId: string
  workspacePath: string
  title: string
  pinned: boolean
  order: number
  state: string
  lastError: string
  revision: number
  textRevision: number
  conflicts: number
  updatedAt: number
  saveState: 'saved' | 'saving' | 'not_saved'
  saveCode: string
  saveMessage: string
}

export interface Notice { id: string, kind: string, draftId: string, title: string, at: number }

export interface Sidebar {
  epoch: string
  rows: Row[]
  sessionIds: string[]
  notices: Notice[]
  trashCount: number
  storage: { code: string, message: string } | null
}

export interface State {
  instance: string
  version: string
  plugin: PluginState
  defaultAgent: string
  agents: Agent[]
  workspaces: Workspace[]
  sidebar: Sidebar | null
}

export interface Conflict { id: string, text: string, at: number, editorId: string }

export interface Draft {
  id: string
  sessionId: string
  workspaceId: string
  workspacePath: string
  text: string
  title: string
  updatedAt: number
  pinned: boolean
  state: string
  lastError: string
  revision: number
  textRevision: number
  textHash: string
  conflicts: Conflict[]
}

export interface TrashEntry { draft: Draft, deletedAt: number }

export interface EditorRef { draftId: string, editorId: string, generation: number }
export interface Opened { epoch: string, generation: number, draft: Draft, show: string, conflictId: string }
export interface Saved extends EditorRef {
  seq: number
  revision: number
  textRevision: number
  textHash: string
  conflictId: string
  newDraftId: string
}
export interface NotSaved extends EditorRef { seq: number, code: string, message: string, retrying: boolean }
export interface TextChanged { draftId: string, editorId: string, textRevision: number, text: string, textHash: string, contentJson: string, replaced: boolean }
/** lost: the draft file was replaced by one without the draft. */
export interface Removed { draftId: string, sessionId: string, reason: 'sent' | 'deleted' | 'lost' }

export interface LogEvent { seq: number, at: number, type: string, data: any }
export interface Live { session: string, submissionId: string, kind: 'message' | 'thought', text: string, html: string }
export interface PermissionOption { id: string, name: string, kind: string }
export interface PermissionRequest { submissionId: string, requestId: string, toolCallId: string, title: string, options: PermissionOption[] }
export interface Submission { submissionId: string, sessionId: string, state: string, seq: number, message: string }
export interface History { session: Session, events: LogEvent[], more: boolean, live: Live | null, requests: PermissionRequest[] }
