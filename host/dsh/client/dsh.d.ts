/**
 * What the page uses of DSH, by shape only: the packages behind it are never
 * imported, so a build against another version still loads and the feature checks
 * decide what works.
 */
import type { ComponentType, ReactNode } from 'react'

export interface Observable<T> {
  getSnapshot(): T
  subscribe(listener: () => void): () => void
}

export interface SessionSummary {
  id: string
  blank: boolean
  running: boolean
  cwd?: string
}

export interface SessionList {
  ids: string[]
  byId: Record<string, SessionSummary>
  current: string | undefined
  phase: string
}

export interface Workspace {
  workspaceId: string
  path: string
  title: string
  sessionIds: readonly string[]
}

export interface WorkspaceList {
  items: readonly Workspace[]
  archivedSessionIds: readonly string[]
  baselinesReady: boolean
  recentWorkspaceId: string | undefined
}

/** One picked reference inside a composer's text; offsets are UTF-16 units. */
export interface Occurrence {
  source: string
  ref: string
  offset: number
  length: number
  label: string
  appearance?: unknown
  clipboardText: string
}

export type ComposerPhase = 'plain' | 'adjudicating' | 'claimed' | 'submitting'

export interface ComposerState {
  draft: string
  imageIds: readonly string[]
  draftRev: number
  phase: ComposerPhase
  occurrences: readonly Occurrence[]
}

export interface ComposerInput {
  state: Observable<ComposerState>
  setDraft(text: string): void
  insertReference(
    reference: Omit<Occurrence, 'offset' | 'length'>,
    span: { start: number, end: number, draftRev: number },
  ): boolean
}

export type Scope = object

export interface Sessions {
  list: Observable<SessionList>
  open(id: string): void
  scope(id: string): Scope | undefined
  /** On the object, not on DSH's typed face; checked before use. */
  create?(options: { workspaceId: string }): Promise<string>
  refresh?(): Promise<void>
}

export interface Workspaces {
  list: Observable<WorkspaceList>
  connectWorkspace(workspaceId: string): Promise<string>
  refresh?(): Promise<void>
}

export interface SlotEntry {
  component: ComponentType<any>
  options: { key?: string, id?: string, order?: number, label?: unknown, priority?: number }
  select?: unknown
  inject?: unknown
  children?: Readonly<Record<string, { kind: string, scope: string, inject?: object }>>
  store?: unknown
  locale?: string
}

export interface Slots {
  inject(key: string, callback: () => () => void): () => void
  register(options: object, component: ComponentType<any>): () => void
  entries(key: string): readonly SlotEntry[]
  entriesOfSlot(key: string): readonly SlotEntry[]
  subscribe(key: string, listener: () => void): () => void
  /** Told after DSH has taken an entry that threw out of its slot; checked before use. */
  onEntryError?(listener: (key: string, entry: SlotEntry, error: unknown) => void): () => void
}

export type Translate = (key: string, params?: Record<string, unknown>) => string

export interface Locale extends Observable<{ active: string, revision: number }> {
  register(namespace: string, dictionaries: Record<string, Record<string, string>>): () => void
  bind(namespace: string): Translate
}

export interface Conversation {
  input: { for(scope: Scope): ComposerInput }
}

export interface Context {
  slots: Slots
  sessions: Sessions
  workspaces: Workspaces
  locale: Locale
  remote: { $mount(contribution: { package: string, descriptors: readonly object[] }): Promise<() => Promise<void>> }
  get(name: string): any
  inject(services: readonly string[], callback: (scope: Context) => void): unknown
  effect(callback: () => () => void, label?: string): () => void
}

/** The props that DSH gives to the component of `sidebar.workspaces`. */
export interface BrowserProps {
  wide: boolean
  expandSidebar(): void
  useSessions: SelectorHook<SessionList>
  useWorkspaces: SelectorHook<WorkspaceList>
  renderSlot(key: string, owner: object, options?: object): ReactNode
  [other: string]: unknown
}

export type SelectorHook<T> = <S>(select: (value: T) => S, equal?: (a: S, b: S) => boolean) => S
