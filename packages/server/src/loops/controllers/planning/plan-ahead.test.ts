// A plan takes as many decisions as the rollout, in the process that answers everybody: others have their turns meanwhile,
// and one tenant's plans are made one after another.

import { randomUUID } from 'node:crypto'
import type { TenantId } from '@holdfast/contract'
import { afterEach, expect, test, vi } from 'vitest'
import type { StoredDeployment } from '../../../store/records.ts'
import { aRollout, tenant } from './cached-cluster.fixture.ts'
import { createPlanner } from './plan-ahead.ts'

const question = (next: StoredDeployment) => ({ stored: undefined, next, restart: false })

afterEach(() => void vi.restoreAllMocks())

test('a long plan leaves others their turns, and is whole', async () => {
  const { deps, next } = aRollout(100, 20)
  let turns = 0
  let isDone = false
  const count = (): void => {
    turns += 1
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const foreseen = await createPlanner(deps)(tenant, question(next))
  isDone = true
  expect(turns).toBeGreaterThan(2)
  expect(foreseen?.steps.flatMap(({ replicas }) => replicas.map(({ replica }) => replica))).toHaveLength(100)
  expect(foreseen?.steps.every(({ kind }) => kind === 'replace')).toBe(true)
  expect(foreseen?.steps[0]?.replicas[0]?.why).toMatch(/^of 20 nodes that fit/)
})

test('who asks for many at once is told so, and keeps no other tenant waiting', async () => {
  const { deps, next } = aRollout(3, 20)
  const planAhead = createPlanner(deps)
  // A loaded machine must not decide which of them pauses.
  vi.spyOn(performance, 'now').mockReturnValue(0)
  const asked = Array.from({ length: 12 }, () => planAhead(tenant, question(next)))
  const other = planAhead(randomUUID() as TenantId, question(next))
  const first = await Promise.race([other.then(() => 'other'), Promise.all(asked).then(() => 'asked')])
  expect(first).toBe('other')
  const made = (await Promise.all(asked)).filter((each) => each !== undefined)
  expect(made).toHaveLength(8)
  expect(await planAhead(tenant, question(next))).toEqual(made[0])
})
