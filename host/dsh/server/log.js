/**
 * Our own log file: DSH's logger prints nothing in the web profile. No line ever
 * holds draft text (invariant 11), and writing can neither fail nor block for long.
 */
import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

const defaultMaxBytes = 1 << 20
/** A single line is cut here, in characters: foreign error texts have no bound. */
const maxLine = 4000

/** An append-only file of at most maxBytes, with one older file (`.1`) beside it. */
export class HostLog {
  #path
  #maxBytes
  #size = 0

  /**
   * The file is made 0600 in a 0700 folder with the first line.
   * @param {string} path
   * @param {number} [maxBytes]
   */
  constructor(path, maxBytes = defaultMaxBytes) {
    this.#path = path
    this.#maxBytes = maxBytes
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      this.#size = statSync(path).size
    } catch {
      // No file yet, or no folder to be had: the first line decides.
    }
  }

  /** @param {string} message @param {Record<string, unknown>} [fields] */
  info(message, fields) { this.#write('info', message, fields) }

  /** @param {string} message @param {Record<string, unknown>} [fields] */
  warn(message, fields) { this.#write('warn', message, fields) }

  /**
   * @param {string} level
   * @param {string} message
   * @param {Record<string, unknown>} [fields] values are quoted, so one call is one line
   */
  #write(level, message, fields = {}) {
    const parts = Object.entries(fields).map(([key, value]) => ` ${key}=${JSON.stringify(value) ?? 'undefined'}`)
    const text = `${new Date().toISOString()} ${level} ${message.replaceAll(/[\r\n]+/g, ' ')}${parts.join('')}`
    const line = `${text.slice(0, maxLine)}\n`
    try {
      if (this.#size > 0 && this.#size + Buffer.byteLength(line) > this.#maxBytes) {
        renameSync(this.#path, `${this.#path}.1`)
        this.#size = 0
      }
      appendFileSync(this.#path, line, { mode: 0o600 })
      this.#size += Buffer.byteLength(line)
    } catch {
      // A full disk or a removed folder must not become the host's problem.
    }
  }
}
