import { expect, test } from 'vitest'
import { someTenant } from '../../../store/records.fixture.ts'
import { tenants } from '../../../store/records.ts'
import { type Controller, tenantOf } from '../controller.ts'
import { createDelayedQueue } from './delayed-queue.ts'
import { noticeChange } from './notice-changes.ts'

test('a removed tenant is forgotten', () => {
  const store = { get: () => undefined, list: () => [] }
  const deps = { store, quotas: { limit: () => 1 }, clock: { now: () => 0 } } as unknown as Controller['deps']
  const controller: Controller = {
    deps,
    tenants: new Map(),
    queue: { add: () => {} },
    due: createDelayedQueue(),
  }
  const [gone, other] = [someTenant(), someTenant()]
  tenantOf(controller, gone)
  const kept = tenantOf(controller, other)
  noticeChange(controller, { kind: 'delete', key: { folder: tenants.folder, id: gone } })
  expect([...controller.tenants]).toEqual([[other, kept]])
})
