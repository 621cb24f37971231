import {
  type Assignment,
  type AssignmentId,
  type ContainerTemplate,
  consumerOf,
  type DeploymentUid,
  type NodeId,
  ownerOf,
} from '@holdfast/contract'
import { nextMove } from '@holdfast/core'
import { expect, test } from 'vitest'
import { aCanary, aDeployment, aSpec, cachedRecords, someTenant } from '../../../store/records.fixture.ts'
import {
  credentials,
  deployments,
  observations,
  placements,
  proofKeys,
  type StoredCanary,
} from '../../../store/records.ts'
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

const SECRETS = [{ name: 'DB', vault_path: 'deployments/database', anchor: '', rotation: 'restart' }]
const TEMPLATES: { readonly [hash: string]: ContainerTemplate } = {
  ...{ 'version-1': template(1), 'version-2': template(2) },
  'version-3': { ...template(3), secrets: [] },
}
const FACTS = { rotation: { phase: 'cutover', old: 2, new: 3 }, versions: [2, 3], volumes: [] } as const

/** The rotation of a deployment with these replicas, all of them ready and with the proof of their version. */
function rotationWith(
  assignments: readonly Assignment[],
  canary: Partial<StoredCanary> = {},
  secrets: typeof SECRETS = SECRETS,
) {
  const { store, put } = cachedRecords(tenant)
  put(proofKeys, 'key', { v: 1, key: KEY })
  put(credentials, 'database', credential)
  const spec = { ...aSpec('web'), secrets }
  put(deployments, 'web', aDeployment('web', { spec, pins: { database: 1 }, canary: aCanary({}, canary) }))
  put(placements, owner, {
    ...{ v: 1, owner, name: 'web', revision: 1, everAssigned: true, reportedRefusals: '', reportedPhase: '' },
    templates: Object.fromEntries(
      assignments.map(({ templateHash }) => [templateHash, TEMPLATES[templateHash] ?? template(1)]),
    ),
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
  const replicas = [assignment('rep_1', 1), assignment('rep_2', 2, { canary: true })]
  const [web, canary, ...others] = rotationWith(replicas, { pins: { database: 2 } }).consumers
  expect(others).toEqual([])
  expect(web).toMatchObject({ name: 'web', pin: 1, held: [1], proved: new Map([[1, 1]]), leaving: false })
  expect(web?.running.map(({ version }) => version)).toEqual([1])
  expect(canary).toMatchObject({ name: 'web', isCanary: true, pin: 2, held: [2], desired: 0, leaving: true })
  expect(canary?.running.map(({ version }) => version)).toEqual([2])
})

test('a canary needs the version that it has pinned before it is placed', () => {
  const [, canary] = rotationWith([assignment('rep_1', 1)], { pins: { database: 2 } }).consumers
  expect(canary).toMatchObject({ isCanary: true, held: [2] })
})

test('a deployment does not consume a secret that only its canary names', () => {
  const change = { secrets: [...SECRETS] }
  const replicas = [assignment('rep_1', 3), assignment('rep_2', 2, { canary: true })]
  const { consumers } = rotationWith(replicas, { pins: { database: 2 }, change }, [])
  expect(consumers).toMatchObject([{ name: 'web', isCanary: true, pin: 2, held: [2] }])
  expect(nextMove({ ...FACTS, consumers }, 'web')).toBeUndefined()
})

test('a replica of the deployment itself proves the version of its container', () => {
  const replicas = [assignment('rep_1', 1), assignment('rep_2', 2, { replica: 2 })]
  const [consumer] = rotationWith(replicas).consumers
  expect(consumer?.proved).toEqual(
    new Map([
      [1, 1],
      [2, 1],
    ]),
  )
})
