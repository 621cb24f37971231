import type { DeploymentMetrics, NodeId, ReplicaMetrics } from '@holdfast/contract'
import { expect, test } from 'vitest'
import {
  byCpu,
  bytes,
  deploymentRow,
  millis,
  percent,
  perSecond,
  readEach,
  replicaRows,
} from './usage-rows.ts'

const replica = (number: number, cpuMillis: number | null): ReplicaMetrics => ({
  deployment: 'web',
  replica: number,
  revision: 1,
  node: 'n1',
  nodeId: 'node_1' as NodeId,
  ready: true,
  cpuMillis: [cpuMillis],
  memoryBytes: [null],
  rx: [5, null],
  tx: [null, null],
  lastMinute: { cpuMillis, memoryBytes: null },
  throttledPercent: null,
  pids: null,
})

const metrics = (series: ReplicaMetrics[]): DeploymentMetrics => ({
  step: 10,
  from: '2026-01-01T00:00:00.000Z',
  unreachable: [],
  lastMinute: { ready: 3, measured: 2, cpuMillis: 150, memoryBytes: null },
  series,
})

test('a deployment has the sum of its measured replicas and the mean per ready replica', () => {
  expect(deploymentRow('web', metrics([replica(1, 100), replica(2, 200), replica(3, null)]))).toEqual({
    name: 'web',
    ready: 3,
    measured: 2,
    cpuMillis: 300,
    memoryBytes: null,
    cpuMillisPerReplica: 150,
    memoryBytesPerReplica: null,
  })
})

test('a replica has its newest network values', () => {
  expect(replicaRows(metrics([replica(1, 100)]))).toMatchObject([
    { cpuMillis: 100, memoryBytes: null, rx: 5, tx: null },
  ])
})

test('the highest CPU usage is first and an unknown one last', () => {
  const rows = byCpu([{ cpuMillis: null }, { cpuMillis: 0 }, { cpuMillis: 5 }])
  expect(rows.map(({ cpuMillis }) => cpuMillis)).toEqual([5, 0, null])
})

test('an unknown value is printed as nothing, and 0 as 0', () => {
  expect([millis(null), bytes(null), perSecond(null), percent(null, 5), percent(5, null)]).toEqual([
    '',
    '',
    '',
    '',
    '',
  ])
  expect([millis(0), bytes(0), perSecond(2048), percent(1, 4)]).toEqual(['0m', '0B', '2KiB/s', '25%'])
})

test('an object that was removed since it was listed is left out, another failure ends the list', async () => {
  const rejected = (status: number) => ({
    ok: false as const,
    failure: { kind: 'rejected' as const, status, rejections: [] },
  })
  const read = async (status: number) =>
    status === 200 ? { ok: true as const, value: 'm' } : rejected(status)
  expect(await readEach([200, 404, 200], read)).toEqual({
    ok: true,
    value: [
      [200, 'm'],
      [200, 'm'],
    ],
  })
  expect(await readEach([200, 503], read)).toMatchObject({ ok: false })
})
