// Claims the Typert namespace draftSessions, as the public plugin does, and
// answers its list with a mark that a test recognises.
import { createRequire } from 'node:module'

export const name = 'dsh-draft-sessions'
export const inject = ['typert']

const anything = { parse: value => value }

export async function apply(ctx) {
  const protocol = createRequire(ctx.baseUrl).resolve('@deepseek-ai/dsh-typert-protocol')
  const { bindTypertRemote } = await import(protocol)
  const service = { list: async () => ({ from: 'stand-in' }) }
  service.typertRemote = bindTypertRemote(service, 'draftSessions', {})
  ctx.reflect.provide('draftSessions', service)
  ctx.typert.register({
    package: name,
    face: 'host',
    schemas: [],
    model: { services: [], events: [], objects: [] },
    invocations: [{
      id: `${name}#draftSessions/list`,
      service: 'draftSessions',
      namespace: 'draftSessions',
      method: 'list',
      invocation: { kind: 'direct' },
      parameters: [{
        name: 'request',
        wire: 'request',
        source: 'json',
        codec: { mode: 'strict', typeSymbol: `${name}/types#ListRequest`, schema: anything },
      }],
      result: { mode: 'strict', typeSymbol: `${name}/types#ListResult`, schema: anything },
    }],
  })
}
