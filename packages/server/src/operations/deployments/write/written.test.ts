import type { TenantId } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { rejectionHeaders } from '../../../api/reply.ts'
import { done } from '../../caller.ts'
import type { PlanDeps, PlanQuestion } from './plan.ts'
import { type DecidedWrite, withPlan } from './written.ts'

test('rejects too many concurrent plans with a Retry-After header', async () => {
  const deps = { planAhead: async () => undefined } as unknown as PlanDeps
  const decided = done({ toPlan: {} as PlanQuestion } as DecidedWrite)
  const outcome = await withPlan(deps, 'tenant' as TenantId, decided)
  expect(outcome).toMatchObject({ ok: false, rejections: [{ code: 'rate_limited' }] })
  if (!outcome.ok) expect(rejectionHeaders(outcome)).toEqual({ 'retry-after': '5' })
})
