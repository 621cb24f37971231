// Assigns a replica to a node, with the records that the controllers would write, for tests of a node that runs a
// container.

import { type AssignmentId, asOwner, type NodeId, type TenantId } from '@holdfast/contract'
import type { Store } from '@holdfast/server/store/store'
import { placementAt } from '@holdfast/server/store/transaction'

export interface Assigned {
  /** Removes the assignment, as the controllers do once the agent has confirmed that the container is gone. */
  gone(): Promise<void>
}

const ULID = '01JD0000000000000000000000'

export async function assign(store: Store, tenantId: string, nodeId: string): Promise<Assigned> {
  const owner = asOwner(`deployment/dep_${ULID}`)
  const address = placementAt(tenantId as TenantId, owner)
  const assignment = {
    id: `rep_${ULID}` as AssignmentId,
    replica: 0,
    nodeId: nodeId as NodeId,
    revision: 1,
    templateHash: 'template',
    desired: 'running' as const,
    assignedAt: '2026-01-01T00:00:00.000Z',
  }
  const put = (assignments: (typeof assignment)[]) =>
    store.transact((transaction) => {
      transaction.put(address, {
        v: 1,
        owner,
        name: 'web',
        revision: 1,
        everAssigned: true,
        assignments,
        templates: {},
        reportedRefusals: '',
        reportedPhase: '',
      })
      return { kind: 'commit', result: undefined }
    })
  await put([assignment])
  await store.fresh()
  return {
    async gone() {
      await put([])
      await store.fresh()
    },
  }
}
