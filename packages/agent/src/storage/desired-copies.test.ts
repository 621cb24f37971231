// Tests how desired copies change with complete sets, deltas, saved sets and sets of older servers.

import { asNodeId, type Peer } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { desiredCopy } from './copies.fixture.ts'
import { createDesiredCopies } from './desired-copies.ts'

const PEER: Peer = { nodeId: asNodeId('node_2'), address: '10.0.0.2:7844', publicKeys: ['key'] }

test('a complete set replaces all copies, a delta only those that it names', () => {
  const desired = createDesiredCopies()
  const [first, second] = [desiredCopy(), desiredCopy()]
  desired.apply({ complete: true, copies: [first, second], peers: [PEER] }, 'server')
  desired.apply({ complete: false, copies: [{ ...first, sizeBytes: 1 }] }, 'server')
  expect(desired.saved()).toEqual({ copies: [{ ...first, sizeBytes: 1 }, second], peers: [PEER] })
  desired.apply({ complete: false, goneCopies: [first.volume], peers: [] }, 'server')
  expect(desired.saved()).toEqual({ copies: [second], peers: [] })
  desired.apply({ complete: true, copies: [first] }, 'server')
  expect([...desired.copies.keys()]).toEqual([first.volume])
})

test('a set without copies changes nothing, and is saved without copies if no server has sent any', () => {
  const desired = createDesiredCopies()
  desired.apply({ complete: true }, 'server')
  expect([desired.saved(), desired.isComplete()]).toEqual([{}, false])
  const copy = desiredCopy()
  desired.apply({ complete: true, copies: [copy] }, 'server')
  desired.apply({ complete: true }, 'server')
  expect(desired.saved()).toEqual({ copies: [copy] })
})

test('a saved copy is unconfirmed until a server sends it', () => {
  const desired = createDesiredCopies()
  const copy = desiredCopy()
  desired.apply({ complete: true, copies: [copy] }, 'disk')
  expect([desired.isConfirmed(copy.volume), desired.isComplete()]).toEqual([false, false])
  desired.apply({ complete: true, copies: [copy] }, 'server')
  expect([desired.isConfirmed(copy.volume), desired.isComplete()]).toEqual([true, true])
})

test('keeps the copy with the higher epoch', () => {
  const desired = createDesiredCopies()
  const copy = desiredCopy({ epoch: 2 })
  desired.apply({ complete: true, copies: [copy] }, 'server')
  desired.apply({ complete: true, copies: [{ ...copy, epoch: 1, desired: 'removed' }] }, 'server')
  expect(desired.copies.get(copy.volume)).toEqual(copy)
})
