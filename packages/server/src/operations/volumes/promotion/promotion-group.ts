// The volumes that are promoted together, with the filters that a node must pass: those of the volumes, and those of the
// workload that writes them.

import { jobIdOf, type NodeId, type TenantId } from '@holdfast/contract'
import { acceptsWriter, type GroupMember, type TenantFacts, type Workload } from '@holdfast/core'
import { asJob } from '../../../scheduling/job-workload.ts'
import { gatherTenantFacts, workloadOf } from '../../../scheduling/scheduling-facts.ts'
import { type StoredVolume, volumeWriters } from '../../../store/records.ts'
import { inTenant, placementAt, type Transaction } from '../../../store/transaction.ts'
import { groupOf } from '../volume-group.ts'
import type { SituationDeps } from '../volume-situation.ts'
import { type VolumeUser, writersOf } from '../volume-users.ts'

export type PromotionMember = Pick<GroupMember<StoredVolume>, 'volume' | 'accepts'>

/** The volumes with the same writer and the same primary as the given one, itself included. */
export function promotionGroup(
  deps: SituationDeps,
  tenant: TenantId,
  volume: StoredVolume,
): PromotionMember[] {
  const { store } = deps
  const writers = writersOf(store, tenant, volume.id).filter(({ isStarted }) => isStarted)
  let facts: TenantFacts | undefined
  const acceptsWriters = (nodeId: NodeId): boolean => {
    facts ??= gatherTenantFacts(store, NO_QUOTA, tenant)
    const known = facts
    return writers.every((writer) => acceptsWriter(writerWorkload(deps, tenant, writer), nodeId, known))
  }
  return groupOf(deps, tenant, volume)
    .filter((member) => member.volume.primary?.nodeId === volume.primary?.nodeId)
    .map((member) => ({
      volume: member.volume,
      accepts: (nodeId) => member.accepts(nodeId) && acceptsWriters(nodeId),
    }))
}

function writerWorkload(
  { store, residency }: SituationDeps,
  tenant: TenantId,
  { owner, spec }: VolumeUser,
): Workload {
  const workload = workloadOf(store, tenant, spec, residency)
  return jobIdOf(owner) === undefined ? workload : asJob(workload, owner)
}

/** The writer moves, so it needs no further container of the quota. */
const NO_QUOTA = { limit: () => Number.POSITIVE_INFINITY }

/**
 * Makes the commit compare what the group consists of: the writer of each volume, and the workload with its mounts and
 * its containers. A workload that adds a volume to the group, or leaves it, changes one of them.
 */
export function compareGroup(
  transaction: Transaction,
  { store }: Pick<SituationDeps, 'store'>,
  tenant: TenantId,
  group: readonly StoredVolume[],
): void {
  for (const { id } of group) {
    transaction.get(inTenant(tenant, volumeWriters, id))
    for (const { address, owner } of writersOf(store, tenant, id)) {
      transaction.get<unknown>(address)
      transaction.get(placementAt(tenant, owner))
    }
  }
}
