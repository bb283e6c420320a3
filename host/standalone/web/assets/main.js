import { App } from './app.js'
import { language, load } from './locale.js'
import { Shell } from './view/shell.js'

const chosen = language()
const app = new App(chosen, await load(chosen))
new Shell(app, /** @type {HTMLElement} */ (document.getElementById('app')))
app.start()
