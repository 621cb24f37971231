// Tests who the events and audit entries of a rotation name that the platform carries out.

import { consumerOf, type TokenId } from '@holdfast/contract'
import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import {
  clock,
  openOver,
  putTenant,
  uidOf,
  write,
} from '@holdfast/simulation/memory/store-over-memory.fixture'
import { afterEach, expect, test } from 'vitest'
import { aDeployment, aSpec, someTenant } from '../store/records.fixture.ts'
import { audit, credentials, deployments, events, tokens } from '../store/records.ts'
import { globally, inTenant } from '../store/transaction.ts'
import { reconcileTenant } from './rotations.ts'

const TOKEN = 'tok_1' as TokenId
const TIME = '2026-01-01T00:00:00.000Z'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** A tenant whose deployment must leave version 2 of a credential, because the cutover to it is aborted. */
async function world(isRevoked: boolean) {
  const store = await openOver(createMemoryKeyspace())
  ends.push(() => store.close())
  const tenant = someTenant()
  const secrets = [
    { name: 'DB', vault_path: 'resources/db', anchor: 'external' as const, rotation: 'restart' as const },
  ]
  const web = aDeployment('web', { uid: uidOf('web'), spec: { ...aSpec('web'), secrets }, pins: { db: 2 } })
  const consumer = consumerOf('deployment', 'web')
  const versions = [1, 2].map((version) => ({ version, keys: ['password'], createdAt: TIME }))
  await write(store, (transaction) => {
    putTenant(transaction, tenant)
    if (!isRevoked)
      transaction.put(globally(tokens, TOKEN), {
        ...{ v: 1, id: TOKEN, name: 'ci', role: 'tenant-admin', expiresAt: '2030-01-01T00:00:00.000Z' },
        ...{ createdAt: TIME, tenant, secretHash: '' },
      })
    transaction.put(inTenant(tenant, deployments, 'web'), web)
    transaction.put(inTenant(tenant, credentials, 'db'), {
      ...{ v: 1, label: 'db', namespace: 'resources', consumers: [consumer], versions, initial: 1, slot: 0 },
      rotation: {
        ...{ phase: 'cutover', old: 1, new: 2, since: TIME, startedBy: consumer, aborting: true },
        askedBy: {
          ...{ token: TOKEN, tokenName: 'ci', role: 'tenant-admin', onBehalf: false, requestId: 'req_1' },
        },
      },
    })
  })
  await store.fresh()
  const leadership = {
    owns: () => true,
    fenced: <T>(_tenant: unknown, decide: Parameters<typeof store.transact<T>>[0]) => store.transact(decide),
  }
  const onError = (error: unknown) => {
    throw error
  }
  await reconcileTenant({ store, clock, leadership, archiveRevisions: 5, onError }, tenant, ['db'])
  await store.fresh()
  const [entry] = await store.read(
    audit,
    store.keysOf(audit, tenant).map(({ key }) => key),
  )
  const [event] = await store.read(
    events,
    store.keysOf(events, tenant).map(({ key }) => key),
  )
  return { entry, event, web: store.get(inTenant(tenant, deployments, 'web'))?.record }
}

test('a consumer that the platform moves names the platform, and the token that started the rotation', async () => {
  const { entry, event, web } = await world(false)
  expect(web?.pins).toEqual({ db: 1 })
  expect(entry).toMatchObject({
    action: 'deployments:rotated',
    actor: { token: TOKEN, name: 'ci' },
    detail: { carriedOutBy: 'platform', startedBy: 'ci (tok_1)' },
  })
  expect(event?.message).toContain('The platform carried out the rotation that token ci (tok_1) started.')
})

test('a rotation whose token was revoked continues and reports that', async () => {
  const { entry, event, web } = await world(true)
  expect(web).toMatchObject({ pins: { db: 1 }, revision: 2 })
  expect(entry?.detail).toMatchObject({ carriedOutBy: 'platform', tokenState: 'revoked' })
  expect(event?.message).toContain('That token was revoked since')
})
