// Decides when a placement decision is recorded, and with which matrix of candidate nodes. A decision that equals the
// last recorded decision is not recorded again. See docs/design/placement.md#decision-records

import { utf8Length } from '@holdfast/contract'
import { DEPENDENCY_UNHEALTHY } from '../rollout/derive-status.ts'
import { boundGroups, type Explanation, type GroupBounds } from '../scheduling/index.ts'
import type { PlacementPlan, PlanBasis, PlannedReplicas, StoredMatrix } from './placement-plan.ts'
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

const NOTHING: StoredMatrix = { candidates: [] }

/** The matrix for the decision record; undefined if the decision equals the last one and is not recorded again. */
export function recordedMatrix({
  before,
  next,
  refused,
}: Pick<PlacementPlan, 'before' | 'next' | 'refused'>): StoredMatrix | undefined {
  if (next?.decided === undefined || next.decided === before?.decided) return undefined
  return refused === undefined ? NOTHING : matrixWithin(refused, IN_DECISION)
}

/** A decision names every node as long as the names fit. */
const IN_DECISION: GroupBounds = { bytes: 240 * 1024, names: Number.POSITIVE_INFINITY }
/** The event of a refusal is small: a tenant whose nodes change all the time must not lose its other events. */
export const IN_EVENT: GroupBounds = { bytes: 16 * 1024, names: 10 }

/** The most bytes of nodes that are stored each with its own texts, and the most nodes that may fit into them. */
const LISTED_BYTES = 32 * 1024
const LISTED_NODES = 200

export function matrixWithin(
  explanation: Pick<Explanation, 'candidates' | 'groups' | 'count'>,
  bounds: GroupBounds,
): StoredMatrix {
  if (explanation.count <= LISTED_NODES) {
    const { candidates } = explanation
    if (utf8Length(JSON.stringify(candidates)) <= LISTED_BYTES) return { candidates }
  }
  return { candidates: [], groups: boundGroups(explanation.groups, bounds) }
}
