// The dependencies of the node operations.

import type { MachineContainer, NodeId, ResidencyRules, TenantId } from '@holdfast/contract'
import type { Clock, IdSource } from '../../ports/clock.ts'
import type { SlotDeps } from '../../quotas/hold-slot.ts'
import type { Store } from '../../store/store.ts'
import type { IdempotentAnswers } from '../idempotency.ts'

/** Lists the containers of a node through its agent. `unreachable` means that the containers are unknown, not absent. */
export type CallNode = (
  tenant: TenantId,
  nodeId: NodeId,
) => Promise<readonly MachineContainer[] | 'unreachable'>

export interface NodeDeps extends SlotDeps {
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdSource
  readonly answers: IdempotentAnswers
  readonly callNode: CallNode
  readonly residency: ResidencyRules
  /** The URL at which agents reach the servers of this platform. */
  readonly publicUrl: string
}
