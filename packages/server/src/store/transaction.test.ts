import type { TransactionId } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import type { Compare } from '../ports/key-value.ts'
import { createRecordIndex } from './cache/record-index.ts'
import { encodeRecord } from './encode.ts'
import { createKeyspace } from './keys.ts'
import { aDeployment, anAuditEntry, someTenant } from './records.fixture.ts'
import { archive, audit, deployments, slots, tenants } from './records.ts'
import { globally, inTenant, openTransaction, UnreadableRecordError } from './transaction.ts'

const keyspace = createKeyspace()
const tenant = someTenant()
const id = '0'.repeat(26) as TransactionId
const web = inTenant(tenant, deployments, 'web')
const webKey = keyspace.tenantKey(tenant, 'dep', 'web')
const slot = inTenant(tenant, slots, 'deployments/1')
const slotKey = keyspace.tenantKey(tenant, 'slot', 'deployments/1')
const notCancelled: Compare = { key: `/hf/g/cancel/${id}/`, target: 'version', is: 'equal', value: 0 }
const absent = (key: string): Compare => ({ key, target: 'version', is: 'equal', value: 0 })

function open() {
  const index = createRecordIndex(keyspace, { reads: 1, onUnreadable: () => {} })
  const put = (key: string, value: Uint8Array) =>
    index.put({ key, value, createRevision: 4, modRevision: 5, version: 2 })
  put(webKey, encodeRecord(deployments, aDeployment('web')))
  put(keyspace.tenantKey(tenant, 'dep', 'bad'), Buffer.from('garbage'))
  put(keyspace.tenantKey(tenant, 'arc', 'web/1'), Buffer.from('not looked at'))
  return openTransaction(id, index, keyspace)
}

describe('a transaction registers a compare for every read', () => {
  test('requires an existing record to be unchanged', () => {
    const transaction = open()
    expect(transaction.get(web)).toEqual(aDeployment('web'))
    expect(transaction.staged().compares).toEqual([
      notCancelled,
      { key: webKey, target: 'modRevision', is: 'equal', value: 5 },
    ])
  })

  test('requires a missing record to stay absent, in a tenant and globally', () => {
    const transaction = open()
    expect(transaction.get(slot)).toBeUndefined()
    expect(transaction.get(globally(tenants, tenant))).toBeUndefined()
    const keys = [slotKey, keyspace.globalKey('tenant', tenant)]
    expect(transaction.staged().compares).toEqual([notCancelled, ...keys.map(absent)])
  })

  test('compares absence in requireAbsent and returns whether the record is known', () => {
    const transaction = open()
    expect(transaction.requireAbsent(inTenant(tenant, archive, 'web/1'))).toBe(false)
    expect(transaction.requireAbsent(inTenant(tenant, archive, 'web/2'))).toBe(true)
    const keys = ['web/1', 'web/2'].map((name) => keyspace.tenantKey(tenant, 'arc', name))
    expect(transaction.staged().compares).toEqual([notCancelled, ...keys.map(absent)])
  })

  test('keeps earlier compares when a key is read again', () => {
    const transaction = open()
    transaction.requireAbsent(web)
    transaction.get(web)
    expect(transaction.staged().compares).toContainEqual(absent(webKey))
  })

  test('compares only its cancel mark when nothing was read', () => {
    const transaction = open()
    transaction.put(slot, { v: 1, holder: '' })
    expect(transaction.staged().compares).toEqual([notCancelled])
  })

  test('throws for an unreadable record instead of treating it as absent', () => {
    expect(() => open().get(inTenant(tenant, deployments, 'bad'))).toThrow(UnreadableRecordError)
    expect(open().requireAbsent(inTenant(tenant, deployments, 'bad'))).toBe(false)
  })

  test('refuses to read a collection without cached values', () => {
    expect(() => open().get(inTenant(tenant, archive, 'web/1'))).toThrow(TypeError)
  })
})

describe('the writes of a transaction', () => {
  test('sends only the last write of a key, because etcd rejects two', () => {
    const transaction = open()
    transaction.put(slot, { v: 1, holder: 'a' })
    transaction.delete(slot)
    expect(transaction.staged().writes).toEqual([{ kind: 'delete', key: slotKey }])
  })

  test('keeps a delete of a range apart from a write of its first key', () => {
    const transaction = open()
    transaction.deleteWithin(tenant, deployments, 'web')
    transaction.delete(web)
    transaction.deleteTenant(tenant)
    expect(transaction.staged().writes).toEqual([
      { kind: 'delete', key: webKey, rangeEnd: `${webKey.slice(0, -1)}0` },
      { kind: 'delete', key: webKey },
      { kind: 'delete', ...keyspace.wholeTenant(tenant) },
    ])
  })

  test('uses the audit entry as the receipt', () => {
    const transaction = open()
    expect(transaction.staged().receipt).toBeUndefined()
    transaction.put(inTenant(tenant, audit, id), anAuditEntry(tenant, id))
    expect(transaction.staged().receipt).toBe(keyspace.tenantKey(tenant, 'aud', id))
  })

  test('refuses to write a tenant record globally or a global record in a tenant', () => {
    expect(() => open().put(globally(slots, 'deployments/1'), { v: 1, holder: '' })).toThrow(TypeError)
    expect(() => open().get({ collection: tenants, tenant, id: tenant })).toThrow(TypeError)
  })
})
