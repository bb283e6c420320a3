import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkBinary, manifestFile, within } from '../server/manifest.js'

const here = { platform: 'linux', arch: 'x64' }
const bytes = '#!/bin/sh\n'
const right = {
  schema: 1, version: '0.1.0', protocols: [1, 2], os: 'linux', arch: 'amd64', binary: 'draft-sessions',
  sha256: createHash('sha256').update(bytes).digest('hex'), size: bytes.length,
}

/**
 * @param {import('node:test').TestContext} t
 * @param {object | string | undefined} manifest
 * @param {string | undefined} binary
 */
async function folder(t, manifest, binary) {
  const dir = await mkdtemp(join(tmpdir(), 'ds-manifest-'))
  t.after(() => rm(dir, { recursive: true }))
  if (manifest !== undefined) await writeFile(join(dir, manifestFile), typeof manifest === 'string' ? manifest : JSON.stringify(manifest))
  if (binary !== undefined) await writeFile(join(dir, 'draft-sessions'), binary)
  return join(dir, 'draft-sessions')
}

test('a binary that is as its manifest says passes, and nothing else does', async (t) => {
  assert.equal((await checkBinary(await folder(t, right, bytes), here)).version, '0.1.0')
})

test('invariant 8: each miss has a code of its own, what was expected, what was found, and what to do', async (t) => {
  const cases = /** @type {[string, string, any, string | undefined, object?][]} */ ([
    ['no manifest', 'MANIFEST_MISSING', undefined, bytes],
    ['another schema', 'MANIFEST_INVALID', { ...right, schema: 2 }, bytes],
    ['an unknown member', 'MANIFEST_INVALID', { ...right, more: 1 }, bytes],
    ['a member twice', 'MANIFEST_INVALID', JSON.stringify(right).replace('{', '{"size":10,'), bytes],
    ['a path for a binary', 'MANIFEST_INVALID', { ...right, binary: '../draft-sessions' }, bytes],
    ['of another file', 'MANIFEST_INVALID', { ...right, binary: 'other' }, bytes],
    ['no checksum', 'MANIFEST_INVALID', { ...right, sha256: 'x' }, bytes],
    ['no version', 'MANIFEST_INVALID', { ...right, version: '' }, bytes],
    ['protocols that are no numbers', 'MANIFEST_INVALID', { ...right, protocols: ['1'] }, bytes],
    ['half of it', 'MANIFEST_INVALID', JSON.stringify(right).slice(0, -1), bytes],
    ['too long', 'MANIFEST_INVALID', ' '.repeat(65 << 10) + JSON.stringify(right), bytes],
    ['another system', 'BINARY_PLATFORM', { ...right, os: 'darwin' }, bytes],
    ['another processor', 'BINARY_PLATFORM', right, bytes, { platform: 'linux', arch: 'arm64' }],
    ['a protocol it does not speak', 'PROTOCOL_MISMATCH', { ...right, protocols: [9] }, bytes],
    ['no binary', 'BINARY_MISSING', right, undefined],
    ['a cut binary', 'CHECKSUM_MISMATCH', right, bytes.slice(1)],
    ['another binary of the same length', 'CHECKSUM_MISMATCH', right, bytes.replace('sh', 'ls')],
  ])
  for (const [name, code, manifest, binary, platform] of cases) {
    const path = await folder(t, manifest, binary)
    await assert.rejects(checkBinary(path, /** @type {any} */ (platform ?? here)), (/** @type {any} */ error) => {
      const [reason, ...more] = error.reasons
      assert.equal(more.length, 0, name)
      assert.equal(reason.code, code, name)
      assert.ok(reason.message && reason.subject && reason.found, name)
      return true
    }, name)
  }
})

test('a probe that hangs ends with its deadline', async () => {
  // The deadline's timer holds nobody up, so something else must.
  const alive = setInterval(() => {}, 1000)
  await assert.rejects(within(new Promise(() => {}), 20), /no answer within/)
  clearInterval(alive)
})
