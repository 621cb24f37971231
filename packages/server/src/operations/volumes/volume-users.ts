// The deployments and jobs that mount a volume, and whether containers of them may still use it.

import {
  type DeploymentSpec,
  isFinalPhase,
  isVolumeId,
  jobIdOf,
  type NodeId,
  type Owner,
  ownerOf,
  type TenantId,
  type VolumeId,
} from '@holdfast/contract'
import { anchorVolume, hasLostPrimaries, workloadSpec } from '@holdfast/core'
import {
  deployments,
  jobs,
  placements,
  type StoredDeployment,
  type StoredJob,
  type StoredPlacement,
  type StoredVolumeWriter,
  volumes,
  volumeWriters,
} from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { type Address, inTenant, placementAt } from '../../store/transaction.ts'
import { claimedSpec } from '../deployments/canary/end-canary.ts'

type ReadStore = Pick<Store, 'get' | 'has' | 'list'>

/** `write` means mounts through which a container can change the data; a tmpfs never holds data of the volume. */
type Access = 'any' | 'write'

interface Mount {
  readonly volume: string
  readonly type: string
  readonly readOnly: boolean
}

const isUse =
  (id: VolumeId, access: Access) =>
  ({ volume, type, readOnly }: Mount): boolean =>
    volume === id && type !== 'tmpfs' && (access === 'any' || !readOnly)

/** A deployment, or a job that has not ended, as it uses volumes. */
export interface VolumeUser {
  readonly owner: Owner
  readonly spec: DeploymentSpec
  /** The mounts and secrets of the workload, those of a running canary included. */
  readonly claimed: Pick<DeploymentSpec, 'volumes' | 'secrets'>
  /** The record that has the mounts. */
  readonly address: Address<StoredDeployment> | Address<StoredJob>
  /** Whether the workload demands a node for a container. */
  readonly isStarted: boolean
}

function deploymentUser(tenant: TenantId, stored: StoredDeployment): VolumeUser {
  const { uid, spec, deleting } = stored
  const isStarted = !deleting && spec.replicas > 0
  const address = inTenant(tenant, deployments, spec.name)
  return { owner: ownerOf('deployment', uid), spec, claimed: claimedSpec(stored), address, isStarted }
}

function jobUser(tenant: TenantId, { id, spec: sent, phase }: StoredJob): VolumeUser {
  const address = inTenant(tenant, jobs, id)
  const spec = workloadSpec(sent)
  return { owner: ownerOf('job', id), spec, claimed: spec, address, isStarted: !isFinalPhase(phase) }
}

/** Every deployment, and every job that has not ended. */
function allUsers(store: Pick<Store, 'list'>, tenant: TenantId): VolumeUser[] {
  const running = store.list(jobs, tenant).filter(({ record }) => !isFinalPhase(record.phase))
  return [
    ...store.list(deployments, tenant).map(({ record }) => deploymentUser(tenant, record)),
    ...running.map(({ record }) => jobUser(tenant, record)),
  ]
}

/** The workloads that mount the volume, whatever their number of replicas. */
const usersOf = (store: Pick<Store, 'list'>, tenant: TenantId, id: VolumeId, access: Access): VolumeUser[] =>
  allUsers(store, tenant).filter(({ claimed }) => claimed.volumes?.some(isUse(id, access)))

/** Whether the data of a volume depends on the secret of a workload. */
export const isAnchored = (store: Pick<Store, 'list'>, tenant: TenantId, id: string): boolean =>
  allUsers(store, tenant).some(({ claimed }) =>
    claimed.secrets.some(({ anchor }) => anchorVolume(anchor) === id),
  )

/**
 * The workloads that write the volume, by their specs or with a container that exists. The two differ after a rollback to a
 * revision with other mounts, and after the end of a job.
 */
export function writersOf(store: ReadStore, tenant: TenantId, id: VolumeId): VolumeUser[] {
  const bySpec = usersOf(store, tenant, id, 'write')
  const claim = store.get(inTenant(tenant, volumeWriters, id))?.record
  if (claim === undefined || bySpec.some(({ owner }) => owner === claim.owner)) return bySpec
  const claimant = claimantOf(store, tenant, claim)
  return claimant !== undefined && writtenBy(store, tenant, claimant).includes(id)
    ? [...bySpec, claimant]
    : bySpec
}

function claimantOf(
  store: ReadStore,
  tenant: TenantId,
  { owner, name }: StoredVolumeWriter,
): VolumeUser | undefined {
  const jobId = jobIdOf(owner)
  const job = jobId && store.get(inTenant(tenant, jobs, jobId))?.record
  if (job !== undefined) return jobUser(tenant, job)
  const found = store.get(inTenant(tenant, deployments, name))?.record
  return found === undefined ? undefined : deploymentUser(tenant, found)
}

/**
 * The volumes that a workload writes: by its spec, with its containers that may exist and can still write, and by the
 * revision to which a failed update returns.
 */
export function writtenBy(
  store: ReadStore,
  tenant: TenantId,
  { owner, spec }: Pick<VolumeUser, 'owner' | 'spec'>,
): VolumeId[] {
  const placement = store.get(placementAt(tenant, owner))?.record ?? NOT_PLACED
  const { assignments, templates } = placement
  const primaryOf = (id: string) =>
    isVolumeId(id) ? store.get(inTenant(tenant, volumes, id))?.record.primary : undefined
  const placed = assignments.flatMap(({ templateHash, nodeId }) => {
    const { mounts = [] } = templates[templateHash] ?? {}
    return hasLostPrimaries(mounts, nodeId, primaryOf) ? [] : mounts
  })
  const written = [...(spec.volumes ?? []), ...placed, ...mountsAfterRollback(placement)].filter(
    ({ type, readOnly }) => type !== 'tmpfs' && !readOnly,
  )
  return [...new Set(written.flatMap(({ volume }) => (isVolumeId(volume) ? [volume] : [])))]
}

type Placed = Pick<StoredPlacement, 'assignments' | 'templates' | 'rollout' | 'lastGood'>

const NOT_PLACED: Placed = { assignments: [], templates: {} }

const mountsAfterRollback = ({ rollout, lastGood, templates }: Placed): readonly Mount[] =>
  rollout === undefined || lastGood === undefined ? [] : (templates[lastGood.templateHash]?.mounts ?? [])

/**
 * Whether a container on the node may use the volume: one whose agent has not confirmed that it is gone. A placement that
 * cannot be read counts as use.
 */
export function isUsedOn(
  store: ReadStore,
  tenant: TenantId,
  id: VolumeId,
  nodeId: NodeId,
  access: Access,
): boolean {
  const mounts = (placement: StoredPlacement) => mountsOn(placement, id, nodeId, access)
  if (store.list(placements, tenant).some(({ record }) => mounts(record))) return true
  return usersOf(store, tenant, id, access).some(({ owner }) => {
    const address = placementAt(tenant, owner)
    const placement = store.get(address)?.record
    if (placement === undefined) return store.has(address)
    return placement.assignments.some((assignment) => assignment.nodeId === nodeId)
  })
}

/** Whether the template of an assignment on the node mounts the volume. */
function mountsOn(
  { assignments, templates }: StoredPlacement,
  id: VolumeId,
  nodeId: NodeId,
  access: Access,
): boolean {
  return assignments.some(
    (assignment) =>
      assignment.nodeId === nodeId &&
      templates[assignment.templateHash]?.mounts?.some(isUse(id, access)) === true,
  )
}
