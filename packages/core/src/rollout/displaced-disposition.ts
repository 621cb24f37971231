// The fate of replicas on a node that no longer qualifies, because its labels or the demands of the deployment changed. A
// successor starts first wherever a node accepts one. Otherwise residency is a hard rule and stops the replica; for a label
// constraint or a named node it keeps running. See docs/design/residency.md#displaced-replicas

import type { Refusal } from '@holdfast/contract'
import { mayStayForNow } from '../scheduling/still-qualifies.ts'
import type { NodeDisposition } from './desired-replicas.ts'

interface SuccessorConditions {
  /** Another node accepts a replica now. */
  readonly open: boolean
  /** A dependency is unmet, so no replica may be created. */
  readonly gated: boolean
  /** Two replicas must never exist at once, so no successor can start first. */
  readonly stateful: boolean
}

export function displacedDisposition(
  refusal: Pick<Refusal, 'filter'>,
  { open, gated, stateful }: SuccessorConditions,
): NodeDisposition {
  if (mayStayForNow(refusal)) return open ? 'leaving' : 'stranded'
  return open && !gated && !stateful ? 'leaving' : 'barred'
}
