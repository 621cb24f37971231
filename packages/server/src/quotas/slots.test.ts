import { expect, test } from 'vitest'
import type { Change } from '../store/cache/record-index.ts'
import { someTenant } from '../store/records.fixture.ts'
import { createSlotAllocator, type SlotChoice } from './slots.ts'

const tenant = someTenant()
const KIND = 'deployments'

function allocator({ used = [] as string[], startAt = 0 } = {}) {
  const listeners: ((changes: readonly Change[]) => void)[] = []
  const keys = used.map((id) => ({ id, key: '', createRevision: 1, bytes: 0 }))
  const slots = createSlotAllocator(
    {
      keysOf: () => keys,
      subscribe: (listener) => {
        listeners.push(listener)
        return () => {}
      },
    },
    () => startAt,
  )
  const notify = (kind: Change['kind'], id: string, folder = 'slot') => {
    for (const listener of listeners) listener([{ kind, key: { tenant, folder, id } }])
  }
  return { choose: (limit: number) => slots.choose(tenant, KIND, limit), slots, notify }
}

const slotOf = (choice: SlotChoice) => (choice.kind === 'free' ? choice.slot : choice.kind)

test('gives each caller another free slot from the start index on, then lets it wait', () => {
  const { choose } = allocator({ used: [`${KIND}/1`, 'volumes/0'], startAt: 3 })
  expect([choose(4), choose(4), choose(4), choose(4)].map(slotOf)).toEqual([3, 0, 2, 'busy'])
})

test('reports full only when every slot is held by a record', () => {
  const { choose, slots, notify } = allocator({ used: [`${KIND}/0`] })
  expect(slotOf(choose(2))).toBe(1)
  expect(slotOf(choose(2))).toBe('busy')
  notify('put', `${KIND}/1`)
  expect(slotOf(choose(2))).toBe('full')
  expect(slots.used(tenant, KIND)).toBe(2)
  slots.release(tenant, KIND, 1)
  notify('delete', `${KIND}/0`)
  expect(slotOf(choose(2))).toBe(0)
})

test('wakes waiting callers when a slot is decided', async () => {
  const { choose, slots } = allocator()
  expect(slotOf(choose(1))).toBe(0)
  const [first, second] = [choose(1), choose(1)]
  slots.release(tenant, KIND, 0)
  for (const choice of [first, second]) if (choice.kind === 'busy') await choice.until
  expect(slotOf(choose(1))).toBe(0)
})

test('reports full for a limit of zero', () => {
  expect(slotOf(allocator().choose(0))).toBe('full')
})

test('ignores other records, other quotas and slots that are no number', () => {
  const { choose, slots, notify } = allocator({ used: [`${KIND}/x`] })
  notify('put', `${KIND}/0`, 'dep')
  notify('put', 'volumes/0')
  notify('put', `${KIND}/y`)
  expect(slots.used(tenant, KIND)).toBe(0)
  expect(slotOf(choose(1))).toBe(0)
})

test('counts records in higher slots under a lowered limit, also for concurrent callers', () => {
  const { choose, notify } = allocator({ used: [`${KIND}/7`, `${KIND}/8`, `${KIND}/9`] })
  expect([choose(5), choose(5), choose(5)].map(slotOf)).toEqual([0, 1, 'busy'])
  notify('delete', `${KIND}/7`)
  expect([choose(5), choose(5)].map(slotOf)).toEqual([2, 'busy'])
})

test('counts a held slot beyond a lowered limit once', () => {
  // Limit 5, slots 3 and 9 in use: slot 9 is beyond the limit, so four slots are open, and slot 3 is one of those.
  const { choose } = allocator({ used: [`${KIND}/3`, `${KIND}/9`] })
  expect([choose(5), choose(5), choose(5), choose(5)].map(slotOf)).toEqual([0, 1, 2, 'busy'])
})
