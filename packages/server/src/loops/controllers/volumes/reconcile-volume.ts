// Reconciles one volume: decides from the cache and, if anything changes, writes the decision in one fenced transaction.

import type { NodeId, ResidencyRules, TenantId, VolumeId } from '@holdfast/contract'
import { isDraining, stageDrained } from '../../../operations/nodes/drain-node.ts'
import { stageRelease } from '../../../operations/nodes/release-node.ts'
import { recordEvent } from '../../../operations/record-write.ts'
import { compareNewNodes } from '../../../operations/volumes/copies-on-node.ts'
import { stageRemoval } from '../../../operations/volumes/delete-volume.ts'
import { occurrenceEvent } from '../../../operations/volumes/volume-events.ts'
import type { ReadRecord } from '../../../operations/volumes/volume-situation.ts'
import { countBytes } from '../../../operations/volumes/volume-use.ts'
import { namesOfNodes } from '../../../operations/volumes/volume-view.ts'
import { type Clock, timestamp } from '../../../ports/clock.ts'
import { copyReportId, copyReports, nodes, type StoredVolume, volumes } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'
import { LostLeadershipError } from '../../leadership/fence.ts'
import type { Leadership } from '../../leadership/lead-shards.ts'
import { decideVolume, type VolumeWrite } from './decide-volume.ts'

export interface VolumeLoopDeps {
  readonly store: Store
  readonly clock: Clock
  readonly leadership: Pick<Leadership, 'owns' | 'fenced' | 'subscribe'>
  readonly residency: ResidencyRules
}

/** Returns when the volume must be reconciled again although nothing changes, in milliseconds since 1970. */
export async function reconcileVolume(
  deps: VolumeLoopDeps,
  tenant: TenantId,
  id: VolumeId,
): Promise<number | undefined> {
  const { store, clock, leadership } = deps
  if (!leadership.owns(tenant)) return undefined
  const decide = (read: ReadRecord) => decideVolume({ ...deps, read, now: clock.now() }, tenant, id)
  const first = decide((address) => store.get(address)?.record)
  if (first.writes.length === 0) return first.decideAgainAt
  try {
    const written = await leadership.fenced<readonly VolumeWrite[]>(tenant, (transaction) => {
      const { writes } = decide((address) => transaction.get(address))
      for (const write of writes) stage(deps, transaction, tenant, write)
      return { kind: writes.length === 0 ? 'abort' : 'commit', result: writes }
    })
    for (const nodeId of new Set(written.flatMap(({ before }) => holdersOf(before))))
      await finishLeaving(deps, tenant, nodeId)
  } catch (error) {
    // The process that owns the shard now reconciles the volume.
    if (!(error instanceof LostLeadershipError)) throw error
  }
  return first.decideAgainAt
}

const holdersOf = ({ copies, leaving = [] }: StoredVolume): NodeId[] =>
  [...copies, ...leaving].map(({ nodeId }) => nodeId)

function stage(
  { clock, store }: VolumeLoopDeps,
  transaction: Transaction,
  tenant: TenantId,
  { before, after, occurrences }: VolumeWrite,
): void {
  if (after === undefined) {
    stageRemoval(transaction, clock, tenant, before)
    return
  }
  const [had, has] = [new Set(holdersOf(before)), new Set(holdersOf(after))]
  // A new copy claims room in a pool, so it conflicts with every other write of a volume of the tenant.
  if ([...has].some((nodeId) => !had.has(nodeId))) countBytes(transaction, tenant, 0)
  compareNewNodes(transaction, tenant, before, after)
  for (const nodeId of had)
    if (!has.has(nodeId)) transaction.delete(inTenant(tenant, copyReports, copyReportId(before.id, nodeId)))
  transaction.put(inTenant(tenant, volumes, after.id), after)
  const nameOf = namesOfNodes(store, tenant)
  for (const occurrence of occurrences)
    recordEvent(transaction, clock, tenant, occurrenceEvent(after, occurrence, timestamp(clock), nameOf))
}

/** Ends the drain or the release of a node that the change of a volume may have freed. */
async function finishLeaving(deps: VolumeLoopDeps, tenant: TenantId, id: NodeId): Promise<void> {
  const node = deps.store.get(inTenant(tenant, nodes, id))?.record
  if (node === undefined || node.schedulable) return
  if (isDraining(node))
    await deps.leadership.fenced(tenant, (transaction) => stageDrained(deps, transaction, tenant, id))
  await deps.leadership.fenced(tenant, (transaction) => stageRelease(deps, transaction, tenant, node.name))
}
