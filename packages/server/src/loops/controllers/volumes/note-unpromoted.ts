// Notes in the records of a group why no copy replaces its silent primary, so that reads and an event state it.

import type { TenantId } from '@holdfast/contract'
import type { GroupPlan, PromotionObstacle } from '@holdfast/core'
import { type StoredVolume, volumes } from '../../../store/records.ts'
import { inTenant } from '../../../store/transaction.ts'
import type { Leadership } from '../../leadership/lead-shards.ts'

/** Obstacles that end without an operator. */
const PASSING: readonly PromotionObstacle[] = ['none', 'promised', 'node_silent']

/** Why the group waits, as one word; null if no promotion is needed; undefined if the reason may soon be over. */
export function reasonOf(plan: GroupPlan): string | null | undefined {
  if ('prepare' in plan || plan.wait === 'promoted_recently') return undefined
  if (plan.wait === 'primary_alive') return null
  if (plan.wait === 'lagging') return 'copies_lagging'
  const obstacles = plan.copies.map(({ obstacle }) => obstacle).filter((each) => each !== 'not_promotable')
  if (obstacles.length === 0 || obstacles.some((each) => PASSING.includes(each))) return undefined
  return obstacles.includes('refused_by_filter') ? 'copies_refused' : 'no_common_checkpoint'
}

/** Stores the reason with all volumes of the group; undefined leaves it as it is. */
export async function noteUnpromoted(
  { leadership }: { readonly leadership: Pick<Leadership, 'fenced'> },
  tenant: TenantId,
  group: readonly StoredVolume[],
  reason: string | null | undefined,
): Promise<void> {
  const isNoted = ({ unpromoted = null }: StoredVolume) => unpromoted === reason
  if (reason === undefined || group.every(isNoted)) return
  await leadership.fenced(tenant, (transaction) => {
    let changes = 0
    for (const { id, primary } of group) {
      const stored = transaction.get(inTenant(tenant, volumes, id))
      if (stored === undefined || isNoted(stored) || stored.primary?.epoch !== primary?.epoch) continue
      transaction.put(inTenant(tenant, volumes, id), { ...stored, unpromoted: reason })
      changes += 1
    }
    return { kind: changes === 0 ? 'abort' : 'commit', result: undefined }
  })
}
