import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { claimSlot, releaseSlot } from './lab-slot.ts'

test('labs that are claimed at the same time get different slots', async () => {
  const slots = await Promise.all([claimSlot(), claimSlot(), claimSlot()])
  expect(new Set(slots.map((slot) => slot.prefix)).size).toBe(3)
  for (const slot of slots) releaseSlot(slot)
  expect(slots.map((slot) => slot.folder).filter(existsSync)).toEqual([])
})

test('a released slot cannot be released again under its next holder', async () => {
  const first = await claimSlot()
  releaseSlot(first)
  const second = await claimSlot()
  releaseSlot(first)
  expect(existsSync(second.folder)).toBe(true)
  expect((await claimSlotAndRelease()).prefix).not.toBe(second.prefix)
  releaseSlot(second)
  expect(existsSync(second.folder)).toBe(false)
})

async function claimSlotAndRelease() {
  const slot = await claimSlot()
  releaseSlot(slot)
  return slot
}
