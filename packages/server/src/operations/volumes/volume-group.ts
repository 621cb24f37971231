// The volumes that move together: the replicated volumes that one deployment or job writes, by its spec or with a
// container of an earlier revision, such as after a rollback.

import {
  isVolumeId,
  type NodeId,
  type ResidencyRules,
  type TenantId,
  type VolumeId,
} from '@holdfast/contract'
import { acceptedPrimaries, drainWaits, type GroupMember } from '@holdfast/core'
import { nodes, type StoredDeployment, type StoredVolume, volumes } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant } from '../../store/transaction.ts'
import { isDraining } from '../nodes/drain-node.ts'
import { demandOf, gatherVolumeFacts } from './volume-facts.ts'
import { type SituationDeps, situationOf } from './volume-situation.ts'
import { isUsedOn, writersOf, writtenBy } from './volume-users.ts'

/** The group of a volume, itself included, in the order of their ids. */
export function groupOf(
  deps: SituationDeps,
  tenant: TenantId,
  volume: StoredVolume,
): GroupMember<StoredVolume>[] {
  const ids = new Set<VolumeId>([volume.id])
  for (const writer of writersOf(deps.store, tenant, volume.id))
    for (const id of writtenBy(deps.store, tenant, writer)) ids.add(id)
  return [...ids]
    .sort()
    .flatMap((id) => deps.read(inTenant(tenant, volumes, id)) ?? [])
    .filter(({ spec }) => spec.class === 'replicated')
    .map((member) => memberOf(deps, tenant, member))
}

function memberOf(deps: SituationDeps, tenant: TenantId, volume: StoredVolume): GroupMember<StoredVolume> {
  const { id, primary } = volume
  return {
    volume,
    situation: situationOf(deps, tenant, volume),
    hasWriter: () => primary !== null && isUsedOn(deps.store, tenant, id, primary.nodeId, 'write'),
    accepts: acceptsPrimary(deps, tenant, volume),
  }
}

/** Whether the scheduler's filters accept a node that holds a copy of the volume as that of its primary. */
export function acceptsPrimary(
  { store, residency }: { readonly store: Pick<Store, 'get' | 'list'>; readonly residency: ResidencyRules },
  tenant: TenantId,
  { spec, copies }: StoredVolume,
): (nodeId: NodeId) => boolean {
  const holders = copies.map(({ nodeId }) => nodeId)
  let accepted: readonly NodeId[] | undefined
  return (nodeId) => {
    accepted ??= acceptedPrimaries(
      demandOf(store, tenant, spec, residency),
      holders,
      gatherVolumeFacts(store, tenant),
    )
    return accepted.includes(nodeId)
  }
}

/** Why volumes keep a node from being drained or released, once for each group that moves together. */
export function drainBlockers(deps: Omit<SituationDeps, 'read'>, tenant: TenantId, nodeId: NodeId): string[] {
  const all: SituationDeps = { ...deps, read: (address) => deps.store.get(address)?.record }
  const waits = deps.store
    .list(volumes, tenant)
    .filter(({ record }) => record.primary?.nodeId === nodeId && record.phase !== 'Deleting')
    .flatMap(({ record }) => drainWaits(membersOf(all, tenant, record)) ?? [])
  return [...new Set(waits)]
}

/** Why volumes of a deployment keep the drained node of their primary from being emptied. */
export function drainsThatWait(
  deps: Omit<SituationDeps, 'read'>,
  tenant: TenantId,
  { spec }: Pick<StoredDeployment, 'spec'>,
): string[] {
  const all: SituationDeps = { ...deps, read: (address) => deps.store.get(address)?.record }
  const mounted = (spec.volumes ?? []).flatMap(({ volume }) =>
    isVolumeId(volume) ? (all.read(inTenant(tenant, volumes, volume)) ?? []) : [],
  )
  const waits = mounted.flatMap((volume) => {
    const node = volume.primary && all.read(inTenant(tenant, nodes, volume.primary.nodeId))
    return node && isDraining(node) ? (drainWaits(membersOf(all, tenant, volume)) ?? []) : []
  })
  return [...new Set(waits)]
}

/** A volume without copies leaves the node alone. */
const membersOf = (deps: SituationDeps, tenant: TenantId, volume: StoredVolume): GroupMember[] =>
  volume.spec.class === 'replicated' ? groupOf(deps, tenant, volume) : [memberOf(deps, tenant, volume)]
