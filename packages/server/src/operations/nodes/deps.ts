// What the node operations need, named narrowly.

import type { MachineContainer, NodeId, TenantId } from '@holdfast/contract'
import type { Clock, IdSource } from '../../ports/clock.ts'
import type { SlotDeps } from '../../quotas/hold-slot.ts'
import type { Store } from '../../store/store.ts'
import type { IdempotentAnswers } from '../idempotency.ts'

/** Asks the agent of a node over its session. `unreachable`: nobody knows what is there, which is not nothing. */
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
  /** Where agents reach this platform. */
  readonly publicUrl: string
}
