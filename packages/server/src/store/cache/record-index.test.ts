import { describe, expect, test, vi } from 'vitest'
import type { KeyValue } from '../../ports/key-value.ts'
import { encodeRecord } from '../encode.ts'
import { createKeyspace } from '../keys.ts'
import { aDeployment, anAuditEntry, someTenant } from '../records.fixture.ts'
import { audit, COLLECTIONS, deployments, slots, tokens } from '../records.ts'
import { createRecordIndex, difference } from './record-index.ts'

const keyspace = createKeyspace()
const tenant = someTenant()
const bytes = (text: string) => Buffer.from(text)
const keyOf = (name: string) => keyspace.tenantKey(tenant, deployments.folder, name)
const deployment = (name: string) => encodeRecord(deployments, aDeployment(name))

function kv(key: string, value: Uint8Array, modRevision: number, createRevision = modRevision): KeyValue {
  return { key, value, modRevision, createRevision, version: 1 }
}

function anIndex(...kvs: KeyValue[]) {
  const onUnreadable = vi.fn()
  const index = createRecordIndex(keyspace, { reads: 1, onUnreadable })
  for (const one of kvs) index.put(one)
  return { index, onUnreadable }
}

describe('the record index', () => {
  test('finds a record with its revision, replaces it and deletes it', () => {
    const { index } = anIndex(kv(keyOf('web'), deployment('web'), 5))
    expect(index.get(deployments, tenant, 'web')).toEqual({ record: aDeployment('web'), modRevision: 5 })
    index.put(kv(keyOf('web'), encodeRecord(deployments, aDeployment('web', { revision: 2 })), 6, 5))
    expect(index.get(deployments, tenant, 'web')).toMatchObject({ record: { revision: 2 }, modRevision: 6 })
    expect(index.delete(keyOf('web'))).toEqual({ tenant, folder: 'dep', id: 'web' })
    expect(index.get(deployments, tenant, 'web')).toBeUndefined()
  })

  test('separates the records of tenants from each other and from global ones', () => {
    const { index } = anIndex(kv(keyOf('web'), deployment('web'), 5))
    expect(index.list(deployments, someTenant())).toEqual([])
    expect(index.list(deployments, undefined)).toEqual([])
    expect(index.list(deployments, tenant)).toHaveLength(1)
  })

  test('copies values out of the buffer they arrived in', () => {
    const message = Buffer.concat([deployment('web'), Buffer.alloc(1_000_000)])
    const value = message.subarray(0, deployment('web').length)
    const { index } = anIndex(kv(keyOf('web'), value, 5))
    message.fill(0)
    expect(index.get(deployments, tenant, 'web')?.record).toEqual(aDeployment('web'))
  })

  test('keeps only the key in a collection without cached values', () => {
    const transaction = '0'.repeat(26) as never
    const key = keyspace.tenantKey(tenant, audit.folder, transaction)
    const { index } = anIndex(kv(key, encodeRecord(audit, anAuditEntry(tenant, transaction)), 5))
    expect(index.get(audit, tenant, transaction)).toBeUndefined()
    expect(index.keysOf(audit, tenant)).toMatchObject([{ id: transaction, key, createRevision: 5 }])
    expect(index.find({ tenant, folder: audit.folder, id: transaction })).toMatchObject({ modRevision: 5 })
  })
})

describe('a record that cannot be decoded', () => {
  test('is reported once, is not returned, and still occupies its key', () => {
    const { index, onUnreadable } = anIndex(
      kv(keyOf('bad'), bytes('\u0000garbage'), 5),
      kv(keyOf('web'), deployment('web'), 6),
    )
    for (let turn = 0; turn < 3; turn += 1) {
      expect(index.get(deployments, tenant, 'bad')).toBeUndefined()
      expect(index.list(deployments, tenant).map(({ record }) => record.spec.name)).toEqual(['web'])
    }
    expect(onUnreadable.mock.calls).toEqual([[keyOf('bad'), expect.any(Error)]])
    expect(index.find({ tenant, folder: 'dep', id: 'bad' })).toMatchObject({ modRevision: 5 })
    index.put(kv(keyOf('bad'), deployment('bad'), 7, 5))
    expect(index.get(deployments, tenant, 'bad')).toMatchObject({ modRevision: 7 })
  })

  test('ignores a key outside the keyspace', () => {
    const { index } = anIndex()
    expect(index.put(kv('/hf/x/y/', bytes(''), 5))).toBeUndefined()
    expect(index.delete('/hf/x/y/')).toBeUndefined()
    expect([...index.keys()]).toEqual([])
  })
})

test('counts bytes per tenant through puts, replacements and deletes', () => {
  const { index } = anIndex(kv(keyOf('a'), bytes('12345'), 5), kv(keyOf('b'), bytes('1'), 6))
  expect(index.storedBytes(tenant)).toBe(keyOf('a').length + 5 + keyOf('b').length + 1)
  index.put(kv(keyOf('a'), bytes('1'), 7, 5))
  expect(index.storedBytes(tenant)).toBe(keyOf('a').length + 1 + keyOf('b').length + 1)
  index.delete(keyOf('a'))
  index.delete(keyOf('a'))
  index.delete(keyOf('b'))
  expect(index.storedBytes(tenant)).toBe(0)
  expect(index.storedBytes(someTenant())).toBe(0)
})

test('counts the bytes of a collection, and no history for the byte quota', () => {
  const { index } = anIndex(kv(keyOf('a'), bytes('12345'), 5))
  const own = index.storedBytes(tenant)
  const history = COLLECTIONS.filter(({ isHistory }) => isHistory === true)
  expect(history.map(({ folder }) => folder).toSorted()).toEqual(
    [
      'aud',
      'audr',
      'audx',
      'evt',
      'idem',
      'netobs',
      'obs',
      'place',
      'pool',
      'volobs',
      'why',
      'whypart',
    ].toSorted(),
  )
  for (const collection of history) {
    const key = keyspace.tenantKey(tenant, collection.folder, 'x')
    index.put(kv(key, bytes('123'), 6))
    expect(index.bytesOf(collection, tenant)).toBe(key.length + 3)
    expect(index.bytesOf(collection, someTenant())).toBe(0)
  }
  expect(index.storedBytes(tenant)).toBe(own)
  expect(index.bytesOf(deployments, tenant)).toBe(own)
})

test('lists keys in the order of creation even if they were put in another order', () => {
  const { index } = anIndex(
    kv(keyOf('a'), bytes(''), 9, 3),
    kv(keyOf('c'), bytes(''), 5, 2),
    kv(keyOf('b'), bytes(''), 5, 2),
    kv(keyspace.globalKey(tokens.folder, 'x'), bytes(''), 1),
  )
  index.sortByCreation()
  index.put(kv(keyOf('d'), bytes(''), 10))
  index.put(kv(keyOf('b'), bytes(''), 11, 2))
  expect(index.keysOf(deployments, tenant).map(({ id }) => id)).toEqual(['b', 'c', 'a', 'd'])
  expect(index.keysOf(tokens, undefined).map(({ id }) => id)).toEqual(['x'])
})

test('reports each changed key once as the difference of two indexes', () => {
  const same = kv(keyOf('same'), bytes(''), 1)
  const { index: before } = anIndex(same, kv(keyOf('changed'), bytes(''), 2), kv(keyOf('gone'), bytes(''), 3))
  const slot = kv(keyspace.tenantKey(tenant, slots.folder, 'deployments/1'), bytes(''), 6)
  const { index: after } = anIndex(same, kv(keyOf('changed'), bytes(''), 5, 2), slot)
  expect(difference(before, after)).toEqual([
    { kind: 'put', key: { tenant, folder: 'dep', id: 'changed' } },
    { kind: 'put', key: { tenant, folder: 'slot', id: 'deployments/1' } },
    { kind: 'delete', key: { tenant, folder: 'dep', id: 'gone' } },
  ])
  expect(difference(after, after)).toEqual([])
})
