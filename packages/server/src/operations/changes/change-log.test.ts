// The change log names the record of the API that a reader must read again, for the reader's tenant only.

import { asDeploymentUid, type ChangedRecord, ownerOf, type TokenId } from '@holdfast/contract'
import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import { openOver, putTenant, write } from '@holdfast/simulation/memory/store-over-memory.fixture'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { aDeployment, putDeployment, someTenant } from '../../store/records.fixture.ts'
import { deployments, slots, tokens } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { globally, inTenant, type Transaction } from '../../store/transaction.ts'
import { type ChangeLog, createChangeLog, KEPT_CHANGES } from './change-log.ts'

const [tenant, other] = [someTenant(), someTenant()]
let store: Store
let log: ChangeLog
beforeEach(async () => {
  store = await openOver(createMemoryKeyspace())
  log = createChangeLog(store)
  await put((transaction) => {
    putTenant(transaction, tenant)
    putTenant(transaction, other)
  })
})
afterEach(() => {
  log.close()
  store.close()
})

async function put(change: (transaction: Transaction) => void): Promise<void> {
  await write(store, change)
  await store.fresh()
}

const names = (items: readonly ChangedRecord[]): string[] =>
  items.map(({ resource, name, gone }) => `${gone === true ? 'gone ' : ''}${resource} ${name}`.trim()).sort()

const follow = (from?: number, of = tenant, onChange = () => {}) => log.follow(of, { from, onChange })

const token = (id: string, owner = tenant) => ({
  v: 1,
  id: id as TokenId,
  name: 't',
  role: 'viewer' as const,
  createdAt: '',
  expiresAt: '',
  tenant: owner,
  secretHash: '',
})

test('names changed and removed records once, and wakes the reader once', async () => {
  let woken = 0
  const follower = follow(undefined, tenant, () => {
    woken += 1
  })
  await put((transaction) => putDeployment(transaction, tenant, 'web'))
  await put((transaction) => transaction.put(inTenant(tenant, deployments, 'web'), aDeployment('web')))
  expect(names(follower.take().items)).toEqual(expect.arrayContaining(['deployments web']))
  expect([woken, follower.pending]).toEqual([1, false])
  await put((transaction) => transaction.delete(inTenant(tenant, deployments, 'web')))
  expect(names(follower.take().items)).toEqual(['gone deployments web'])
  expect(woken).toBe(2)
})

test('names the workload of a placement, the kind of a quota slot, and tokens also when they are revoked', async () => {
  const uid = asDeploymentUid('dep_1')
  const [first, second] = ['tok_1', 'tok_2']
  await put((transaction) => transaction.put(globally(tokens, first), token(first)))
  const follower = follow()
  await put((transaction) => {
    transaction.put(inTenant(tenant, slots, 'containers/7'), { v: 1, holder: ownerOf('deployment', uid) })
    transaction.put(globally(tokens, second), token(second))
  })
  expect(names(follower.take().items)).toEqual(['quotas containers', 'tokens tok_2'])
  await put((transaction) => {
    transaction.delete(globally(tokens, first))
    transaction.delete(globally(tokens, second))
  })
  expect(names(follower.take().items)).toEqual(['gone tokens tok_1', 'gone tokens tok_2'])
})

test('shows nothing of another tenant', async () => {
  const follower = follow()
  await put((transaction) => {
    putDeployment(transaction, other, 'secret-plan')
    transaction.put(globally(tokens, 'tok_9'), token('tok_9', other))
    putTenant(transaction, other)
  })
  await put((transaction) => transaction.delete(globally(tokens, 'tok_9')))
  expect(follower.pending).toBe(false)
})

test('continues after a disconnect with every change since the last revision', async () => {
  const first = follow()
  await put((transaction) => putDeployment(transaction, tenant, 'one'))
  const { revision } = first.take()
  first.close()
  await put((transaction) => putDeployment(transaction, tenant, 'two'))
  const again = follow(revision).take()
  expect(again.resync).toBe(false)
  expect(names(again.items)).toContain('deployments two')
  expect(names(again.items)).not.toContain('deployments one')
})

test.each([
  ['is older than the first reader', () => 0],
  ['is in the future', () => store.revision + 1],
])('asks for everything again if the revision %s', (_, from) => {
  expect(follow(from()).take()).toMatchObject({ resync: true, items: [] })
})

test('asks for everything again if more changed than is kept, for a slow and for a returning reader', async () => {
  const slow = follow()
  const from = store.revision
  for (let at = 0; at <= KEPT_CHANGES; at += 50)
    await put((transaction) => {
      for (let each = at; each < at + 50; each += 1)
        transaction.put(inTenant(tenant, deployments, `d${each}`), aDeployment(`d${each}`))
    })
  expect(slow.take()).toMatchObject({ resync: true, items: [] })
  expect(slow.pending).toBe(false)
  expect(follow(from).take().resync).toBe(true)
  expect(follow(store.revision).pending).toBe(false)
})

test('forgets a tenant that is not followed', async () => {
  log.close()
  log = createChangeLog(store, 0)
  const follower = follow()
  const { revision } = store
  follower.close()
  await new Promise((resolve) => setTimeout(resolve, 5))
  await put((transaction) => putDeployment(transaction, tenant, 'web'))
  expect(follow(revision).take().resync).toBe(true)
})
