// Finishes the drain or release of a node once no replica is left on it. The record, name and quota slot of a released
// node are deleted; a drained node stays enrolled and cordoned.

import { isDraining, stageDrained } from '../../../operations/nodes/drain-node.ts'
import { stageRelease } from '../../../operations/nodes/release-node.ts'
import { nodes } from '../../../store/records.ts'
import { inTenant } from '../../../store/transaction.ts'
import { LostLeadershipError } from '../../leadership/fence.ts'
import type { Controller } from '../controller.ts'
import type { Work } from '../queue/work-key.ts'

export async function finishLeaving(
  { deps }: Controller,
  { tenant, id }: Extract<Work, { kind: 'node' }>,
): Promise<void> {
  const node = deps.store.get(inTenant(tenant, nodes, id))?.record
  if (node === undefined || !deps.leadership.owns(tenant)) return
  try {
    if (isDraining(node))
      await deps.leadership.fenced(tenant, (transaction) => stageDrained(deps, transaction, tenant, id))
    await deps.leadership.fenced(tenant, (transaction) => stageRelease(deps, transaction, tenant, node.name))
  } catch (error) {
    if (!(error instanceof LostLeadershipError)) throw error
  }
}
