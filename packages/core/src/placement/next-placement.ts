// Builds the placement record and the deployment status that follow from a decision, and checks whether the new record
// differs from the stored one.

import {
  type Assignment,
  type AssignmentId,
  type ContainerTemplate,
  carryUnknown,
  type FilterName,
  keepUnknown,
  type NodeId,
  ownerOf,
} from '@holdfast/contract'
import { stableAssignments } from '../canary/split-assignments.ts'
import { failingContainers } from '../node/container-cause.ts'
import { containerTemplate } from '../node/container-template.ts'
import { dependencyText } from '../rollout/dependency-gate.ts'
import {
  DEPENDENCY_UNHEALTHY,
  deriveStatus,
  RESIDENCY_NO_MATCH,
  RESIDENCY_OFF,
} from '../rollout/derive-status.ts'
import type { Explanation, Workload } from '../scheduling/index.ts'
import { decidedNext } from './decision-record.ts'
import { findUnreportedSecrets } from './events/secret-events.ts'
import type { NextPlacement, PlanBasis, PlannedReplicas } from './placement-plan.ts'
import type { PlacementRecord, PlacementSnapshot } from './snapshot.ts'
import { sizesInMemory } from './writer-claims.ts'

export function nextPlacement(
  snapshot: PlacementSnapshot,
  basis: PlanBasis,
  planned: PlannedReplicas,
): NextPlacement {
  const { deployment, before } = basis
  const { kept, added, refused, rollout: plan } = planned
  const { uid, revision, deleting, digest, spec, scaling } = deployment
  const assignments = [...kept, ...added]
  const shortfall = keptIfSame(before?.shortfall, shortfallOf(planned, snapshot.workload))
  const { rollout, lastGood } = plan
  const observed = (id: AssignmentId) => snapshot.seen(id)
  const isLost = (id: NodeId) => snapshot.dispositionOf(id) === 'failed'
  const status = deriveStatus(spec, {
    deleting,
    revision,
    scaling,
    imageDigest: digest,
    placed: { ...ranOf(before), assignments, shortfall, rollout, lastGood },
    observed,
    isLost,
  })
  const reachable = stableAssignments(assignments).filter(
    ({ desired, nodeId }) => desired === 'running' && !isLost(nodeId),
  )
  const { reportedSecrets, unreportedSecrets } = findUnreportedSecrets(
    deployment,
    before,
    reachable.map(({ id }) => observed(id)),
  )
  const failing = failingContainers(reachable, observed, (id) => snapshot.nodeOf(id)?.name ?? id)
  if (assignments.length === 0 && (deleting || (before === undefined && shortfall === undefined)))
    return { next: undefined, status, failing, unreportedSecrets: [] }
  const { demands, refusals } = planned.displacement
  // The old hash of the demands stays until every displaced replica has moved, so that events can name the cause: labels
  // or demands.
  const metDemands = refusals.size === 0 ? demands : before?.metDemands
  const ranRevision = status.phase === 'Running' ? revision : before?.ranRevision
  const ranReplicas = status.phase === 'Running' ? status.replicas.desired : before?.ranReplicas
  const formerly = formerlyOf(basis, assignments)
  const { avoided } = basis
  const next = keepUnknown<PlacementRecord>(before, {
    owner: ownerOf('deployment', uid),
    name: spec.name,
    revision,
    assignments,
    everAssigned: before?.everAssigned === true || added.length > 0,
    templates: templatesOf(snapshot, basis, planned),
    reportedRefusals: refused === undefined ? '' : snapshot.sha256(refused.canonical).slice(0, 32),
    reportedPhase: status.phase,
    ...(reportedSecrets.length === 0 ? {} : { reportedSecrets }),
    ...(metDemands === undefined ? {} : { metDemands }),
    ...(shortfall === undefined ? {} : { shortfall }),
    ...(ranRevision === undefined ? {} : { ranRevision }),
    ...(scaling === undefined || ranReplicas === undefined ? {} : { ranReplicas }),
    ...(rollout === undefined ? {} : { rollout }),
    ...(lastGood === undefined ? {} : { lastGood }),
    ...(formerly === undefined ? {} : { formerly }),
    ...(avoided === undefined ? {} : { avoided }),
  })
  const decided = decidedNext(basis, planned, next, status.reason)
  return { next: { ...next, decided }, status, failing, unreportedSecrets }
}

const ranOf = (before: PlacementRecord | undefined) => ({
  ranRevision: before?.ranRevision,
  ranReplicas: before?.ranReplicas,
})

/** Bounds of the remembered assignments: agents keep the logs of failed containers for an hour. */
const MAX_FORMER = 16
const FORMER_MS = 60 * 60_000

/** The stored list as it is, unless an assignment leaves the record. A list is never written only to shorten it. */
function formerlyOf(
  { before, now }: PlanBasis,
  assignments: readonly Assignment[],
): PlacementRecord['formerly'] {
  const stay = new Set(assignments.map(({ id }) => id))
  const leaving = (before?.assignments ?? []).filter(({ id }) => !stay.has(id))
  if (leaving.length === 0) return before?.formerly
  const recent = (before?.formerly ?? []).filter(
    ({ leftAt }) => Date.parse(now) - Date.parse(leftAt) < FORMER_MS,
  )
  const left = leaving.map(({ id, replica, nodeId, revision, canary }) => ({
    ...{ id, replica, nodeId, revision, leftAt: now },
    ...(canary === undefined ? {} : { canary }),
  }))
  return [...recent, ...left].slice(-MAX_FORMER)
}

/** The stored shortfall if it equals the new one, so that members of a newer version stay with it. */
function keptIfSame(
  before: PlacementRecord['shortfall'],
  now: PlacementRecord['shortfall'],
): PlacementRecord['shortfall'] {
  return before?.reason === now?.reason && before?.summary === now?.summary ? before : now
}

function shortfallOf({ refused, unmet }: PlannedReplicas, workload: Workload): PlacementRecord['shortfall'] {
  if (unmet.length > 0) return { reason: DEPENDENCY_UNHEALTHY, summary: dependencyText(unmet) }
  return refused && { reason: shortfallReason(refused, workload), summary: refused.summary }
}

const RESIDENCY: ReadonlySet<FilterName> = new Set([
  'residency_country',
  'residency_region',
  'blocked_country',
])

/**
 * The reason why a replica has no node. Residency comes before all other reasons: enforcement is off, or no reachable
 * node meets the demands. The quota is the reason if some node refuses the replica only because of the quota.
 */
export function shortfallReason(
  { answers }: Pick<Explanation, 'answers'>,
  { residency }: Pick<Workload, 'residency'>,
): string {
  if (residency?.enforced === false) return RESIDENCY_OFF
  const matches = answers.some(({ answer: { refusals } }) =>
    refusals.every(({ filter }) => filter !== 'readiness' && !RESIDENCY.has(filter)),
  )
  if (residency !== undefined && !matches) return RESIDENCY_NO_MATCH
  const byQuota = answers.some(
    ({ answer: { refusals } }) => refusals.length > 0 && refusals.every(({ filter }) => filter === 'quota'),
  )
  return byQuota ? 'quota_reached' : 'unschedulable'
}

/**
 * The container templates of all assignments, and the template of the revision that a failed update is rolled back to.
 */
function templatesOf(
  snapshot: Pick<PlacementSnapshot, 'target' | 'canary' | 'volumeOf'>,
  { deployment, before }: PlanBasis,
  { rollout: { lastGood }, kept, added }: PlannedReplicas,
): PlacementRecord['templates'] {
  const templates: { [hash: string]: ContainerTemplate } = {}
  for (const { templateHash } of [...kept, ...added, ...(lastGood ? [lastGood] : [])]) {
    if (templates[templateHash] !== undefined) continue
    const stored = before?.templates[templateHash]
    const source = sourceOf(snapshot, deployment, templateHash)
    const current =
      source === undefined
        ? undefined
        : carryUnknown(
            stored,
            containerTemplate(source.spec, source.digest, source.pins, sizesInMemory(snapshot, source.spec)),
          )
    // The template hash omits fields that need no restart, so the current template replaces a stored one with the same
    // hash.
    const template = current ?? stored
    if (template !== undefined) templates[templateHash] = template
  }
  return templates
}

/** The source of a template with this hash: the deployment, or its canary; undefined if neither has it. */
function sourceOf(
  { target, canary }: Pick<PlacementSnapshot, 'target' | 'canary'>,
  { spec, digest, pins }: PlanBasis['deployment'],
  templateHash: string,
) {
  if (templateHash === target?.templateHash && digest !== null) return { spec, digest, pins }
  if (templateHash !== canary?.target?.templateHash || canary.digest === null) return undefined
  return { spec: canary.spec, digest: canary.digest, pins: canary.pins }
}

/** Whether two placement records are equal. Assignments are not compared, because the caller compares them. */
export function isSameRecord(
  before: PlacementRecord | undefined,
  next: PlacementRecord | undefined,
): boolean {
  if (before === undefined || next === undefined) return before === next
  return (
    before.decided === next.decided &&
    before.avoided === next.avoided &&
    before.metDemands === next.metDemands &&
    before.ranRevision === next.ranRevision &&
    before.ranReplicas === next.ranReplicas &&
    before.rollout === next.rollout &&
    before.lastGood === next.lastGood
  )
}
