// Tests that a dry run, which makes as many decisions as the rollout, pauses for other work of the API process, and that
// the dry runs of one tenant run one after another.

import { randomUUID } from 'node:crypto'
import type { TenantId } from '@holdfast/contract'
import { afterEach, expect, test, vi } from 'vitest'
import { done } from '../../../operations/caller.ts'
import { deployments, type StoredDeployment } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { inTenant } from '../../../store/transaction.ts'
import { aRollout, tenant } from './cached-cluster.fixture.ts'
import { createRunDry } from './run-dry.ts'

const storing = (next: StoredDeployment, owner: TenantId) => (store: Store) =>
  store.transact((transaction) => {
    transaction.put(inTenant(owner, deployments, next.spec.name), next)
    return { kind: 'commit' as const, result: done(undefined) }
  })

/** Plans to store the deployment, which the cache has already. */
function planner({ deps, next }: ReturnType<typeof aRollout>) {
  const runDry = createRunDry(deps)
  return async (owner: TenantId = tenant) => {
    const outcome = await runDry(owner, deps.store, storing(next, owner))
    return outcome.ok ? outcome.value.change : undefined
  }
}

afterEach(() => void vi.restoreAllMocks())

test('a long dry run pauses for other work and covers every replica', async () => {
  const plan = planner(aRollout(100, 20))
  let turns = 0
  let isDone = false
  const count = (): void => {
    turns += 1
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const planned = await plan()
  isDone = true
  expect(turns).toBeGreaterThan(2)
  expect(planned?.steps.flatMap(({ replicas }) => replicas.map(({ replica }) => replica))).toHaveLength(100)
  expect(planned?.steps.every(({ kind }) => kind === 'replace')).toBe(true)
  expect(planned?.steps[0]?.replicas[0]?.why).toMatch(/^of 20 nodes that fit/)
})

test('a tenant with too many dry runs is rejected, and does not delay other tenants', async () => {
  const plan = planner(aRollout(3, 20))
  // With a frozen clock the load of the machine cannot cause a pause.
  vi.spyOn(performance, 'now').mockReturnValue(0)
  const asked = Array.from({ length: 12 }, () => plan())
  const other = plan(randomUUID() as TenantId)
  const first = await Promise.race([other.then(() => 'other'), Promise.all(asked).then(() => 'asked')])
  expect(first).toBe('other')
  const made = (await Promise.all(asked)).filter((each) => each !== undefined)
  expect(made).toHaveLength(8)
  expect(await plan()).toEqual(made[0])
})
