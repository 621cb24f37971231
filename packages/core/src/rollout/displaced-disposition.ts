// What becomes of replicas on a node that no longer qualifies, since its labels or the demands of the deployment changed. A
// successor comes first wherever one can come. Where none can, residency is a hard rule, and what may not be there is stopped;
// for a constraint of labels, or a node by name, nothing is killed. SPEC 2.2, 2.7, DECISIONS 7.

import type { Refusal } from '@holdfast/contract'
import { mayStayForNow } from '../scheduling/still-qualifies.ts'
import type { NodeDisposition } from './desired-replicas.ts'

interface WayOut {
  /** Another node takes a replica now. */
  readonly open: boolean
  /** Nothing new may be made for the time being. */
  readonly gated: boolean
  /** Two at once may never be, so no successor comes first. */
  readonly stateful: boolean
}

export function displacedDisposition(
  refusal: Pick<Refusal, 'filter'>,
  { open, gated, stateful }: WayOut,
): NodeDisposition {
  if (mayStayForNow(refusal)) return open ? 'leaving' : 'stranded'
  return open && !gated && !stateful ? 'leaving' : 'barred'
}
