// Decides what happens to replicas on a node that no longer qualifies, because its labels or the demands of the
// deployment changed. A successor starts first if another node accepts one. Otherwise a replica that violates residency
// is stopped, and a replica that violates a label constraint or a named node keeps running. See
// docs/design/residency.md#displaced-replicas

import type { Refusal } from '@holdfast/contract'
import { mayStayForNow } from '../scheduling/still-qualifies.ts'
import type { NodeDisposition } from './desired-replicas.ts'

interface SuccessorConditions {
  /** Whether another node accepts a replica now. */
  readonly open: boolean
  /** True while a dependency is not ready, so that no replica may be created. */
  readonly gated: boolean
  /**
   * Whether the deployment has a read-write mount: two replicas must never exist at once, so no successor can start
   * before the old replica is gone.
   */
  readonly stateful: boolean
}

export function displacedDisposition(
  refusal: Pick<Refusal, 'filter'>,
  { open, gated, stateful }: SuccessorConditions,
): NodeDisposition {
  if (mayStayForNow(refusal)) return open ? 'leaving' : 'stranded'
  return open && !gated && !stateful ? 'leaving' : 'barred'
}
