// For tests of the invariants: a sequence of changes to a small simulated cluster, and the invariants that the changes
// break.

import { type DeploymentUid, ownerOf } from '@holdfast/contract'
import type { StoredDeployment } from '@holdfast/server/store/records'
import { aDeployment } from '@holdfast/server/store/records.fixture'
import type { Snapshot } from '../cluster/snapshot.ts'
import type { Script } from '../script/script.ts'
import { createInvariants } from './index.ts'
import {
  anAssignment,
  anEvent,
  anObservation,
  aPlacement,
  aStoredNode,
  aWorld,
  later,
  N1,
  N2,
  OWN,
  OWNER,
  R1,
  R2,
  R3,
  web,
  withMachine,
  written,
} from './world.fixture.ts'

const SCRIPT: Script = { cluster: { tenants: [], nodes: [], regions: { eu: ['DE', 'FR'] } }, steps: [] }

export type Change = (world: Snapshot) => Snapshot

/** Names of the invariants that are broken when the changes are applied in order. */
export function brokenBy(changes: readonly Change[], script = SCRIPT): string[] {
  const invariants = createInvariants(script)
  let world = aWorld()
  const found = [...invariants.check(world)]
  for (const change of changes) {
    world = change(world)
    found.push(...invariants.check(world))
  }
  return [...new Set([...found, ...invariants.checkEnd()].map(({ invariant }) => invariant))]
}

export const placed =
  (...assignments: ReturnType<typeof anAssignment>[]): Change =>
  (world) =>
    written(world, 'placements', OWN, OWNER, aPlacement(assignments))
export const asked =
  (spec: object, changes: Partial<StoredDeployment> = {}): Change =>
  (world) =>
    written(world, 'deployments', OWN, 'web', web(changes, spec))
export const node =
  (changes: Parameters<typeof aStoredNode>[1], id = N2): Change =>
  (world) =>
    written(world, 'nodes', OWN, id, aStoredNode(id, changes))
export const seen =
  (changes: Parameters<typeof anObservation>[2], id = R1, at = N1): Change =>
  (world) =>
    written(world, 'observations', OWN, id, anObservation(id, at, changes))
export const event =
  (changes: Parameters<typeof anEvent>[0], id = 'evt_1'): Change =>
  (world) =>
    written(world, 'events', OWN, id, anEvent({ id, ...changes }))
export const containers =
  (id: typeof N1, ...ids: (typeof R1)[]): Change =>
  (world) =>
    withMachine(world, id, () => ({
      containers: ids.map((assignmentId) => ({
        id: assignmentId,
        assignmentId,
        owner: OWNER,
        templateHash: 'hash',
        state: 'ready',
        startedAt: 0,
        writes: [],
      })),
    }))
export const quotaOf =
  (limit: number): Change =>
  (world) => ({
    ...world,
    tenants: world.tenants.map((each) => ({
      ...each,
      record: { ...each.record, quotas: { containers: limit } },
    })),
  })
export const away: Change = (world) => withMachine(world, N2, () => ({ connected: false }))
export const passed =
  (ms: number): Change =>
  (world) =>
    later(world, ms)

export const first = anAssignment(R1, N1)
export const second = anAssignment(R2, N2, { replica: 2 })
export const successor = anAssignment(R2, N2)
export const shunsItself = { replicas: 2, placement: { antiAffinity: ['web'] } }
export const demands = (residency: object) => asked({ replicas: 2, placement: { residency } })

/** Uid of a second deployment, with a replica on the second node. */
const DB = 'dep_db' as DeploymentUid
export const other: Change = (world) =>
  written(
    written(world, 'deployments', OWN, 'db', aDeployment('db', { uid: DB })),
    'placements',
    OWN,
    ownerOf('deployment', DB),
    aPlacement([anAssignment(R3, N2)], { owner: ownerOf('deployment', DB), name: 'db' }),
  )
export const otherSeen = (state: 'running' | 'ready' | 'failed'): Change =>
  seen({ state, owner: ownerOf('deployment', DB), seq: { running: 2, ready: 3, failed: 4 }[state] }, R3, N2)
export const waitsFor = (condition: 'healthy' | 'started') =>
  asked({ replicas: 2, dependsOn: { db: condition } })
