import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { parseHash } from '../assets/app.js'
import { uuidv7 } from '../assets/ids.js'
import { words as en } from '../assets/locale/en.js'
import { words as zh } from '../assets/locale/zh.js'
import { ago, reasonText, translator } from '../assets/locale.js'

const web = join(import.meta.dirname, '..')
/** Where the host serves it, and where it lies. */
const folders = { assets: join(web, 'assets'), page: join(web, '..', '..', 'page') }
const scripts = Object.entries(folders).flatMap(([served, folder]) => readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.js') && !name.endsWith('.test.js')).map(name => `${served}/${name.replaceAll('\\', '/')}`)).sort()
/** @param {string} name */
const source = name => {
  const [served, ...path] = name.split('/')
  return readFileSync(join(folders[/** @type {keyof typeof folders} */ (served)], ...path), 'utf8')
}

test('both languages have the same texts, with the same places for values', () => {
  assert.deepEqual(Object.keys(zh).sort(), Object.keys(en).sort())
  for (const [key, text] of Object.entries(en)) {
    const places = (/** @type {string} */ words) => [...words.matchAll(/\{\w+\}/g)].map(([place]) => place).sort()
    assert.deepEqual(places(zh[key] ?? ''), places(text), key)
  }
})

test('every text that the page names exists, and none is left over', () => {
  const code = scripts.filter(name => !name.startsWith('assets/locale/')).map(source).join('\n')
  const named = [...code.matchAll(/\bt\(\s*'([^']+)'/g)].map(([, key]) => /** @type {string} */ (key))
  for (const key of named) assert.ok(key in en, key)
  for (const key of Object.keys(en)) {
    const family = key.slice(0, key.lastIndexOf('.') + 1)
    const used = code.includes(`'${key}'`) || (family !== '' && code.includes(`\`${family}\${`))
    assert.ok(used, `${key} is used nowhere`)
  }
})

test('index.html fetches every script at once, but for those that are fetched when needed', () => {
  const html = readFileSync(join(web, 'index.html'), 'utf8')
  const later = ['first.js', 'main.js', 'view/dialogs.js', 'view/drag.js', 'view/log.js', 'view/logitems.js', 'locale/en.js', 'locale/zh.js'].map(name => `assets/${name}`)
  const preloaded = [...html.matchAll(/modulepreload" href="\/([^"]+)"/g)].map(([, name]) => name)
  assert.deepEqual(preloaded.sort(), scripts.filter(name => !later.includes(name)))
})

test('no string goes over several lines or holds a comment, since comments are left out line by line (web.go)', () => {
  for (const name of scripts) {
    for (const line of source(name).split('\n')) {
      const code = line.replace(/\\`/g, '')
      assert.equal((code.match(/`/g)?.length ?? 0) % 2, 0, `${name}: ${line}`)
      for (const [string] of code.matchAll(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`/g)) assert.ok(!string.includes('/*'), `${name}: ${line}`)
    }
  }
})

test('an address names a draft or a session', () => {
  assert.deepEqual(parseHash('#/draft/a%2Fb'), { kind: 'draft', id: 'a/b' })
  assert.deepEqual(parseHash('#/session/x'), { kind: 'session', id: 'x' })
  for (const other of ['', '#', '#/other/x', '#/draft/', '#/draft/%']) assert.equal(parseHash(other), undefined)
})

test('ids sort in the order of their making', () => {
  assert.match(uuidv7(), /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  const [earlier, later] = [uuidv7(1_000_000_000_000), uuidv7(1_700_000_000_000)]
  assert.ok(earlier < later)
  assert.equal(parseInt(later.replaceAll('-', '').slice(0, 12), 16), 1_700_000_000_000)
})

test('a code without words of its own shows the host\'s', () => {
  const t = translator(en)
  assert.equal(reasonText(t, 'DRAFT_STORAGE_IO', 'x'), en['why.DRAFT_STORAGE_IO'])
  assert.equal(reasonText(t, 'OTHER', 'the host\'s words'), 'the host\'s words')
  assert.equal(reasonText(t, 'OTHER', ''), 'OTHER')
})

test('how long ago', () => {
  const now = 1_000_000_000_000
  assert.deepEqual([0, 59, 60 * 59, 3600 * 23, 86_400 * 40, 86_400 * 800].map(s => ago(now - s * 1000, 'en', now)), ['now', 'now', '59m', '23h', '40d', '2y'])
  assert.equal(ago(now - 7_200_000, 'zh', now), '2 时')
})
