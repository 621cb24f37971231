// Plans the replicas of a canary, as those of a deployment of their own beside the deployment: displacement, lost nodes and
// drains are handled by the same functions. It also advances the canary's state. See docs/design/canaries.md

import { type Assignment, type CanaryProgress, defined } from '@holdfast/contract'
import { advanceCanary, type CanaryFacts, canaryReplanAt, isActiveCanary } from '../canary/advance-canary.ts'
import { findCanaryFailure } from '../canary/canary-failure.ts'
import { DEPENDENCY_UNHEALTHY } from '../rollout/derive-status.ts'
import type { ReplicaFacts } from '../rollout/desired-replicas.ts'
import { planReplicas } from '../rollout/plan-replicas.ts'
import type { RolloutPlan } from '../rollout/plan-rollout.ts'
import { updateRulesOf } from '../rollout/plan-rollout-rules.ts'
import { isServing } from '../rollout/replica-health.ts'
import { type PlannedPart, planPart } from './plan-part.ts'
import type { CanarySnapshot, DeploymentRecord, PlacementSnapshot } from './snapshot.ts'

export interface CanaryPlan {
  readonly part: PlannedPart | undefined
  /** The next state of the canary; the stored object if nothing changes. */
  readonly state: CanaryProgress | undefined
  readonly replanAt: number | undefined
}

/** `beside` are the replicas of the deployment after this plan, and `marked` those of the canary before it. */
export function planCanary(
  snapshot: PlacementSnapshot,
  deployment: DeploymentRecord,
  { beside, marked }: { readonly beside: readonly Assignment[]; readonly marked: readonly Assignment[] },
  now: number,
): CanaryPlan {
  const { canary: state } = deployment
  const isOn = isActiveCanary(state) && !deployment.deleting
  if (!isOn && marked.length === 0) return { part: undefined, state, replanAt: undefined }
  const known = snapshot.canary ?? withoutChange(snapshot, deployment)
  const own = ownSnapshot(snapshot, known, marked, beside.length)
  const count = isOn ? (state?.replicas ?? 0) : 0
  // A scaling policy changes the number of the deployment's own replicas only.
  const asDeployment = { ...deployment, spec: { ...known.spec, replicas: count }, scaling: undefined }
  const planned = planPart(own, asDeployment, { beside, isCanary: true }, now, (facts, gated) =>
    replicasOf(known, count, marked, facts, gated),
  )
  if (state === undefined || !isOn) return { part: planned, state, replanAt: undefined }
  const facts = factsOf(snapshot, known, planned, { marked, count })
  const next = advanceCanary(state, facts, now)
  const replanAt = canaryReplanAt(next, facts)
  return {
    // A canary that ends now gets no further replica; the next plan removes those that it has.
    part: isActiveCanary(next) ? planned : { ...planned, added: [] },
    state: next,
    replanAt: replanAt !== undefined && replanAt > now ? replanAt : undefined,
  }
}

/** The source of the replicas of a canary that is over: they only leave. */
const withoutChange = (
  { workload, target }: PlacementSnapshot,
  { spec, digest, pins }: DeploymentRecord,
): CanarySnapshot => ({ workload, target, spec, digest, ...defined({ pins }) })

/** The snapshot as if the canary were the deployment: its demands, its template, its replicas and the quota left for it. */
function ownSnapshot(
  snapshot: PlacementSnapshot,
  { workload, target }: CanarySnapshot,
  marked: readonly Assignment[],
  others: number,
): PlacementSnapshot {
  const { placement, room } = snapshot
  return {
    ...snapshot,
    workload,
    target,
    placement: placement && { ...placement, assignments: [...marked] },
    room: room - others,
  }
}

/** The replicas of a canary start at once, and replace each other only after a loss or a change of secrets. */
function replicasOf(
  { target }: CanarySnapshot,
  count: number,
  marked: readonly Assignment[],
  facts: ReplicaFacts,
  gated: boolean,
): RolloutPlan {
  const plan = planReplicas(
    {
      count,
      aim: target,
      hold: false,
      stopFirst: false,
      stateful: false,
      parallelism: Math.max(1, count),
      careful: false,
      gated,
      goodHash: target?.templateHash,
      recreatedBefore: 0,
      failedHash: undefined,
    },
    marked,
    facts,
  )
  return { ...plan, aim: target, rollout: undefined, lastGood: undefined, replanAt: undefined }
}

function factsOf(
  { graceUntil }: PlacementSnapshot,
  { spec, target }: CanarySnapshot,
  { facts, refused, unmet }: PlannedPart,
  { marked, count }: { readonly marked: readonly Assignment[]; readonly count: number },
): CanaryFacts {
  const own = marked.filter(
    ({ desired, templateHash }) => desired === 'running' && templateHash === target?.templateHash,
  )
  const ready = new Set(own.filter((each) => isServing(each, facts)).map(({ replica }) => replica))
  const numbers = Array.from({ length: count }, (_, at) => at + 1)
  return {
    ready: ready.size,
    unready: numbers.find((replica) => !ready.has(replica)) ?? 0,
    failure: findCanaryFailure(own, facts),
    waits: waitsFor(target === undefined, refused !== undefined, unmet.length > 0),
    deadlineMs: updateRulesOf(spec).progressDeadlineMs,
    graceUntil,
    gated: unmet.length > 0,
  }
}

function waitsFor(isUnresolved: boolean, isRefused: boolean, isGated: boolean): string {
  if (isUnresolved) return 'image_unresolved'
  if (isGated) return DEPENDENCY_UNHEALTHY
  return isRefused ? 'unschedulable' : ''
}
