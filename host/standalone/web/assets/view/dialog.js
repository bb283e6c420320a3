/** The dialogs are fetched when one is opened for the first time. */

/**
 * @param {'move' | 'conflicts' | 'trash' | 'folder'} name
 * @param {import('../app.js').App} app
 * @param {string} [draftId]
 */
export function openDialog(name, app, draftId = '') {
  import('./dialogs.js').then(({ dialogs }) => dialogs[name](app, draftId), () => app.fail({ code: 'UNREACHABLE' }))
}
