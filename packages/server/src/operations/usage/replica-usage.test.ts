import type { Assignment, AssignmentId, DeploymentUid, NodeId } from '@holdfast/contract'
import { ownerOf } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { cachedRecords, someTenant } from '../../store/records.fixture.ts'
import { nodes, observations } from '../../store/records.ts'
import { measureReplicas } from './replica-usage.ts'

const TIME = '2026-01-01T00:00:00.000Z'
const tenant = someTenant()
const nodeId = 'node_00000000000000000000000001' as NodeId
const assignment = (id: string, over: Partial<Assignment> = {}): Assignment => ({
  id: id as AssignmentId,
  replica: 1,
  nodeId,
  revision: 1,
  templateHash: 'hash',
  desired: 'running',
  assignedAt: TIME,
  ...over,
})

function ready(...assignments: readonly Assignment[]) {
  const { store, put } = cachedRecords(tenant)
  put(nodes, nodeId, {
    ...{ v: 1, id: nodeId, name: 'n1', generation: 1, publicKey: '', encryptionKey: '', labels: {} },
    ...{ attested: {}, controlPlane: false, schedulable: true, status: 'ready', statusSince: TIME },
    ...{ createdAt: TIME, slot: 0, capacity: { cpuMillis: 4_000, memoryBytes: 2 ** 33 } },
    engine: { version: '', apiVersion: '' },
    session: { replica: null, epoch: 1, bootId: 'boot' },
  })
  const owner = ownerOf('deployment', 'dep_0' as DeploymentUid)
  for (const { id } of assignments)
    put(observations, id, {
      ...{ v: 1, assignmentId: id, generation: 1, seq: 1, state: 'ready', containerId: 'c', reason: '' },
      ...{ startedAt: null, exitCode: null, restarts: 0, gone: false, owner, nodeId, at: TIME },
    })
  return store
}

test('the mean usage of a deployment leaves out the replicas of its canary, which are listed', () => {
  const replicas = [assignment('rep_1'), assignment('rep_2', { canary: true })]
  const series = replicas.map(({ id }, at) => ({
    ...{ id, cpuMillis: [], memoryBytes: [], rx: [], tx: [] },
    lastMinute: { cpuMillis: 100 * (at + 1), memoryBytes: 1_000 * (at + 1) },
  }))
  const node = {
    ...{ nodeId, cpuMillis: [], memoryBytes: [], loadMillis: [], diskUsedBytes: [] },
    ...{ lastMinute: {}, unread: 0, omitted: 0, series },
  }
  const answer = { nodes: new Map([[nodeId, node]]), unreachable: [] }
  const usage = measureReplicas(ready(...replicas), tenant, replicas, answer)
  expect(usage.mean).toMatchObject({ ready: 1, measured: 1, cpuMillis: 100, memoryBytes: 1_000 })
  expect(usage.replicas.map(({ isReady }) => isReady)).toEqual([true, true])
})
