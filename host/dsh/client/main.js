/** The browser half of the bundle, as DSH's module loader wants it: the services it waits for, and apply. */
import { Page } from './page.js'

export const inject = ['slots', 'sessions', 'workspaces', 'locale', 'remote']

/** @param {import('./dsh.js').Context} ctx */
export function apply(ctx) {
  ctx.effect(() => {
    const page = new Page(ctx)
    return () => page.dispose()
  }, 'draft sessions: page')
}
