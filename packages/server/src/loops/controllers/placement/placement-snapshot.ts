// The snapshot for planning one placement: the stored records of one deployment and the tenant's scheduling view, mapped
// to the types of the core package. Records are read from the cache on demand; nothing is copied.

import { hash } from 'node:crypto'
import { type AssignmentId, defined, ownerOf, type ResidencyRules, type TenantId } from '@holdfast/contract'
import { type Dependency, desiredReplicas, stableAssignments } from '@holdfast/core'
import {
  type PlacementPlan,
  type PlacementSnapshot,
  planPlacement,
  type VolumeAt,
} from '@holdfast/core/placement'
import { isLost } from '../../../liveness/node-status.ts'
import { claimsOf } from '../../../operations/deployments/write/claim-volumes.ts'
import { isAnchored } from '../../../operations/volumes/volume-users.ts'
import { deploymentRequests } from '../../../scheduling/canary-spec.ts'
import { canarySnapshot } from '../../../scheduling/canary-target.ts'
import { targetOf } from '../../../scheduling/revision-target.ts'
import { workloadOf } from '../../../scheduling/scheduling-facts.ts'
import { deployments, observations, type StoredDeployment, volumes } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { inTenant, placementAt } from '../../../store/transaction.ts'
import type { TenantView } from './tenant-view.ts'

export interface SnapshotDeps {
  readonly store: Pick<Store, 'get' | 'list'>
  readonly tenant: TenantId
  readonly view: TenantView
  readonly residency: ResidencyRules
  /** Time before which no replica is overdue, in milliseconds since 1970. */
  readonly graceUntil: number
}

/** Plans one deployment and reserves the needed capacity, so that no other plan uses the same capacity. */
export function planAndReserve(deps: SnapshotDeps, stored: StoredDeployment, now: number): PlacementPlan {
  const { view } = deps
  const snapshot = takeSnapshot(deps, stored)
  const plan = planPlacement(snapshot, stored, now)
  const owner = ownerOf('deployment', stored.uid)
  if (plan.isSettled) view.release(owner)
  else view.reserve(owner, { ...snapshot.requests, assignments: plan.reserved }, plan.placementRevision)
  return plan
}

export function takeSnapshot(
  { store, tenant, view, residency, graceUntil }: SnapshotDeps,
  stored: StoredDeployment,
): PlacementSnapshot {
  const owner = ownerOf('deployment', stored.uid)
  const placement = store.get(placementAt(tenant, owner))
  return {
    workload: workloadOf(store, tenant, stored.spec, residency),
    target: targetOf(stored),
    ...defined({ canary: canarySnapshot(store, tenant, stored, residency) }),
    placement: placement?.record,
    placementRevision: placement?.modRevision ?? 0,
    scheduling: view.scheduling,
    requests: { name: stored.spec.name, ...deploymentRequests(stored) },
    counted: view.countedOf(owner),
    room: view.roomBeside(owner),
    graceUntil,
    nodeOf: view.nodeOf,
    dispositionOf: view.dispositionOf,
    seen: (id) => store.get(inTenant(tenant, observations, id))?.record,
    dependency: (name) => findDependency(store, tenant, name),
    claims: claimsOf(store, tenant, owner),
    volumeOf: (id) => volumeAt(store, tenant, id),
    sha256: (text) => hash('sha256', text, 'hex'),
  }
}

export function volumeAt(store: SnapshotDeps['store'], tenant: TenantId, id: string): VolumeAt | undefined {
  const stored = store.get(inTenant(tenant, volumes, id))?.record
  if (stored === undefined) return undefined
  const { spec, phase, primary, copies } = stored
  return {
    class: spec.class,
    phase,
    sizeBytes: spec.sizeBytes,
    primary,
    replicas: copies.filter(({ role }) => role === 'replica'),
    isAnchored: () => isAnchored(store, tenant, id),
  }
}

function findDependency(store: Pick<Store, 'get'>, tenant: TenantId, name: string): Dependency | undefined {
  const other = store.get(inTenant(tenant, deployments, name))?.record
  if (other === undefined) return undefined
  const placement = store.get(placementAt(tenant, ownerOf('deployment', other.uid)))?.record
  return {
    replicas: desiredReplicas({ ...other, deleting: false }),
    deleting: other.deleting,
    assignments: stableAssignments(placement?.assignments ?? []),
    seen: (id: AssignmentId) => store.get(inTenant(tenant, observations, id))?.record,
    isLost: (id) => isLost(store, tenant, id),
  }
}
