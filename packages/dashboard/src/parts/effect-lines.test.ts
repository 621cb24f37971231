import type { Effects } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { effectLines } from './effect-lines.ts'

const NOTHING: Effects = {
  moves: [],
  restarts: [],
  stops: [],
  unplaced: [],
  unrouted: [],
  lostData: [],
  lowestReady: [],
  omitted: [],
}

test('no effect is no line', () => expect(effectLines(NOTHING)).toEqual([]))

test('the gravest effects come first', () => {
  const lines = effectLines({
    ...NOTHING,
    moves: [{ deployment: 'shop', replica: 1, from: 'acme-2', to: 'acme-1', reason: 'node_leaving' }],
    unplaced: [{ deployment: 'ballast', replicas: 1, reason: 'No node fits.' }],
    lostData: [{ volume: 'orders-data', reason: 'It has no other copy.' }],
  })
  expect(lines.map(({ severity }) => severity)).toEqual(['error', 'warning', 'info'])
  expect(lines.map(({ text }) => text)).toEqual([
    'The data of orders-data is lost: It has no other copy.',
    '1 replica stays without a node: No node fits.',
    'Replica 1 moves from acme-2 to acme-1',
  ])
})

test('fewer ready replicas than desired are a warning', () => {
  const lowest = (ready: number) => [{ deployment: 'shop', ready, desired: 3, reason: '' }]
  expect(effectLines({ ...NOTHING, lowestReady: lowest(2) })[0]?.severity).toBe('warning')
  expect(effectLines({ ...NOTHING, lowestReady: lowest(3) })[0]?.severity).toBe('info')
})
