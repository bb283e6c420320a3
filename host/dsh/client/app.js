/** What the components of the page share. */
import { useSyncExternalStore } from 'react'
import { namespace } from './locale.js'

/**
 * @typedef {import('./state.js').PageState} PageState
 */
/**
 * @typedef {object} App
 * @property {import('./store.js').Store<PageState>} store
 * @property {import('./actions.js').Actions} actions
 * @property {import('./dsh.js').Context} ctx
 */

/**
 * @template S
 * @param {App} app
 * @param {(state: PageState) => S} select must give the same object for the same state
 * @returns {S}
 */
export function usePage({ store }, select) {
  return useSyncExternalStore(store.subscribe, () => select(store.getSnapshot()))
}

/**
 * The texts, again on every change of the language.
 * @param {App} app
 */
export function useText({ ctx: { locale } }) {
  useSyncExternalStore(listener => locale.subscribe(listener), () => locale.getSnapshot().revision)
  return locale.bind(namespace)
}
