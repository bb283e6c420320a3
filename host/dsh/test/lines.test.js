import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { atMost, maxLineBytes, readLines } from '../server/lines.js'

/** @param {(stream: PassThrough) => void} write */
async function linesOf(write) {
  const stream = new PassThrough()
  /** @type {string[]} */
  const lines = []
  readLines(stream, (line) => { lines.push(line) })
  write(stream)
  stream.end()
  await new Promise((resolve) => { stream.once('end', resolve) })
  return lines
}

test('lines come whole, however they arrive, and the last one without an end too', async () => {
  assert.deepEqual(await linesOf((stream) => { for (const part of ['on', 'e\ntw', 'o\r\n\n', '你', '好\nla', 'st']) stream.write(part) }),
    ['one', 'two', '', '你好', 'last'])
})

test('invariant 8: a line without an end is cut, not kept, and the next one is whole', async () => {
  const lines = await linesOf((stream) => {
    for (let i = 0; i < 200; i++) stream.write('x'.repeat(1000))
    stream.write('\nnext\n')
  })
  assert.deepEqual([lines.length, lines[0]?.length, lines[1]], [2, maxLineBytes, 'next'])
})

test('a broken pipe is nobody\'s exception', () => {
  const stream = new PassThrough()
  readLines(stream, () => {})
  assert.equal(stream.emit('error', new Error('EPIPE')), true)
})

test('a flood is cut and counted, and a quiet while lets through again', () => {
  let time = 0
  /** @type {number[]} */
  const told = []
  const pass = atMost(2, 1000, (dropped) => { told.push(dropped) }, () => time)
  assert.deepEqual([pass(), pass(), pass(), pass()], [true, true, false, false])
  time = 1000
  assert.equal(pass(), true)
  time = 2000
  pass()
  assert.deepEqual(told, [2])
})
