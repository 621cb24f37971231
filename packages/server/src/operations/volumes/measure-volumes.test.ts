import { asNodeId, asTenantId, asVolumeId, type Measurement } from '@holdfast/contract'
import { expect, test } from 'vitest'
import type { StoredVolume } from '../../store/records.ts'
import { type CallMeasure, createMeasurements } from './measure-volumes.ts'

const TENANT = asTenantId('00000000-0000-4000-8000-000000000000')
const MEASURED_AT = '2026-01-01T00:00:00.000Z'
const volumeId = (number: number) => asVolumeId(`vol_01JD000000000000000000000${number}`)

const volumeOn = (number: number, node: string): StoredVolume => ({
  v: 1,
  id: volumeId(number),
  spec: { name: `v${number}`, class: 'replicated', sizeBytes: 1, replicas: 0 },
  phase: 'Ready',
  reason: null,
  primary: { nodeId: asNodeId(node), epoch: 1, since: '' },
  copies: [],
  revision: 1,
  createdAt: '',
  slot: 0,
})
const measurement = (number: number, parts: Partial<Measurement> = {}): Measurement => ({
  volume: volumeId(number),
  usedBytes: number,
  measuredAt: MEASURED_AT,
  ...parts,
})

function setUp(answer: CallMeasure) {
  const calls: string[] = []
  let now = 0
  const measurements = createMeasurements(
    async (tenant, nodeId, method) => {
      calls.push(nodeId)
      return answer(tenant, nodeId, method)
    },
    () => now,
  )
  const used = async (...volumes: StoredVolume[]) => {
    const find = await measurements.measure(TENANT, volumes)
    return volumes.map((volume) => find(volume)?.usedBytes)
  }
  const lastKnown = (volume: StoredVolume) => measurements.lastKnown(TENANT, volume)?.usedBytes
  return { calls, used, lastKnown, wait: (ms: number) => (now += ms) }
}

test('each node is asked once for all its volumes, and its answer is kept for ten seconds', async () => {
  const { calls, used, wait } = setUp(async () => [measurement(1), measurement(2)])
  const three = [volumeOn(1, 'node-a'), volumeOn(2, 'node-a'), volumeOn(3, 'node-b')]
  expect(await used(...three)).toEqual([1, 2, undefined])
  expect(calls).toEqual(['node-a', 'node-b'])
  wait(9_999)
  await used(...three)
  expect(calls).toHaveLength(2)
  wait(1)
  await used(...three)
  expect(calls).toHaveLength(4)
})

test('requests at the same time share one call', async () => {
  const { calls, used } = setUp(async () => [measurement(1)])
  await Promise.all([used(volumeOn(1, 'node-a')), used(volumeOn(1, 'node-a'))])
  expect(calls).toEqual(['node-a'])
})

test('a node that does not answer, or fails, leaves its volumes unknown and is asked again', async () => {
  const { calls, used } = setUp(async (_tenant, nodeId) => {
    if (nodeId === 'node-b') throw new Error('closed')
    return 'unreachable'
  })
  expect(await used(volumeOn(1, 'node-a'), volumeOn(2, 'node-b'))).toEqual([undefined, undefined])
  await used(volumeOn(1, 'node-a'))
  expect(calls).toEqual(['node-a', 'node-b', 'node-a'])
})

test('a wrong measurement is unknown', async () => {
  const { used } = setUp(async () => [
    measurement(1, { usedBytes: -1 }),
    measurement(2, { measuredAt: 'now' }),
    measurement(3),
  ])
  const volumes = [1, 2, 3].map((number) => volumeOn(number, 'node-a'))
  expect(await used(...volumes)).toEqual([undefined, undefined, 3])
})

test('the last answer stays known when a node stops answering, and a wrong maximum is not accepted', async () => {
  let answer: Awaited<ReturnType<CallMeasure>> = [measurement(1)]
  const { used, lastKnown, wait } = setUp(async () => answer)
  const one = volumeOn(1, 'node-a')
  expect(lastKnown(one)).toBeUndefined()
  await used(one)
  wait(60_000)
  answer = 'unreachable'
  expect([await used(one), lastKnown(one)]).toEqual([[undefined], 1])
  answer = [measurement(1, { highest: { bytes: -1, since: '2026-01-01' } })]
  expect(await used(one)).toEqual([undefined])
})
