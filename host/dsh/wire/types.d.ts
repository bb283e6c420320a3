import type { messages } from './messages.js'
import type { events, methods, modes } from './surface.js'

type Messages = typeof messages
export type MessageName = keyof Messages

interface Primitives {
  string: string
  int: number
  boolean: boolean
}

type Value<T extends string> =
  T extends `${infer Item}[]` ? Value<Item>[]
  : T extends keyof Primitives ? Primitives[T]
  : T extends MessageName ? Message<T>
  : never

type Required<M> = { [K in keyof M as M[K] extends `${string}?` ? never : K]: M[K] extends string ? Value<M[K]> : never }
type Optional<M> = { [K in keyof M as M[K] extends `${string}?` ? K : never]?: M[K] extends `${infer T}?` ? Value<T> : never }

/** The object that the message of that name is. */
export type Message<N extends MessageName> = { -readonly [K in keyof Required<Messages[N]>]: Required<Messages[N]>[K] }
  & { -readonly [K in keyof Optional<Messages[N]>]: Optional<Messages[N]>[K] }

export type Mode = (typeof modes)[number]
export type Status = Omit<Message<'Status'>, 'mode'> & { mode: Mode }
export type Verdict = Omit<Message<'Verdict'>, 'mode'> & { mode: 'full' | 'stock' }
export type PageReport = Message<'PageReport'>
export type Reason = Message<'Reason'>
export type Draft = Message<'Draft'>
export type Conflict = Message<'Conflict'>
export type Sidebar = Message<'Sidebar'>
export type Row = Message<'Row'>
export type Notice = Message<'Notice'>
export type EditorRef = Message<'EditorRef'>

export type MethodName = keyof typeof methods
export type Failure = { ok: false, error: { code: string, message: string } }
export type Result<V> = { ok: true, value: V } | Failure

/** The remote service: what `draftSessions.*` takes and answers. */
export type Service = {
  [M in MethodName]: (request: Message<(typeof methods)[M]['request']>) => Promise<Result<Message<(typeof methods)[M]['response']>>>
}

export type EventKind = keyof typeof events
/** The data of a pushed `event`. */
export type PushedEvent = { [K in EventKind]: { kind: K, value: Message<(typeof events)[K]> } }[EventKind]
