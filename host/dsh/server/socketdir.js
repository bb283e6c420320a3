/**
 * The folder of a plugin's socket. The path of a unix socket is limited to about
 * 104 bytes, and only its owner may enter.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const prefix = 'draft-sessions-'
/** What go-plugin adds for the socket's own name is well below this, in bytes. */
const maxBase = 50

/** @returns {string} a new 0700 folder with a short path; the caller removes it */
export function makeSocketDir() {
  const base = socketBase()
  sweep(base)
  return mkdtempSync(join(base, `${prefix}${process.pid}-`))
}

function socketBase() {
  const base = tmpdir()
  return Buffer.byteLength(base) <= maxBase ? base : '/tmp'
}

/**
 * Remove folders whose host is gone: a host that is killed cannot clean up.
 * @param {string} base
 */
function sweep(base) {
  const uid = process.getuid?.()
  for (const name of readdirSync(base)) {
    const owner = new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1]
    if (owner === undefined || isAlive(Number(owner))) continue
    try {
      const path = join(base, name)
      if (statSync(path).uid === uid) rmSync(path, { recursive: true, force: true })
    } catch {
      // Another host swept it first.
    }
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM'
  }
}
