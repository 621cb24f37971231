import { asNodeId, asTenantId, asVolumeId } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { tenants, volumes } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { createLagSampler, lagQuantile } from './sample-lag.ts'

const [A, B, C] = [asNodeId('node_a'), asNodeId('node_b'), asNodeId('node_c')]
const COPIES = [
  { nodeId: A, role: 'primary' },
  { nodeId: B, role: 'replica' },
  { nodeId: C, role: 'replica' },
]
const volume = (id: string, over: object = {}) => ({
  id: asVolumeId(id),
  phase: 'Ready',
  copies: COPIES,
  ...over,
})

function world(stored: readonly object[], ages: { [id: string]: readonly (number | undefined)[] }) {
  const records = new Map<unknown, readonly object[]>([
    [tenants, [{ id: asTenantId('00000000-0000-4000-8000-000000000001') }]],
    [volumes, stored],
  ])
  const list = (kind: unknown) => (records.get(kind) ?? []).map((record) => ({ record }))
  const state = { nowMs: 0, samples: 0 }
  const read = createLagSampler({
    store: { list } as unknown as Pick<Store, 'list'>,
    measurements: {
      async measure() {
        state.samples += 1
        return ({ id }) => {
          const known = ages[id]
          if (known === undefined) return undefined
          const replicas = known.map((age, at) => ({
            nodeId: [B, C][at] ?? A,
            ...(age !== undefined && { age }),
          }))
          return { volume: id, usedBytes: 0, measuredAt: '', replicas }
        }
      },
    },
    nowMs: () => state.nowMs,
  })
  return { read, state }
}
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('samples the lag of every replica, and counts those whose lag is not known', async () => {
  const stored = [volume('one'), volume('two'), volume('silent'), volume('gone', { phase: 'Deleting' })]
  const { read } = world(stored, { one: [3, 70], two: [1, undefined], gone: [500, 500] })
  expect(read()).toBeUndefined()
  await turn()
  const sample = read()
  expect(sample).toEqual({ seconds: [1, 3, 70], unknown: 3 })
  expect(sample && [0.5, 0.99, 1].map((share) => lagQuantile(sample, share))).toEqual([3, 70, 70])
})

test('asks the nodes at most every 30 seconds, however often it is read', async () => {
  const { read, state } = world([volume('one')], { one: [3, 4] })
  for (const nowMs of [0, 1_000, 29_999]) {
    state.nowMs = nowMs
    read()
    await turn()
  }
  expect(state.samples).toBe(1)
  state.nowMs = 30_000
  read()
  expect(state.samples).toBe(2)
})

test('the lag of no replicas is 0', () => {
  expect(lagQuantile({ seconds: [], unknown: 0 }, 1)).toBe(0)
})
