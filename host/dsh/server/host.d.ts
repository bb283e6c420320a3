/** The parts of DSH's in-process API that the host half uses; DSH gives no types to a bundle. */

export interface RpcRequest<P = any> { rpcId: string, payload: P }
export interface RpcResponse<V = any> {
  rpcId: string
  result: { ok: true, value: V } | { ok: false, error: { code: string, message: string, details?: unknown } }
}
type Rpc = (request: RpcRequest, ...rest: any[]) => Promise<RpcResponse>

export interface SessionEvent { type: string, seq: number, data: any }
export interface Session { id: string, seq: number, events: readonly SessionEvent[], header: { id: string, agentPreset?: string } }

export interface LoaderEntry { options: { name?: string }, disabled: boolean, fiber?: { entry?: LoaderEntry } }

/** Every service but the three injected ones can be missing. */
export interface Services {
  loader: { entries(): Iterable<LoaderEntry>, getTasks(): unknown[] }
  sessions: { get(id: string): Session | undefined, flush(session: Session): Promise<unknown> }
  sessionPersistence: {
    inspect(id: string): Promise<{ meta: Session['header'], events: readonly SessionEvent[] }>
    list(): Promise<{ id: string }[]>
  }
  permissionPresets: { current(events: readonly SessionEvent[]): string, set(session: Session, name: string): void }
  commands: { execute(agent: { session: Session }, line: string, ...rest: any[]): Promise<{ result: { kind: string } } | undefined> }
  clientModules: { clientPath?(id: string): string | undefined, graph?(): { entries: readonly { id: string, rev: string }[] } }
  webRuntime: { trustedHosts?: readonly string[] }
}

export interface HostContext {
  baseUrl: string
  webServer: {
    register(route: { kind: 'exact', path: string, handler: (req: import('node:http').IncomingMessage, res: import('node:http').ServerResponse) => void }): () => void
  }
  typert: { register(contribution: object): () => void, local: { get(endpoint: string): unknown } }
  apiProxy: { sessions: { prompt: Rpc, create: Rpc }, workspace: { list: Rpc } }
  reflect: { provide(name: string, service: object): () => void }
  get<K extends keyof Services>(name: K): Services[K] | undefined
  get(name: string): unknown
  on(event: string, listener: (...args: any[]) => void, options?: { global?: boolean }): () => void
  inject(services: readonly string[], callback: (scope: HostContext) => void): { dispose?(): unknown }
  effect(setup: () => () => unknown, label?: string): () => unknown
}
