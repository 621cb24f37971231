// The volumes that move together: the replicated volumes that one deployment writes.

import { isVolumeId, type TenantId, type VolumeId } from '@holdfast/contract'
import { acceptedPrimaries, type GroupMember, drainWaits as waitsFor } from '@holdfast/core'
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

/** Why the drain of the primary's node waits for a volume, as a part of a sentence; undefined if it does not wait. */
export function drainWaits(
  deps: Omit<SituationDeps, 'read'>,
  tenant: TenantId,
  volume: StoredVolume,
): string | undefined {
  const { store } = deps
  return waitsFor(groupOf({ ...deps, read: (address) => store.get(address)?.record }, tenant, volume))
}
