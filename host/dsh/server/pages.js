/**
 * What pages find of themselves before they use anything of DSH: judged by the gate,
 * logged once, told in the status.
 */
import { readFile } from 'node:fs/promises'
import { packageName } from '../wire/surface.js'
import { compatibilityFile } from './paths.js'
import { messageOf, reason } from './reasons.js'
import { CallError } from './rpc.js'

/**
 * @typedef {import('../wire/types.js').Reason} Reason
 * @typedef {import('../wire/types.js').Verdict} Verdict
 * @typedef {import('../wire/types.js').PageReport} PageReport
 */
/**
 * @typedef {object} PagesHost
 * @property {Pick<import('./host.js').HostContext, 'get'>} ctx
 * @property {() => Pick<import('./link.js').Link, 'judge' | 'verdict'> | undefined} link
 * @property {import('./log.js').HostLog} log
 * @property {(reasons: Reason[]) => void} tell the status what pages lack
 * @property {() => Promise<string[]>} [pins] for tests
 */

/** So many different reasons of pages are told and remembered as logged. */
const maxTold = 20

export class Pages {
  #host
  /** What was logged, and is told. @type {Map<string, Reason>} */
  #told = new Map()

  /** @param {PagesHost} host */
  constructor(host) {
    this.#host = host
  }

  /**
   * @param {PageReport} report
   * @returns {Promise<Verdict>}
   * @throws {CallError} without a plugin nothing is decided
   */
  async judge({ features, served, faults }) {
    const link = this.#host.link()
    if (!link) throw new CallError('OPERATION_UNKNOWN', 'Drafts are not available at the moment.', false)
    const own = [...await this.#stale(served), ...faults.filter(isFault).map(fault)]
    const verdict = own.length > 0 ? stock(own) : await link.judge(features.filter(isPageFeature))
    const known = new Set(link.verdict.reasons.map(keyOf))
    this.#tell(verdict.reasons.filter(found => !known.has(keyOf(found))))
    return verdict
  }

  /** Another plugin process judges anew. */
  forget() {
    this.#told.clear()
  }

  /**
   * A page that was loaded before DSH, or this bundle, was changed.
   * @param {PageReport['served']} served
   * @returns {Promise<Reason[]>}
   */
  async #stale(served) {
    const { ctx, log, pins = pinnedPackages } = this.#host
    try {
      /** @type {readonly { id: string, rev: string }[]} */
      const entries = /** @type {any} */ (ctx.get('clientModules'))?.graph?.().entries ?? []
      const now = new Map(entries.map(({ id, rev }) => [id, rev]))
      const wanted = new Set([...await pins(), packageName])
      return served.filter(({ id, rev }) => wanted.has(id) && now.has(id) && now.get(id) !== rev).map(({ id, rev }) =>
        reason('PAGE_STALE', 'This page was loaded before DSH or the drafts plugin was changed; load it again.',
          { subject: id, expected: now.get(id) ?? '', found: printable(rev) }))
    } catch (error) {
      log.warn('what pages were served could not be compared', { error: messageOf(error) })
      return []
    }
  }

  /** @param {Reason[]} reasons */
  #tell(reasons) {
    const news = reasons.filter(found => !this.#told.has(keyOf(found)))
    if (news.length === 0) return
    for (const found of news) this.#told.set(keyOf(found), found)
    for (const key of this.#told.keys()) {
      if (this.#told.size <= maxTold) break
      this.#told.delete(key)
    }
    this.#host.log.warn('a page has not all of what drafts need', { reasons: news })
    this.#host.tell([...this.#told.values()])
  }
}

/** @param {Reason[]} reasons @returns {Verdict} */
function stock(reasons) {
  return { mode: 'stock', capabilities: [], overridden: false, reasons }
}

/** What a page says goes into the log: only the shape of a name passes. @param {string} text */
function isFault(text) {
  return /^[a-z ]{1,40}: \w{1,60}$/.test(text)
}

/** @param {string} text `<part>: <name of the error>` */
function fault(text) {
  const [subject = '', found = ''] = text.split(': ')
  return reason('PAGE_FAULT', 'A part of drafts failed in this page, so it shows DSH alone; load it again, and report it when it comes back.', { subject, found })
}

/** @param {string} name */
function isPageFeature(name) {
  return /^page\.[\w.]{1,60}$/.test(name)
}

/** @param {string} text */
function printable(text) {
  return /^[\w.-]{1,64}$/.test(text) ? text : '(unreadable)'
}

/** @param {Reason} found */
function keyOf({ code, subject, expected, found }) {
  return JSON.stringify([code, subject, expected, found])
}

async function pinnedPackages() {
  return Object.keys(JSON.parse(await readFile(compatibilityFile, 'utf8')).hosts.dsh.pins)
}
