import type { TenantId } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { refusalHeaders } from '../../../api/reply.ts'
import { done } from '../../caller.ts'
import type { PlanDeps, PlanQuestion } from './plan.ts'
import { type DecidedWrite, withPlan } from './written.ts'

test('whoever asks for too many plans at once is told when to ask again, also by the header', async () => {
  const deps = { planAhead: async () => undefined } as unknown as PlanDeps
  const decided = done({ toPlan: {} as PlanQuestion } as DecidedWrite)
  const outcome = await withPlan(deps, 'tenant' as TenantId, decided)
  expect(outcome).toMatchObject({ ok: false, rejections: [{ code: 'rate_limited' }] })
  if (!outcome.ok) expect(refusalHeaders(outcome)).toEqual({ 'retry-after': '5' })
})
