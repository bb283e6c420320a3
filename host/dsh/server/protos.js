/** The gRPC clients, made from the staged .proto files. */
import { join } from 'node:path'
import grpc from '@grpc/grpc-js'
import loader from '@grpc/proto-loader'
import { bundleRoot } from './paths.js'

/** The service's path in the contract, for clients and tests. */
const files = ['draft_sessions.proto', 'go_plugin.proto']

/**
 * @typedef {object} Services
 * @property {grpc.ServiceClientConstructor} draftSessions
 * @property {grpc.ServiceClientConstructor} controller
 * @property {grpc.ServiceClientConstructor} stdio
 */

/**
 * Messages are the camelCase JSON of wire/messages.js: int64 as numbers, enums as
 * names, unset members with their defaults (messages: null), the name of a oneof
 * holding the name of the member that is set.
 * @param {string} [dir] where the .proto files lie
 * @returns {Services}
 */
export function loadServices(dir = join(bundleRoot, 'proto')) {
  const definition = loader.loadSync(files, {
    includeDirs: [dir], longs: Number, enums: String, defaults: true, oneofs: true,
  })
  const root = /** @type {any} */ (grpc.loadPackageDefinition(definition))
  return {
    draftSessions: root.draftsessions.v1.DraftSessions,
    controller: root.plugin.GRPCController,
    stdio: root.plugin.GRPCStdio,
  }
}
