import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { collectFacts } from '../server/facts.js'

const page = '@x/page'

/**
 * A DSH installation, and a home whose profiles see it through a mirror of links.
 * @param {import('node:test').TestContext} t
 */
async function installation(t) {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'ds-facts-')))
  t.after(() => rm(root, { recursive: true }))
  const file = async (/** @type {string} */ path, /** @type {object} */ content) => {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), JSON.stringify(content))
  }
  await file('app/package.json', { version: '1.0.0' })
  await file('app/lib/bin.js', {})
  await file(`app/node_modules/${page}/package.json`, { version: '1.0.0' })
  await file(`app/node_modules/${page}/lib/client.js`, {})
  await file('table.json', { hosts: { dsh: { package: '@x/dsh', pins: { [page]: '1.0.0' } } } })
  await mkdir(join(root, 'home/profiles/web'), { recursive: true })
  await mkdir(join(root, 'home/profiles/node_modules/@x'), { recursive: true })
  const mirror = join(root, 'home/profiles/node_modules', page)
  await symlink(join(root, 'app/node_modules', page), mirror)
  const served = { clientPath: (/** @type {string} */ id) => id === page ? join(root, `app/node_modules/${page}/lib/client.js`) : undefined }
  /** @param {any} [clientModules] @param {number} [ms] */
  const collect = (clientModules = served, ms) => collectFacts(/** @type {any} */ ({
    baseUrl: `${pathToFileURL(join(root, 'home/profiles/web')).href}/`,
    get: (/** @type {string} */ name) => name === 'clientModules' ? clientModules : undefined,
  }), { binary: join(root, 'app/lib/bin.js'), table: join(root, 'table.json'), ...(ms === undefined ? {} : { ms }) })
  return { root, file, mirror, collect }
}

/** @param {Awaited<ReturnType<typeof collectFacts>>} facts @param {string} subject */
function about({ answers }, subject) {
  return Object.fromEntries(answers.filter(answer => answer.subject === subject).map(({ source, version, problem }) => [source, problem || version]))
}

test('everybody who could know a version is asked', async (t) => {
  const { collect } = await installation(t)
  const facts = await collect()
  assert.deepEqual(about(facts, page), { loaded: '1.0.0', own: '1.0.0', served: '1.0.0' })
  assert.deepEqual(about(facts, '@x/dsh'), { own: '1.0.0' })
  assert.equal(facts.hostVersion, '1.0.0')
  assert.deepEqual(facts.probed, ['host'])
})

test('a stale mirror in the profiles is told beside what runs, and hides nothing', async (t) => {
  const { root, file, mirror, collect } = await installation(t)
  await rm(mirror)
  await file(`home/profiles/node_modules/${page}/package.json`, { version: '0.9.0' })
  const facts = await collect()
  assert.deepEqual(about(facts, page), { loaded: '0.9.0', own: '1.0.0', served: '1.0.0' })
  const { where } = facts.answers.find(answer => answer.source === 'loaded') ?? {}
  assert.equal(where, join(root, 'home/profiles/node_modules', page))
})

test('a host that was exchanged while it runs is told by what it serves', async (t) => {
  const { file, collect } = await installation(t)
  await file(`old/node_modules/${page}/package.json`, { version: '0.9.0' })
  const facts = await collect({ clientPath: () => { throw new Error('gone') } })
  assert.deepEqual(about(facts, page), { loaded: '1.0.0', own: '1.0.0', served: 'gone' })
})

test('a package that is nowhere is told as looked for and not found; a source that cannot know says nothing', async (t) => {
  const { root, mirror, collect } = await installation(t)
  await rm(mirror)
  await rm(join(root, 'app/node_modules'), { recursive: true })
  assert.deepEqual(about(await collect({ clientPath: () => undefined }), page), { loaded: '', served: '' })
  assert.deepEqual(about(await collect(null), page), { loaded: '', served: '' })
})

test('a probe that fails or hangs is told as that, and the others are heard', async (t) => {
  const { root, collect } = await installation(t)
  const lost = await collect({ clientPath: () => join(root, 'no such place/client.js') })
  assert.match(about(lost, page)['served'] ?? '', /ENOENT/)
  assert.equal(about(lost, page)['own'], '1.0.0')

  const alive = setInterval(() => {}, 1000)
  t.after(() => { clearInterval(alive) })
  execFileSync('mkfifo', [join(root, 'fifo')])
  await rm(join(root, 'app/package.json'))
  await symlink(join(root, 'fifo'), join(root, 'app/package.json'))
  const hung = await collect(undefined, 2_000)
  // Whoever reads it waits for a writer; one lets it go.
  execFileSync('sh', ['-c', `: > "$0"`, join(root, 'fifo')])
  assert.match(about(hung, '@x/dsh')['own'] ?? '', /no answer within/)
  assert.equal(about(hung, page)['own'], '1.0.0')
})
