import { asAssignmentId, asJobId, asNodeId, asTenantId } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { aJob } from '../../store/records.fixture.ts'
import { jobs, nodes, type StoredJob } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { getNode } from '../nodes/read-nodes.ts'

const TENANT = asTenantId('00000000-0000-4000-8000-000000000001')
const NODE = asNodeId('node_01JCPZ0000000000000000000A')
const runs = { current: asAssignmentId('rep_1'), nodeId: NODE, deadlineAt: 'T' }

/** The reasons why a drained node with the given jobs waits. */
async function blockers(found: readonly StoredJob[], draining = true) {
  const node = { id: NODE, name: 'n1', draining, schedulable: !draining }
  const records = new Map<unknown, readonly object[]>([
    [jobs, found],
    [nodes, [node]],
  ])
  const list = (kind: unknown) => (records.get(kind) ?? []).map((record) => ({ record, modRevision: 1 }))
  const get = ({ collection }: { readonly collection: unknown }) => list(collection)[0]
  const store = { list, get, fresh: async () => {} } as unknown as Store
  const residency = { enforcement: true, regions: {} }
  const heard = { heardAt: () => undefined, silence: { unreachableMs: 1, failedMs: 2 } }
  const read = await getNode({ store, residency, clock: { now: () => 0 }, ...heard }, TENANT, NODE)
  return read.ok ? read.value.node.drainBlockedBy : read.rejections
}

test('a drain names the job that it waits for, and its remedies', async () => {
  const { id } = aJob()
  expect(await blockers([aJob({}, runs)])).toEqual([
    `job migrate runs there: wait until it ends, by T at the latest, or cancel it with holdfast job cancel ${id}`,
  ])
})

test('a drain does not name jobs that ended, wait, or run elsewhere', async () => {
  const elsewhere = { ...runs, nodeId: asNodeId('node_01JCPZ0000000000000000000B') }
  const found = [aJob({}, { nodeId: NODE, phase: 'succeeded' }), aJob({}, elsewhere)]
  expect(await blockers(found)).toBeUndefined()
  expect(await blockers([aJob({}, runs)], false)).toBeUndefined()
})

test('a drain names twenty jobs and counts the others', async () => {
  const found = Array.from({ length: 22 }, (_, at) => aJob({}, { ...runs, id: asJobId(`job_${at}`) }))
  const named = await blockers(found)
  expect([named?.length, named?.at(-1)]).toEqual([21, '2 more jobs run there'])
})
