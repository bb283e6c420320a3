/** The Typert descriptors of the surface, the same for the host's register and the page's $mount. */
import { methods, namespace, packageName } from './surface.js'

/**
 * Typert wants a schema with `parse` and turns what it throws into an opaque error,
 * so values pass here and are checked by whoever can answer with a code.
 */
const pass = { parse: (/** @type {unknown} */ value) => value }

export const descriptors = Object.entries(methods).map(([method, { request, response }]) => ({
  id: `${packageName}#${namespace}/${method}`,
  service: namespace,
  namespace,
  method,
  invocation: { kind: 'direct' },
  parameters: [{
    name: 'request',
    wire: 'request',
    source: 'json',
    codec: { mode: 'strict', typeSymbol: `${packageName}/wire#${request}`, schema: pass },
  }],
  result: { mode: 'strict', typeSymbol: `${packageName}/wire#Result<${response}>`, schema: pass },
}))
