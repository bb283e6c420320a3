/**
 * The browser half of the bundle, as DSH's module loader wants it. DSH's page does not
 * come up with an entry that throws, waits for a service that never comes, or requires
 * a package that is not there; so this one does none of it.
 */
import { pageFeatures, servedPackages, settled } from './features.js'
import { tellHost } from './tell.js'

/** Nothing: the page does not come up with an entry that waits. */
export const inject = /** @type {string[]} */ ([])

/** Services without which there is nothing to do. */
const needed = ['slots', 'sessions', 'workspaces', 'locale', 'remote']

/** @param {import('./dsh.js').Context} ctx */
export function apply(ctx) {
  try {
    begin(ctx)
  } catch (error) {
    failed(ctx, error)
  }
}

/** @param {import('./dsh.js').Context} ctx */
function begin(ctx) {
  let came = false
  ctx.inject(needed, scope => {
    came = true
    try {
      scope.effect(() => start(scope), 'draft sessions: page')
    } catch (error) {
      failed(ctx, error)
    }
  })
  void settled(ctx).then(() => { if (!came) tell(ctx, []) })
}

/** @param {import('./dsh.js').Context} ctx */
function start(ctx) {
  /** @type {import('./page.js').Page | undefined} */
  let page
  let over = false
  // Only here, since it requires what the page gives: React.
  import('./page.js').then(({ Page }) => { if (!over) page = new Page(ctx) }).catch(error => failed(ctx, error))
  return () => {
    over = true
    page?.dispose()
  }
}

/** @param {import('./dsh.js').Context} ctx @param {unknown} error */
function failed(ctx, error) {
  console.warn('draft sessions: the page stepped back', error)
  tell(ctx, [`page: ${error instanceof Error && /^\w{1,60}$/.test(error.name) ? error.name : 'Error'}`])
}

/** @param {import('./dsh.js').Context} ctx @param {string[]} faults */
function tell(ctx, faults) {
  void tellHost('report', {
    pageId: crypto.randomUUID(), features: pageFeatures(ctx), served: servedPackages(Reflect.get(window, '__DSH_BOOT__')), faults,
  })
}
