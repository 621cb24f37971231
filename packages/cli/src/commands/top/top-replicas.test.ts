import type { NodeId } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { REPLICAS } from './top-replicas.ts'
import type { ReplicaRow } from './usage-rows.ts'

const row: ReplicaRow = {
  ...{ deployment: 'web', replica: 1, revision: 2, node: 'n1', ready: true, cpuMillis: 1, memoryBytes: 1 },
  ...{ nodeId: 'node_1' as NodeId, throttledPercent: null, rx: null, tx: null, pids: null },
}

test('top replicas names a replica of a canary unlike the replica of the same number', () => {
  expect(REPLICAS.nameOf(row)).toBe('web/1/2')
  expect(REPLICAS.nameOf({ ...row, canary: true })).toBe('web/1/2/canary')
})
