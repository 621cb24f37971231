import { asNodeId, asVolumeId, type DesiredCopy, type VolumeId } from '@holdfast/contract'
import { afterEach, expect, test, vi } from 'vitest'
import { createLiveView } from './live-copies.ts'

const VOLUME = asVolumeId('vol_01JCPZ0000000000000000000A')
const RELEASED = {
  to: asNodeId('node_01JCPZ0000000000000000000A'),
  checkpoint: { epoch: 1, number: 1 },
}
const none: ReadonlyMap<VolumeId, DesiredCopy> = new Map()

afterEach(() => {
  vi.useRealTimers()
})

test('rejects a release after its deadline if the pool hangs', async () => {
  vi.useFakeTimers()
  const live = createLiveView(() => new Promise(() => {}), none)
  const outcome = expect(live.release(VOLUME, RELEASED)).rejects.toThrow('was not written within 30000 ms')
  await vi.advanceTimersByTimeAsync(30_000)
  await outcome
  expect(vi.getTimerCount()).toBe(0)
})

test('rejects a release at once if the pass after it could not write it', async () => {
  const live = createLiveView(async () => {}, none)
  await expect(live.release(VOLUME, RELEASED)).rejects.toThrow('was not written')
})
