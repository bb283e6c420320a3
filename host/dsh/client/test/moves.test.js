import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OwnMoves } from '../moves.js'

/** @param {string} id @param {string} draftId @param {string} [kind] */
const notice = (id, draftId, kind = 'moved') => ({ id, kind, draftId, title: '', at: 0 })

test('a page is quiet about its own move, once, and about nothing else', () => {
  const moves = new OwnMoves()
  assert.deepEqual([...moves.quiet([notice('old', 'a')])], [])
  moves.begin('a')
  const quiet = moves.quiet([notice('old', 'a'), notice('b-moved', 'b'), notice('lost', 'a', 'lost'), notice('own', 'a')])
  assert.deepEqual([...quiet], ['own'])
  assert.equal(moves.quiet([notice('own', 'a')]), quiet, 'nothing new')
  assert.deepEqual([...moves.quiet([notice('own', 'a'), notice('elsewhere', 'a')])], ['own'], 'a later move by somebody else is told')
})

test('the notice of somebody else is told after a move that failed', () => {
  const moves = new OwnMoves()
  moves.begin('a')
  moves.failed('a')
  assert.deepEqual([...moves.quiet([notice('elsewhere', 'a')])], [])
})
