// The volumes that move together: the replicated volumes that one deployment writes.

import { isVolumeId, type NodeId, type TenantId, type VolumeId } from '@holdfast/contract'
import { acceptedPrimaries, drainWaits, type GroupMember } from '@holdfast/core'
import { type StoredVolume, volumes } from '../../store/records.ts'
import { inTenant } from '../../store/transaction.ts'
import { demandOf, gatherVolumeFacts } from './volume-facts.ts'
import { type SituationDeps, situationOf } from './volume-situation.ts'
import { isUsedOn, usersOf } from './volume-users.ts'

/** The group of a volume, itself included, in the order of their ids. */
export function groupOf(
  deps: SituationDeps,
  tenant: TenantId,
  volume: StoredVolume,
): GroupMember<StoredVolume>[] {
  const ids = new Set<VolumeId>([volume.id])
  for (const { spec } of usersOf(deps.store, tenant, volume.id, 'write'))
    for (const mount of spec.volumes ?? [])
      if (!mount.readOnly && mount.type !== 'tmpfs' && isVolumeId(mount.volume)) ids.add(mount.volume)
  return [...ids]
    .sort()
    .flatMap((id) => deps.read(inTenant(tenant, volumes, id)) ?? [])
    .filter(({ spec }) => spec.class === 'replicated')
    .map((member) => memberOf(deps, tenant, member))
}

function memberOf(deps: SituationDeps, tenant: TenantId, volume: StoredVolume): GroupMember<StoredVolume> {
  const { store, residency } = deps
  const { id, spec, copies, primary } = volume
  const holders = copies.map(({ nodeId }) => nodeId)
  let accepted: readonly string[] | undefined
  return {
    volume,
    situation: situationOf(deps, tenant, volume),
    hasWriter: () => primary !== null && isUsedOn(store, tenant, id, primary.nodeId, 'write'),
    accepts(nodeId) {
      accepted ??= acceptedPrimaries(
        demandOf(store, tenant, spec, residency),
        holders,
        gatherVolumeFacts(store, tenant),
      )
      return accepted.includes(nodeId)
    },
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

/** A volume without copies leaves the node alone. */
const membersOf = (deps: SituationDeps, tenant: TenantId, volume: StoredVolume): GroupMember[] =>
  volume.spec.class === 'replicated' ? groupOf(deps, tenant, volume) : [memberOf(deps, tenant, volume)]
