// All invariants, in the order in which a simulation checks them. docs/invariants.md describes each in one line.

import type { Snapshot, Violation } from '../cluster/snapshot.ts'
import type { Script } from '../script/script.ts'
import { canaryBeside, canaryCount } from './canaries/beside.ts'
import { canaryPhases, canarySettled } from './canaries/phases.ts'
import { canaryPromotion } from './canaries/promotion.ts'
import { creationAvoided, oneReplica } from './creation/avoided.ts'
import { createdElsewhere, creationExplained } from './creation/created-elsewhere.ts'
import type { Invariant } from './invariant.ts'
import { jobAttempts } from './jobs/attempts.ts'
import { jobEnds, jobsSettled } from './jobs/ends.ts'
import { jobLogs } from './jobs/logs.ts'
import { oneJobContainer } from './jobs/one-job-container.ts'
import { createMoments, type Moment } from './moment.ts'
import { atNetwork, networkTenants } from './networks/at-network.ts'
import { networkKept } from './networks/kept.ts'
import { networksSettled } from './networks/settled.ts'
import { givenUpLate } from './nodes/given-up-late.ts'
import { noStorm } from './nodes/no-storm.ts'
import { nodeNames } from './nodes/node-names.ts'
import { observations, readyIsTrue } from './nodes/observations.ts'
import { oneOwner } from './nodes/one-owner.ts'
import { sessions } from './nodes/sessions.ts'
import { silenceExplained } from './nodes/silence-explained.ts'
import { antiAffinity } from './placement/anti-affinity.ts'
import { confirmedGone } from './placement/confirmed-gone.ts'
import { containerQuota } from './placement/container-quota.ts'
import { fitsNode } from './placement/fits-node.ts'
import { forwardOnly } from './placement/forward-only.ts'
import { noMoreThanDesired } from './placement/no-more-than-desired.ts'
import { oneContainer } from './placement/one-container.ts'
import { residency, residencySettled } from './placement/residency.ts'
import { servesUntilReplaced } from './placement/serves-until-replaced.ts'
import { settled } from './placement/settled.ts'
import { takesWork } from './placement/takes-work.ts'
import { tenantBoundary } from './placement/tenant-boundary.ts'
import { waitsForOthers } from './placement/waits-for-others.ts'
import { acknowledged } from './records/acknowledged.ts'
import { eventsStand } from './records/events-stand.ts'
import { slotsInLimits } from './records/slots-in-limits.ts'
import { scalingBounds, scalingDelay } from './scaling/bounds.ts'
import { scalingHolds } from './scaling/holds.ts'
import { scalingReference, scalingSettled } from './scaling/reference.ts'
import { atPrimary } from './volumes/consumers.ts'
import { dataKept } from './volumes/content.ts'
import { copiesAllowed, drainedStays, poolBytes, volumeEpochs } from './volumes/copies.ts'
import { volumeContent } from './volumes/lineage.ts'
import { acknowledgedKept, divergenceKept, groupTogether, lossStated } from './volumes/promotions.ts'
import { volumesSettled } from './volumes/volumes-settled.ts'
import { promisesNeeded, voteStands } from './volumes/votes.ts'
import { oneWriter, writerClaims } from './volumes/writers.ts'

export const INVARIANTS: readonly Invariant[] = [
  tenantBoundary,
  nodeNames,
  forwardOnly,
  confirmedGone,
  oneContainer,
  noMoreThanDesired,
  servesUntilReplaced,
  takesWork,
  waitsForOthers,
  createdElsewhere,
  creationExplained,
  creationAvoided,
  oneReplica,
  residency,
  antiAffinity,
  fitsNode,
  containerQuota,
  slotsInLimits,
  acknowledged,
  observations,
  readyIsTrue,
  sessions,
  oneOwner,
  givenUpLate,
  silenceExplained,
  eventsStand,
  noStorm,
  oneJobContainer,
  jobAttempts,
  jobEnds,
  jobLogs,
  scalingBounds,
  scalingDelay,
  scalingHolds,
  scalingReference,
  canaryBeside,
  canaryCount,
  canaryPromotion,
  canaryPhases,
  atNetwork,
  networkTenants,
  networkKept,
  writerClaims,
  oneWriter,
  atPrimary,
  copiesAllowed,
  drainedStays,
  volumeEpochs,
  poolBytes,
  volumeContent,
  dataKept,
  acknowledgedKept,
  groupTogether,
  lossStated,
  voteStands,
  promisesNeeded,
  divergenceKept,
  residencySettled,
  settled,
  volumesSettled,
  jobsSettled,
  scalingSettled,
  canarySettled,
  networksSettled,
]

interface Invariants {
  /** Checks the invariants against a snapshot, after every step of the simulation. */
  check(world: Snapshot): Violation[]
  /** Checks the end-state invariants on the last snapshot, after the script and the time to settle. */
  checkEnd(): Violation[]
  /** Whether all faults are over and the last snapshot breaks no end-state invariant. */
  isSettled(): boolean
}

export function createInvariants(script: Script, invariants: readonly Invariant[] = INVARIANTS): Invariants {
  const started = invariants.map(({ name, start, atEnd = false }) => ({ name, atEnd, judge: start(script) }))
  const take = createMoments()
  let last: Moment | undefined
  const ask = (moment: Moment, end: boolean): Violation[] => {
    const found: Violation[] = []
    for (const { name, atEnd, judge } of started)
      if (atEnd === end) for (const broken of judge(moment)) found.push({ invariant: name, ...broken })
    return found
  }
  return {
    check(world) {
      last = take(world)
      return ask(last, false)
    },
    checkEnd: () => (last === undefined || !isOver(script, last) ? [] : ask(last, true)),
    isSettled: () => last !== undefined && isOver(script, last) && ask(last, true).length === 0,
  }
}

/** Default time to settle after a script: enough for a takeover, a rollout and the detection of a failed machine. */
const SETTLE_MS = 120_000

/** False if the end state is not checked: a fault remains, an enrollment was lost, or there was no time to settle. */
const isOver = ({ settleMs = SETTLE_MS }: Script, { world: { machines, servers }, nodes }: Moment): boolean =>
  settleMs >= SETTLE_MS &&
  machines.every(({ powered, connected, frozen, isCut }) => powered && connected && !frozen && !isCut) &&
  machines.every(
    ({ tenant, nodeId, generation }) => (nodes.is(tenant, nodeId)?.generation ?? generation) === generation,
  ) &&
  servers.some(({ alive }) => alive)
