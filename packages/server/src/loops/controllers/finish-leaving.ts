// A node that its tenant gives back and on which nothing is left: its record, its name and its quota slot go. DECISIONS 5.

import type { NodeId, TenantId } from '@holdfast/contract'
import { stageRelease } from '../../operations/nodes/release-node.ts'
import { nodes } from '../../store/records.ts'
import { inTenant } from '../../store/transaction.ts'
import { LostLeadershipError } from '../leadership/fence.ts'
import { type Controller, TENANT_LENGTH } from './controller.ts'

export async function finishLeaving({ deps }: Controller, key: string): Promise<void> {
  const tenant = key.slice(0, TENANT_LENGTH) as TenantId
  const id = key.slice(TENANT_LENGTH + 2) as NodeId
  const name = deps.store.get(inTenant(tenant, nodes, id))?.record.name
  if (name === undefined || !deps.leadership.owns(tenant)) return
  await deps.leadership
    .fenced(tenant, (transaction) => stageRelease(deps, transaction, tenant, name))
    .catch((error: unknown) => {
      if (!(error instanceof LostLeadershipError)) throw error
    })
}
