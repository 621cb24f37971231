import { expect, test } from 'vitest'
import { createUsageRing, slotOf, USAGE_SLOTS, USAGE_STEP_MS } from './usage-ring.ts'

const cpu = (ring: ReturnType<typeof createUsageRing>, first: number, last: number) =>
  ring.column(0, first, last)

test('a slot without a sample is null, and a sample of 0 is 0', () => {
  const ring = createUsageRing(5)
  expect([ring.newest, cpu(ring, 0, 1)]).toEqual([undefined, [null, null]])
  ring.set(10, [7, 100])
  ring.set(12, [0, undefined])
  expect(cpu(ring, 9, 13)).toEqual([null, 7, null, 0, null])
  expect(ring.column(1, 10, 12)).toEqual([100, null, null])
  expect(ring.column(2, 10, 12)).toEqual([null, null, null])
})

test('samples of an hour ago are gone after a gap', () => {
  const ring = createUsageRing(5)
  for (let slot = 0; slot < 5; slot += 1) ring.set(slot, [slot])
  ring.set(7, [7])
  expect(cpu(ring, 0, 7)).toEqual([null, null, null, 3, 4, null, null, 7])
  ring.set(100, [100])
  expect(cpu(ring, 96, 100)).toEqual([null, null, null, null, 100])
})

test('an older sample fills an empty slot and replaces none', () => {
  const ring = createUsageRing(5)
  ring.set(3, [3])
  ring.fill(3, [30])
  ring.fill(1, [1])
  ring.fill(-2, [2])
  expect(cpu(ring, -2, 3)).toEqual([null, null, null, 1, null, 3])
})

test('slots before the start of the process are kept, too', () => {
  const ring = createUsageRing(5)
  for (const slot of [-3, -2, -1, 0]) ring.fill(slot, [Math.abs(slot)])
  expect(cpu(ring, -3, 0)).toEqual([3, 2, 1, 0])
})

test('a mean leaves missing samples out and is unknown without any', () => {
  const ring = createUsageRing()
  ring.set(1, [100, 5])
  ring.set(3, [200])
  expect([ring.mean(0, 1, 6), ring.mean(1, 1, 6), ring.mean(0, 2, 2)]).toEqual([150, 5, undefined])
})

test('a ring keeps an hour of samples of large machines to a millionth', () => {
  const ring = createUsageRing()
  const bytes = 3_123_456_789_012
  for (let slot = 0; slot <= USAGE_SLOTS; slot += 1) ring.set(slot, [slot, bytes])
  expect(cpu(ring, 0, USAGE_SLOTS).filter((value) => value !== null)).toHaveLength(USAGE_SLOTS)
  expect(Math.abs((ring.column(1, 5, 5)[0] ?? 0) - bytes) / bytes).toBeLessThan(1e-6)
})

test('samples a step apart, a little more or less, leave no slot empty', () => {
  const slots: number[] = []
  let last: ReturnType<typeof slotOf> | undefined
  for (let round = 0; round < 1000; round += 1) {
    const jitter = ((round * 7919) % 41) - 20
    last = slotOf(last, 9995 + round * USAGE_STEP_MS + jitter)
    slots.push(last.slot)
  }
  expect(slots).toEqual(slots.map((_, index) => (slots[0] ?? 0) + index))
})

test('two samples within half a step share a slot', () => {
  const first = slotOf(undefined, 20_000)
  expect([first.slot, slotOf(first, 24_000).slot, slotOf(first, 25_000).slot]).toEqual([2, 2, 3])
})
