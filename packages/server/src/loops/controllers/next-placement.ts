// The placement record that a decision leads to, and whether it says anything that the stored one does not say yet.

import { hash } from 'node:crypto'
import type { AssignmentId, FilterName, NodeId } from '@holdfast/contract'
import {
  containerTemplate,
  DEPENDENCY_UNHEALTHY,
  dependencyText,
  deriveStatus,
  type Explanation,
  RESIDENCY_NO_MATCH,
  RESIDENCY_OFF,
  type Workload,
} from '@holdfast/core'
import { targetOf } from '../../scheduling/revision-target.ts'
import { observations, type StoredPlacement } from '../../store/records.ts'
import { inTenant } from '../../store/transaction.ts'
import type { DecideDeps, Decision } from './decision.ts'
import { decidedNext } from './record-decision.ts'
import { emitSecretEvents } from './secret-events.ts'

type Made = Pick<
  Decision,
  'stored' | 'before' | 'plan' | 'kept' | 'added' | 'refused' | 'unmet' | 'displacement'
>

export function nextPlacement(
  { store, tenant, view, now }: DecideDeps,
  made: Made,
  workload: Workload,
): Pick<Decision, 'next' | 'status' | 'unreportedSecrets'> {
  const { stored, before, plan, kept, added, refused } = made
  const assignments = [...kept, ...added]
  const shortfall = shortfallOf(made, workload)
  const { rollout, lastGood } = plan
  const { uid, revision, deleting, digest, spec } = stored
  const observed = (id: AssignmentId) => store.get(inTenant(tenant, observations, id))?.record
  const isLost = (id: NodeId) => view.dispositionOf(id) === 'failed'
  const status = deriveStatus(spec, {
    ...{ deleting, revision, imageDigest: digest },
    placed: { assignments, shortfall, ranRevision: before?.ranRevision, rollout, lastGood },
    ...{ observed, isLost },
  })
  const standing = assignments.filter(({ desired, nodeId }) => desired === 'running' && !isLost(nodeId))
  const { reportedSecrets, unreportedSecrets } = emitSecretEvents(
    stored,
    before,
    standing.map(({ id }) => observed(id)),
  )
  if (assignments.length === 0 && (deleting || (before === undefined && shortfall === undefined)))
    return { next: undefined, status, unreportedSecrets: [] }
  const { demands, refusals } = made.displacement
  // Until nothing is where it may not be any more, it is known what has changed: the labels or what is asked of them.
  const metDemands = refusals.size === 0 ? demands : before?.metDemands
  const ranRevision = status.phase === 'Running' ? revision : before?.ranRevision
  const next: StoredPlacement = {
    ...{ v: 1, uid, name: spec.name, revision, assignments },
    everAssigned: before?.everAssigned === true || added.length > 0,
    templates: templatesOf(made),
    reportedRefusals: refused === undefined ? '' : hash('sha256', refused.canonical, 'hex').slice(0, 32),
    reportedPhase: status.phase,
    ...(reportedSecrets.length === 0 ? {} : { reportedSecrets }),
    ...(metDemands === undefined ? {} : { metDemands }),
    ...(shortfall === undefined ? {} : { shortfall }),
    ...(ranRevision === undefined ? {} : { ranRevision }),
    ...(rollout === undefined ? {} : { rollout }),
    ...(lastGood === undefined ? {} : { lastGood }),
  }
  const decided = decidedNext({ before, added, now }, next, status.reason)
  return { next: { ...next, decided }, status, unreportedSecrets }
}

function shortfallOf({ refused, unmet }: Made, workload: Workload): StoredPlacement['shortfall'] {
  if (unmet.length > 0) return { reason: DEPENDENCY_UNHEALTHY, summary: dependencyText(unmet) }
  return refused && { reason: reasonOf(refused, workload), summary: refused.summary }
}

const RESIDENCY: ReadonlySet<FilterName> = new Set([
  'residency_country',
  'residency_region',
  'blocked_country',
])

/**
 * A demand that cannot be honoured is named before all else: it is not enforced, or no node that answers stands where it asks
 * (SPEC 2.7). The quota alone stands in the way where a node refuses for nothing else.
 */
function reasonOf({ candidates }: Explanation, { residency }: Workload): string {
  if (residency?.enforced === false) return RESIDENCY_OFF
  const matches = candidates.some(({ refusals }) =>
    refusals.every(({ filter }) => filter !== 'readiness' && !RESIDENCY.has(filter)),
  )
  if (residency !== undefined && !matches) return RESIDENCY_NO_MATCH
  const byQuota = candidates.some(
    ({ refusals }) => refusals.length > 0 && refusals.every(({ filter }) => filter === 'quota'),
  )
  return byQuota ? 'quota_reached' : 'unschedulable'
}

/** Of all that runs, and of what a failed update would go back to. */
function templatesOf({ stored, before, plan, kept, added }: Made): StoredPlacement['templates'] {
  const templates: { [hash: string]: StoredPlacement['templates'][string] } = {}
  const { spec, digest, pins } = stored
  const target = targetOf(stored)?.templateHash
  for (const { templateHash } of [...kept, ...added, ...(plan.lastGood ? [plan.lastGood] : [])]) {
    const made =
      templateHash === target && digest !== null ? containerTemplate(spec, digest, pins) : undefined
    // The name of a template leaves out what restarts nothing, so what is stored of it now comes first.
    const template = made ?? before?.templates[templateHash]
    if (template !== undefined) templates[templateHash] = template
  }
  return templates
}

/** Beside the assignments: is there anything that the record does not say yet? */
export function sameStory(before: StoredPlacement | undefined, next: StoredPlacement | undefined): boolean {
  if (before === undefined || next === undefined) return before === next
  return (
    before.decided === next.decided &&
    before.metDemands === next.metDemands &&
    before.ranRevision === next.ranRevision &&
    before.rollout === next.rollout &&
    before.lastGood === next.lastGood
  )
}
