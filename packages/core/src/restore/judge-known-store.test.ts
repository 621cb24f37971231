import { expect, test } from 'vitest'
import { type FoundStore, judgeKnownStore, type KnownStore } from './judge-known-store.ts'

const known: KnownStore = { epoch: 'e1', clusterId: 'a1', revision: 100, heartbeats: 7 }
const found: FoundStore = { epoch: 'e1', previous: [], clusterId: 'a1', revision: 140, heartbeats: 7 }

test.each<[string, Partial<KnownStore>, Partial<FoundStore>]>([
  ['that has only grown', {}, {}],
  ['with a heartbeat whose response was lost', {}, { heartbeats: 8 }],
  ['in which this server has written no heartbeat', { heartbeats: undefined }, { heartbeats: undefined }],
  ['of an engine without cluster ids', { clusterId: undefined }, { clusterId: undefined }],
  ['whose cluster id was unknown before', { clusterId: undefined }, {}],
])('accepts a store %s', (_, before, now) => {
  expect(judgeKnownStore({ ...known, ...before }, { ...found, ...now })).toEqual({ kind: 'same' })
})

test('accepts any store that an operator has declared restored', () => {
  const next = { epoch: 'e3', previous: ['e2', 'e1'], clusterId: 'b2', revision: 3, heartbeats: undefined }
  expect(judgeKnownStore(known, next)).toEqual({ kind: 'declared' })
})

test.each<[string, Partial<FoundStore>, string]>([
  ['with an unknown epoch', { epoch: 'e0', previous: ['e00'] }, 'has epoch e0, and this server knew e1'],
  ['in another cluster', { clusterId: 'b2', revision: 1_000_000 }, 'etcd is cluster b2'],
  ['with an older revision', { revision: 99 }, 'went back from revision 100 to 99'],
  ['without the last heartbeat', { heartbeats: 6, revision: 1_000_000 }, 'it wrote 7, and the store has 6'],
  ['without any heartbeat', { heartbeats: undefined }, 'it wrote 7, and the store has none'],
])('refuses a store %s', (_, now, what) => {
  const verdict = judgeKnownStore(known, { ...found, ...now })
  expect(verdict).toEqual({ kind: 'restored', what: expect.stringContaining(what) })
})
