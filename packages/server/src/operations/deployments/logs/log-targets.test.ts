import { type AssignmentId, asDeploymentUid, type NodeId, ownerOf } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { cachedRecords, someTenant } from '../../../store/records.fixture.ts'
import { placements } from '../../../store/records.ts'
import { type LogFilter, logTargets, previousTargets } from './log-targets.ts'

const TIME = '2026-01-01T00:00:00.000Z'
const tenant = someTenant()
const owner = ownerOf('deployment', asDeploymentUid('dep_1'))
const common = { nodeId: 'node_1' as NodeId, revision: 1 }
const running = { ...common, templateHash: 'a', desired: 'running' as const, assignedAt: TIME }

/** The targets of a deployment with two replicas, and a canary whose first replica was replaced. */
function targets(find: typeof logTargets, filter: LogFilter) {
  const { store, put } = cachedRecords(tenant)
  put(placements, owner, {
    ...{ v: 1, owner, name: 'web', revision: 1, everAssigned: true, reportedRefusals: '', reportedPhase: '' },
    templates: {},
    assignments: [
      { ...running, id: 'rep_1' as AssignmentId, replica: 1 },
      { ...running, id: 'rep_2' as AssignmentId, replica: 2 },
      { ...running, id: 'can_1' as AssignmentId, replica: 1, canary: true },
    ],
    formerly: [{ ...common, id: 'can_0' as AssignmentId, replica: 1, leftAt: TIME, canary: true }],
  })
  const found = find(store, tenant, owner, filter)
  return found.map(({ assignmentId, replica, canary }) => `${assignmentId} ${replica} ${canary ?? ''}`.trim())
}

test('the logs of a canary are marked beside those of the replica with its number', () => {
  expect(targets(logTargets, {})).toEqual(['rep_1 1', 'rep_2 2', 'can_1 1 true'])
  expect(targets(logTargets, { replica: 1 })).toEqual(['rep_1 1', 'can_1 1 true'])
})

test('the logs of a canary can be read alone, also those of its former replicas', () => {
  expect(targets(logTargets, { canary: true })).toEqual(['can_1 1 true'])
  expect(targets(logTargets, { canary: true, replica: 2 })).toEqual([])
  expect(targets(previousTargets, { canary: true })).toEqual(['can_0 1 true', 'can_1 1 true'])
})
