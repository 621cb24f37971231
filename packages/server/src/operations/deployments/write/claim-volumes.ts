// Writer claims: each volume has at most one workload that mounts it read-write. A claim is taken in the transaction that
// stores the mount and becomes `releasing` in the one that drops it. It is deleted only once no container that may write
// exists. See docs/design/volumes.md#mounts-and-writers

import { asVolumeId, type DeploymentSpec, type Owner, ownerOf, type TenantId } from '@holdfast/contract'
import type { VolumeFact, VolumesFact } from '@holdfast/core'
import {
  type StoredDeployment,
  type StoredJob,
  type StoredVolume,
  type StoredVolumeWriter,
  volumes,
  volumeWriters,
} from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'
import { countBytes } from '../../volumes/volume-use.ts'

type Mounting = Pick<StoredDeployment, 'uid' | 'spec'>

const ownerIn = ({ uid }: Pick<StoredDeployment, 'uid'>): Owner => ownerOf('deployment', uid)

/**
 * The mounted volumes with their writers. Every record is read through the transaction, so a concurrent change of a
 * volume or of its writer reruns the decision.
 */
export function gatherVolumes(
  transaction: Transaction,
  tenant: TenantId,
  { spec, before, sendsPlace }: MountsQuestion,
): VolumesFact | undefined {
  const ids = new Set(spec.volumes?.map(({ volume }) => volume))
  if (ids.size === 0) return undefined
  const byId = new Map<string, VolumeFact>()
  for (const id of ids) {
    const stored = transaction.get(inTenant(tenant, volumes, id))
    if (stored === undefined || stored.phase === 'Deleting') continue
    const claim = transaction.get(inTenant(tenant, volumeWriters, id))
    const isOther = claim !== undefined && (before === undefined || claim.owner !== ownerIn(before))
    byId.set(id, { ...factOf(stored), writer: isOther ? claim : undefined })
  }
  return { byId, sendsPlace }
}

export interface MountsQuestion {
  readonly spec: DeploymentSpec
  /** The stored deployment, for an update. */
  readonly before: Mounting | undefined
  /** Whether the request sends `nodeId` or `volumes`. */
  readonly sendsPlace: boolean
}

function factOf({ spec, phase, primary, copies }: StoredVolume): VolumeFact {
  const primaryId = primary?.nodeId ?? null
  const others = copies.map(({ nodeId }) => nodeId).filter((nodeId) => nodeId !== primaryId)
  return { name: spec.name, class: spec.class, phase, primary: primaryId, copies: others }
}

/** The volumes that a deployment mounts read-write, in memory or not. */
function writtenBy(mounting: Mounting | undefined): Set<string> {
  const mounts = mounting?.spec.volumes ?? []
  return new Set(mounts.filter(({ readOnly }) => !readOnly).map(({ volume }) => volume))
}

/**
 * Claims the volumes that a deployment mounts read-write, and starts to release those that it no longer mounts so. Throws
 * if another workload has a claim, because admission must have rejected the write.
 */
export function claimVolumes(
  transaction: Transaction,
  tenant: TenantId,
  before: Mounting | undefined,
  after: Mounting,
): void {
  const [had, has, owner] = [writtenBy(before), writtenBy(after), ownerIn(after)]
  if (addsReader(before, after)) countBytes(transaction, tenant, 0)
  for (const id of had) if (!has.has(id)) startRelease(transaction, tenant, id, owner)
  for (const id of has) if (!had.has(id)) claimVolume(transaction, tenant, owner, after.spec.name, id)
}

function claimVolume(
  transaction: Transaction,
  tenant: TenantId,
  owner: Owner,
  name: string,
  id: string,
): void {
  const volume = asVolumeId(id)
  const address = inTenant(tenant, volumeWriters, id)
  const claim = transaction.get(address)
  if (claim === undefined) transaction.put(address, { v: 1, volume, owner, name, epoch: 0, state: 'bound' })
  else if (claim.owner !== owner) throw new TypeError('a volume of another writer would be claimed')
  else if (claim.state !== 'bound') transaction.put(address, { ...claim, state: 'bound' })
}

/** Claims the volumes that a new job mounts read-write. */
export function claimForJob(
  transaction: Transaction,
  tenant: TenantId,
  { id, spec }: Pick<StoredJob, 'id' | 'spec'>,
): void {
  const mounts = spec.volumes ?? []
  if (mounts.some(({ readOnly }) => readOnly)) countBytes(transaction, tenant, 0)
  const written = mounts.filter(({ readOnly }) => !readOnly).map(({ volume }) => volume)
  for (const volume of new Set(written))
    claimVolume(transaction, tenant, ownerOf('job', id), spec.name, volume)
}

/** Starts to release all volumes of a job that has ended. */
export function startJobReleases(
  transaction: Transaction,
  tenant: TenantId,
  { id, spec }: Pick<StoredJob, 'id' | 'spec'>,
): void {
  const written = (spec.volumes ?? []).filter(({ readOnly }) => !readOnly)
  for (const { volume } of written) startRelease(transaction, tenant, volume, ownerOf('job', id))
}

/**
 * Whether a read-only mount of another volume is added. Such a mount has no claim, so the write conflicts with the deletion
 * of a volume through the counter that both write.
 */
function addsReader(before: Mounting | undefined, { spec }: Mounting): boolean {
  const known = new Set(before?.spec.volumes?.map(({ volume }) => volume))
  return (spec.volumes ?? []).some(({ volume, readOnly }) => readOnly && !known.has(volume))
}

/** Starts to release all volumes of a deployment that is being deleted. */
export function startReleases(transaction: Transaction, tenant: TenantId, mounting: Mounting): void {
  for (const id of writtenBy(mounting)) startRelease(transaction, tenant, id, ownerIn(mounting))
}

function startRelease(transaction: Transaction, tenant: TenantId, id: string, owner: Owner): void {
  const address = inTenant(tenant, volumeWriters, id)
  const claim = transaction.get(address)
  if (claim?.owner === owner && claim.state === 'bound')
    transaction.put(address, { ...claim, state: 'releasing' })
}

/** The claims of a workload, from the cache. */
export function claimsOf(store: Pick<Store, 'list'>, tenant: TenantId, owner: Owner): StoredVolumeWriter[] {
  const all = store.list(volumeWriters, tenant).map(({ record }) => record)
  return all.filter((claim) => claim.owner === owner)
}

/** Deletes all claims of a deployment whose record is deleted, because none of its containers is left. */
export function dropClaims(
  store: Pick<Store, 'list'>,
  transaction: Transaction,
  tenant: TenantId,
  owner: Owner,
): void {
  for (const { volume } of claimsOf(store, tenant, owner)) {
    const address = inTenant(tenant, volumeWriters, volume)
    if (transaction.get(address)?.owner === owner) transaction.delete(address)
  }
}
