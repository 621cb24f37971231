// Decides when a placement decision is recorded, and with which matrix of candidate nodes. A decision that equals the
// last recorded decision is not recorded again. See docs/design/placement.md#decision-records

import { type Candidate, utf8Length } from '@holdfast/contract'
import { DEPENDENCY_UNHEALTHY } from '../rollout/derive-status.ts'
import type { Explanation } from '../scheduling/index.ts'
import type { PlacementPlan, PlanBasis, PlannedReplicas } from './placement-plan.ts'
import type { PlacementRecord } from './snapshot.ts'

/**
 * The value of `decided` in the next placement record. It is unchanged if the decision equals the last recorded decision.
 */
export function decidedNext(
  { before, now }: Pick<PlanBasis, 'before' | 'now'>,
  { added }: Pick<PlannedReplicas, 'added'>,
  next: PlacementRecord,
  reason: string,
): NonNullable<PlacementRecord['decided']> {
  const last = before?.decided
  const mayBeSame = last?.reason === reason && added.length === 0 && before !== undefined
  if (mayBeSame && isSameDecision(before, next)) return last
  return { number: (last?.number ?? 0) + 1, at: laterThan(last?.at, now), reason }
}

/**
 * Whether two placement records state the same decision. A changed amount that nodes report, such as free capacity, is no
 * new decision. Progress of a dependency is a new decision.
 */
function isSameDecision(before: PlacementRecord, next: PlacementRecord): boolean {
  const [last, now] = [before.shortfall, next.shortfall]
  return (
    before.revision === next.revision &&
    before.reportedPhase === next.reportedPhase &&
    before.reportedRefusals === next.reportedRefusals &&
    before.reportedSecrets?.length === next.reportedSecrets?.length &&
    last?.reason === now?.reason &&
    (now?.reason !== DEPENDENCY_UNHEALTHY || last?.summary === now.summary)
  )
}

/**
 * Returns a time after the last decision, even if the clock of a new controller is behind the clock of the previous
 * controller.
 */
function laterThan(last: string | undefined, now: string): string {
  if (last === undefined || now > last) return now
  return new Date(Date.parse(last) + 1).toISOString()
}

export function recordedParts({
  before,
  next,
  refused,
}: Pick<PlacementPlan, 'before' | 'next' | 'refused'>): readonly (readonly Candidate[])[] {
  if (next?.decided === undefined || next.decided === before?.decided) return []
  return refused === undefined ? [[]] : partsOf(refused)
}

/** The most bytes of candidate nodes in one event or record. Every node must be named, so a larger matrix is divided. */
const MAX_BYTES = 256 * 1024

/**
 * Caches the parts into which an explanation's matrix of candidate nodes is divided, because both the events and the
 * decision record need the parts.
 */
const divided = new WeakMap<object, Candidate[][]>()

export function partsOf(explanation: Pick<Explanation, 'candidates'>): Candidate[][] {
  const known = divided.get(explanation)
  if (known !== undefined) return known
  const parts = divide(explanation)
  divided.set(explanation, parts)
  return parts
}

function divide({ candidates }: Pick<Explanation, 'candidates'>): Candidate[][] {
  const parts: Candidate[][] = [[]]
  let bytes = 0
  for (const candidate of candidates) {
    const size = utf8Length(JSON.stringify(candidate))
    if (bytes > 0 && bytes + size > MAX_BYTES) {
      parts.push([])
      bytes = 0
    }
    parts.at(-1)?.push(candidate)
    bytes += size
  }
  return parts
}
