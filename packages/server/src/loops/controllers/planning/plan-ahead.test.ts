// Tests that a dry run, which makes as many decisions as the rollout, pauses for other work of the API process, and that
// the dry runs of one tenant run one after another.

import { randomUUID } from 'node:crypto'
import type { TenantId } from '@holdfast/contract'
import { afterEach, expect, test, vi } from 'vitest'
import type { StoredDeployment } from '../../../store/records.ts'
import { aRollout, tenant } from './cached-cluster.fixture.ts'
import { createPlanner } from './plan-ahead.ts'

const question = (next: StoredDeployment) => ({ stored: undefined, next, restart: false })

afterEach(() => void vi.restoreAllMocks())

test('a long dry run pauses for other work and covers every replica', async () => {
  const { deps, next } = aRollout(100, 20)
  let turns = 0
  let isDone = false
  const count = (): void => {
    turns += 1
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const planned = await createPlanner(deps)(tenant, question(next))
  isDone = true
  expect(turns).toBeGreaterThan(2)
  expect(planned?.steps.flatMap(({ replicas }) => replicas.map(({ replica }) => replica))).toHaveLength(100)
  expect(planned?.steps.every(({ kind }) => kind === 'replace')).toBe(true)
  expect(planned?.steps[0]?.replicas[0]?.why).toMatch(/^of 20 nodes that fit/)
})

test('a tenant with too many dry runs is rejected, and does not delay other tenants', async () => {
  const { deps, next } = aRollout(3, 20)
  const planAhead = createPlanner(deps)
  // With a frozen clock the load of the machine cannot cause a pause.
  vi.spyOn(performance, 'now').mockReturnValue(0)
  const asked = Array.from({ length: 12 }, () => planAhead(tenant, question(next)))
  const other = planAhead(randomUUID() as TenantId, question(next))
  const first = await Promise.race([other.then(() => 'other'), Promise.all(asked).then(() => 'asked')])
  expect(first).toBe('other')
  const made = (await Promise.all(asked)).filter((each) => each !== undefined)
  expect(made).toHaveLength(8)
  expect(await planAhead(tenant, question(next))).toEqual(made[0])
})
