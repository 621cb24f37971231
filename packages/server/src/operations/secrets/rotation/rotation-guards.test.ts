import {
  type Assignment,
  type AssignmentId,
  type ContainerTemplate,
  consumerOf,
  type DeploymentUid,
  type NodeId,
  ownerOf,
} from '@holdfast/contract'
import { expect, test } from 'vitest'
import { aCanary, aDeployment, aSpec, cachedRecords, someTenant } from '../../../store/records.fixture.ts'
import { credentials, deployments, observations, placements, proofKeys } from '../../../store/records.ts'
import { containerProof } from './proof.ts'
import { gatherRotation } from './rotation-guards.ts'

const TIME = '2026-01-01T00:00:00.000Z'
const KEY = 'a2V5'
const tenant = someTenant()
const nodeId = 'node_00000000000000000000000001' as NodeId
const owner = ownerOf('deployment', 'dep_0' as DeploymentUid)
const REFERENCE = { name: 'DB', namespace: 'deployments', label: 'database' }
const credential = {
  ...{ v: 1, label: 'database', namespace: 'deployments', initial: 1, slot: 0 },
  consumers: [consumerOf('deployment', 'web')],
  versions: [1, 2].map((version) => ({ version, keys: ['password'], createdAt: TIME })),
}
const template = (version: number): ContainerTemplate => ({
  ...{ name: 'web', image: 'i', environment: {}, labels: {}, stopGracePeriod: '10s' },
  secrets: [{ ...REFERENCE, version }],
})
const assignment = (id: string, version: number, over: Partial<Assignment> = {}): Assignment => ({
  ...{ id: id as AssignmentId, replica: 1, nodeId, revision: 1, desired: 'running', assignedAt: TIME },
  templateHash: `version-${version}`,
  ...over,
})

/** The rotation of a deployment with these replicas, all of them ready and with the proof of their version. */
function rotationWith(...assignments: readonly Assignment[]) {
  const { store, put } = cachedRecords(tenant)
  const secrets = [{ name: 'DB', vault_path: 'deployments/database', anchor: '', rotation: 'restart' }]
  put(proofKeys, 'key', { v: 1, key: KEY })
  put(credentials, 'database', credential)
  const spec = { ...aSpec('web'), secrets }
  put(deployments, 'web', aDeployment('web', { spec, pins: { database: 1 }, canary: aCanary({}) }))
  put(placements, owner, {
    ...{ v: 1, owner, name: 'web', revision: 1, everAssigned: true, reportedRefusals: '', reportedPhase: '' },
    templates: { 'version-1': template(1), 'version-2': template(2) },
    assignments: [...assignments],
  })
  for (const { id, templateHash } of assignments) {
    const version = Number(templateHash.slice(-1))
    put(observations, id, {
      ...{ v: 1, assignmentId: id, generation: 1, seq: 1, state: 'ready', containerId: 'c', reason: '' },
      ...{ startedAt: TIME, exitCode: null, restarts: 0, gone: false, owner, nodeId, at: TIME },
      proof: containerProof(KEY, id, new Map([['database', version]])),
    })
  }
  return gatherRotation(store, tenant, credential)
}

test('a replica of a canary does not prove a version for the replica with its number', () => {
  const [consumer] = rotationWith(assignment('rep_1', 1), assignment('rep_2', 2, { canary: true })).consumers
  expect(consumer?.proved).toEqual(new Map([[1, 1]]))
  expect(consumer?.held).toEqual([1, 2])
  expect(consumer?.running.map(({ version }) => version)).toEqual([1, 2])
})

test('a replica of the deployment itself proves the version of its container', () => {
  const [consumer] = rotationWith(assignment('rep_1', 1), assignment('rep_2', 2, { replica: 2 })).consumers
  expect(consumer?.proved).toEqual(
    new Map([
      [1, 1],
      [2, 1],
    ]),
  )
})
