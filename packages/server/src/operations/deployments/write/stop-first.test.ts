// Tests that a write announces the stop-first that the containers quota forces.

import type { Json, QuotaKind, TokenId } from '@holdfast/contract'
import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import {
  assignmentIdOf,
  nodeId,
  openOver,
  putPlacement,
  putTenant,
  uidOf,
  write,
} from '@holdfast/simulation/memory/store-over-memory.fixture'
import { deploymentDeps } from '@holdfast/testkit/secrets/deployment-deps'
import { afterEach, expect, test } from 'vitest'
import { targetOf } from '../../../scheduling/revision-target.ts'
import { aDeployment, someTenant } from '../../../store/records.fixture.ts'
import { deployments, tokens } from '../../../store/records.ts'
import { globally, inTenant } from '../../../store/transaction.ts'
import type { Caller, Outcome } from '../../caller.ts'
import { restartDeployment } from './restart-deployment.ts'
import { updateDeployment } from './update-deployment.ts'
import type { Written } from './written.ts'

const NO_SECRETS = {
  currentVersion: () => Promise.reject(new Error('no secrets here')),
  writeVersion: () => Promise.reject(new Error('no secrets here')),
  destroyVersion: () => Promise.reject(new Error('no secrets here')),
}
const TOKEN = 'tok_1' as TokenId
const TIME = '2026-01-01T00:00:00.000Z'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** A tenant with one deployment of one placed replica, and a quota of containers. */
async function world(limit: number) {
  const store = await openOver(createMemoryKeyspace())
  ends.push(() => store.close())
  const tenant = someTenant()
  const web = aDeployment('web', { uid: uidOf('web'), digest: `sha256:${'a'.repeat(64)}` })
  const templateHash = targetOf(web)?.templateHash ?? ''
  const replica = { id: assignmentIdOf('web'), replica: 1, nodeId, revision: 1, templateHash }
  await write(store, (transaction) => {
    putTenant(transaction, tenant)
    transaction.put(globally(tokens, TOKEN), {
      ...{ v: 1, id: TOKEN, name: 't', role: 'developer', expiresAt: '', createdAt: '' },
      ...{ tenant, secretHash: '' },
    })
    transaction.put(inTenant(tenant, deployments, 'web'), web)
    putPlacement(transaction, tenant, 'web', {
      assignments: [{ ...replica, desired: 'running', assignedAt: TIME }],
    })
  })
  await store.fresh()
  const quotas = {
    limit: (_: unknown, kind: QuotaKind) => (kind === 'containers' ? limit : 2 ** 30),
    list: () => ({ items: [] }),
  }
  const deps = { ...deploymentDeps(store, NO_SECRETS), quotas }
  const caller: Caller = { tenant, token: TOKEN, role: 'developer', onBehalf: false, requestId: 'r' }
  const put = (sent: Json) => updateDeployment(deps, caller, 'web', sent, { ifMatch: undefined })
  const restart = () =>
    restartDeployment(deps, caller, 'web', {
      ...{ ifMatch: undefined, idempotency: undefined },
      answerOf: (body) => ({ status: 200, body }),
    })
  return { put, restart }
}

const ANNOUNCED = {
  code: 'update_order_stop_first',
  field: 'update.order',
  from: 'start-first',
  to: 'stop-first',
}

const announced = (outcome: Outcome<Written>) => {
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.rejections))
  return outcome.value.alterations
}

test('an update and a restart announce that the quota stops old replicas first', async () => {
  const { put, restart } = await world(1)
  expect(announced(await put({ environment: { A: '1' } }))).toMatchObject([ANNOUNCED])
  const [alteration] = announced(await restart())
  expect(alteration).toMatchObject(ANNOUNCED)
  expect(alteration?.why).toContain('1 of 1 containers')
})

test.each([
  ['has room for a successor', 2, { environment: { A: '1' } }],
  ['is full, but nothing is recreated', 1, { update: { failureAction: 'pause' } }],
  ['is full, but the spec says stop-first', 1, { environment: { A: '1' }, update: { order: 'stop-first' } }],
])('nothing is announced if the quota %s', async (_, limit, sent) => {
  const { put } = await world(limit)
  const codes = announced(await put(sent)).map(({ code }) => code)
  expect(codes).not.toContain('update_order_stop_first')
})
