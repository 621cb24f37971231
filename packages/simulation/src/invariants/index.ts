// All invariants, in the order in which a simulation checks them. docs/invariants.md describes each in one line.

import type { Snapshot, Violation } from '../cluster/snapshot.ts'
import type { Script } from '../script/script.ts'
import { acknowledged } from './acknowledged.ts'
import { antiAffinity } from './anti-affinity.ts'
import { confirmedGone } from './confirmed-gone.ts'
import { containerQuota } from './container-quota.ts'
import { controlPlaneQuiet } from './control-plane-quiet.ts'
import { eventsStand } from './events-stand.ts'
import { fitsNode } from './fits-node.ts'
import { forwardOnly } from './forward-only.ts'
import { givenUpLate } from './given-up-late.ts'
import type { Invariant } from './invariant.ts'
import { createMoments, type Moment } from './moment.ts'
import { noMoreThanDesired } from './no-more-than-desired.ts'
import { noStorm } from './no-storm.ts'
import { nodeNames } from './node-names.ts'
import { observations, readyIsTrue } from './observations.ts'
import { oneContainer } from './one-container.ts'
import { oneOwner } from './one-owner.ts'
import { residency, residencySettled } from './residency.ts'
import { servesUntilReplaced } from './serves-until-replaced.ts'
import { sessions } from './sessions.ts'
import { settled } from './settled.ts'
import { slotsInLimits } from './slots-in-limits.ts'
import { takesWork } from './takes-work.ts'
import { tenantBoundary } from './tenant-boundary.ts'
import { waitsForOthers } from './waits-for-others.ts'

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
  controlPlaneQuiet,
  eventsStand,
  noStorm,
  residencySettled,
  settled,
]

interface Invariants {
  /** Checks the invariants against a snapshot, after every step of the simulation. */
  check(world: Snapshot): Violation[]
  /** Checks the end-state invariants on the last snapshot, after the script and the time to settle. */
  checkEnd(): Violation[]
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
  }
}

/** Default time to settle after a script: enough for a takeover, a rollout and the detection of a failed machine. */
const SETTLE_MS = 120_000

/** False if the end state is not checked: a fault remains, an enrollment was lost, or there was no time to settle. */
const isOver = ({ settleMs = SETTLE_MS }: Script, { world: { machines, servers }, nodes }: Moment): boolean =>
  settleMs >= SETTLE_MS &&
  machines.every(({ powered, connected }) => powered && connected) &&
  machines.every(
    ({ tenant, nodeId, generation }) => (nodes.is(tenant, nodeId)?.generation ?? generation) === generation,
  ) &&
  servers.some(({ alive }) => alive)
