import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { findBinary, goPlatform } from '../server/paths.js'

/** @param {string} path */
function touch(path) {
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, '')
  return path
}

test('the binary is the bundle\'s own, or that of the platform\'s package, wherever Node finds it', () => {
  const modules = join(mkdtempSync(join(tmpdir(), 'paths-')), 'node_modules')
  const root = join(modules, 'draft-sessions-dsh')
  mkdirSync(root, { recursive: true })
  assert.equal(findBinary(root, 'linux', 'x64'), join(root, 'bin', 'draft-sessions'), 'where it would be')
  touch(join(modules, 'draft-sessions-dsh-linux-arm64', 'bin', 'draft-sessions'))
  assert.equal(findBinary(root, 'linux', 'x64'), join(root, 'bin', 'draft-sessions'), 'another platform is none')
  const beside = touch(join(modules, 'draft-sessions-dsh-linux-amd64', 'bin', 'draft-sessions'))
  assert.equal(findBinary(root, 'linux', 'x64'), beside)
  const inside = touch(join(root, 'node_modules', 'draft-sessions-dsh-linux-amd64', 'bin', 'draft-sessions'))
  assert.equal(findBinary(root, 'linux', 'x64'), inside)
  const own = touch(join(root, 'bin', 'draft-sessions'))
  assert.equal(findBinary(root, 'linux', 'x64'), own)
})

test('platforms have the names that Go gives them', () => {
  assert.equal(goPlatform('win32', 'x64'), 'windows-amd64')
  assert.equal(goPlatform('darwin', 'arm64'), 'darwin-arm64')
})
