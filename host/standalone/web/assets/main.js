import { App } from './app.js'
import { Shell } from './view/shell.js'

const app = new App()
new Shell(app, /** @type {HTMLElement} */ (document.getElementById('app')))
app.start()
