import type { QuotaKind, TenantId } from '@holdfast/contract'
import { QUOTA_KINDS } from '@holdfast/contract'
import { expect, test } from 'vitest'
import type { Store } from '../store/store.ts'
import { realClock } from '../system-clock.ts'
import { createQuotas, type QuotaDefaults } from './quotas.ts'
import type { SlotAllocator } from './slots.ts'

const TENANT = '00000000-0000-4000-8000-000000000001' as TenantId

function limitAt(pressure: number, kind: QuotaKind): number {
  const defaults = Object.fromEntries(QUOTA_KINDS.map((name) => [name, 1000])) as QuotaDefaults
  const nothing = { get: () => undefined } as unknown as Store
  return createQuotas(nothing, {} as SlotAllocator, defaults, () => pressure, realClock).limit(TENANT, kind)
}

test.each([
  [0, 1000],
  [0.7, 1000],
  [0.8, 500],
  [0.9, 0],
  [1.1, 0],
])('an etcd that is full to %d leaves a byte quota of %d', (pressure, limit) => {
  expect(Math.round(limitAt(pressure, 'stored_bytes'))).toBeCloseTo(limit, -1)
})

test('other quotas do not shrink', () => {
  expect(limitAt(0.95, 'deployments')).toBe(1000)
})
