import { asTokenId, consumerOf } from '@holdfast/contract'
import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import { openOver, putTenant, write } from '@holdfast/simulation/memory/store-over-memory.fixture'
import { expect, onTestFinished, test } from 'vitest'
import { aDeployment, aSpec, someTenant } from '../../../store/records.fixture.ts'
import { credentials, deployments, tokens } from '../../../store/records.ts'
import { globally, inTenant } from '../../../store/transaction.ts'
import { judgeRotation } from './rotate-judge.ts'
import type { RotateDeps } from './rotate-request.ts'

const TOKEN = asTokenId('tok_01JCPZ0000000000000000000A')
const secrets = [{ name: 'DB', vault_path: 'deployments/db', anchor: 'external', rotation: 'restart' }]

test('a cutover passes a full byte quota, because it adds no bytes to the spec', async () => {
  const store = await openOver(createMemoryKeyspace())
  onTestFinished(() => store.close())
  const tenant = someTenant()
  const web = consumerOf('deployment', 'web')
  await write(store, (transaction) => {
    putTenant(transaction, tenant)
    transaction.put(globally(tokens, TOKEN), {
      ...{ v: 1, id: TOKEN, name: 't', role: 'secrets-admin', expiresAt: '', createdAt: '' },
      ...{ tenant, secretHash: '' },
    })
    const spec = { ...aSpec('web'), secrets }
    transaction.put(inTenant(tenant, deployments, 'web'), aDeployment('web', { spec, pins: { db: 1 } }))
    transaction.put(inTenant(tenant, credentials, 'db'), {
      ...{ v: 1, label: 'db', namespace: 'deployments', consumers: [web], initial: 1, slot: null },
      versions: [1, 2].map((version) => ({ version, keys: ['a'], createdAt: '' })),
      rotation: {
        ...{ phase: 'overlap', old: 1, new: 2, since: '', startedBy: web },
        askedBy: { token: TOKEN, role: 'secrets-admin', onBehalf: false, requestId: '' },
      },
    })
  })
  await store.fresh()
  const deps = { store, quotas: { limit: () => 1 } } as unknown as RotateDeps
  const caller = { tenant, token: TOKEN, role: 'secrets-admin', onBehalf: false, requestId: 'r' } as const
  const body = { step: 'cutover', secret: undefined, material: undefined }
  const judged = await store.transact((transaction) => ({
    kind: 'abort' as const,
    result: judgeRotation(deps, transaction, { caller, path: 'web', body }),
  }))
  expect(judged).toMatchObject({ ok: true, value: { step: 'cutover' } })
})
