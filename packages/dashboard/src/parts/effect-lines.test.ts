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

test.each([
  [0, 2, 'At times no replica is ready'],
  [1, 2, 'At times only 1 of 2 replicas is ready'],
  [2, 3, 'At times only 2 of 3 replicas are ready'],
  [3, 3, 'At all times 3 of 3 replicas are ready'],
  [1, 1, 'At all times 1 of 1 replica is ready'],
  [0, 0, 'No replica stays'],
])('%i ready of %i is a sentence that people use', (ready, desired, text) => {
  const lowestReady = [{ deployment: 'shop', ready, desired, reason: '' }]
  expect(effectLines({ ...NOTHING, lowestReady })[0]?.text).toBe(text)
})
