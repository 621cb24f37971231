// What a decision tells: where replicas went, why one is nowhere with every node and every reason, and how the deployment
// fares now. SPEC 6, DECISIONS 5 and 7, SAFETY 4g. Ids follow from the state that was decided on, so that a decision that
// is written twice is told once.

import type { Candidate, DeploymentStatus, EventType } from '@holdfast/contract'
import type { Explanation } from '@holdfast/core'
import type { NewEvent } from '../../operations/record-write.ts'
import type { Decision } from './decide-placement.ts'

/** Of one event; a larger matrix is told in several, since every node must be named (SAFETY 4g). */
const MAX_BYTES = 256 * 1024

/** In the order in which they are to be written; the last ones go with the placement record. */
export interface DecisionEvents {
  /** Parts of a matrix that is too large for one transaction. */
  readonly before: readonly NewEvent[]
  readonly within: readonly NewEvent[]
}

export function eventsOf(decision: Decision, nodeName: (id: string) => string): DecisionEvents {
  const refusals = refusalEvents(decision)
  const within = [...scheduled(decision, nodeName), ...refusals.slice(-1), ...phaseEvents(decision)]
  return { before: refusals.slice(0, -1), within }
}

function subjectOf({ stored }: Decision): NewEvent['subject'] {
  return { kind: 'Deployment', name: stored.spec.name, uid: stored.uid }
}

function scheduled(decision: Decision, nodeName: (id: string) => string): NewEvent[] {
  const { added, stored } = decision
  if (added.length === 0) return []
  const replicas = added.map(({ replica, nodeId }) => ({ replica, nodeId, nodeName: nodeName(nodeId) }))
  return [
    {
      type: 'deployment.scheduled',
      severity: 'info',
      subject: subjectOf(decision),
      cause: String(decision.decidedOn),
      reason: 'scheduled',
      message: `${added.length === 1 ? '1 replica' : `${added.length} replicas`} of ${stored.spec.name} went to ${namesOf(replicas)}.`,
      data: { revision: stored.revision, replicas },
    },
  ]
}

const NAMED = 5

function namesOf(replicas: readonly { readonly nodeName: string }[]): string {
  const names = [...new Set(replicas.map(({ nodeName }) => nodeName))]
  const more = names.length - NAMED
  return more > 0 ? `${names.slice(0, NAMED).join(', ')} and ${more} more nodes` : names.join(', ')
}

/** The same verdicts are told once; `unschedulable` only while no replica was ever assigned, later it is `stalled`. */
function refusalEvents(decision: Decision): NewEvent[] {
  const { refused, before, next, decidedOn } = decision
  if (refused === undefined || next === undefined || before?.toldRefusals === next.toldRefusals) return []
  const type: EventType = next.everAssigned ? 'deployment.stalled' : 'deployment.unschedulable'
  const parts = partsOf(refused)
  return parts.map((candidates, index) => ({
    type,
    severity: 'warning',
    subject: subjectOf(decision),
    cause: `${decidedOn}/${next.toldRefusals}/${index}`,
    reason: next.shortfall?.reason ?? 'unschedulable',
    message: parts.length > 1 ? `${refused.summary} (${index + 1} of ${parts.length})` : refused.summary,
    data: {
      summary: refused.summary,
      candidates: candidates.map((each) => ({ ...each, refusals: [...each.refusals] })),
      ...(parts.length > 1 ? { matrix: `${decidedOn}/${next.toldRefusals}` } : {}),
    },
  }))
}

function partsOf({ candidates }: Explanation): Candidate[][] {
  const parts: Candidate[][] = [[]]
  let bytes = 0
  for (const candidate of candidates) {
    const size = Buffer.byteLength(JSON.stringify(candidate))
    if (bytes > 0 && bytes + size > MAX_BYTES) {
      parts.push([])
      bytes = 0
    }
    parts.at(-1)?.push(candidate)
    bytes += size
  }
  return parts
}

const TOLD: { readonly [phase in DeploymentStatus['phase']]?: EventType } = {
  Progressing: 'deployment.progressing',
  Running: 'deployment.running',
  Degraded: 'deployment.degraded',
  Stopped: 'deployment.stopped',
}

function phaseEvents(decision: Decision): NewEvent[] {
  const { before, next, status, stored, decidedOn } = decision
  const type = TOLD[status.phase]
  if (type === undefined || next === undefined || before?.toldPhase === status.phase) return []
  // Before the first running, `scheduled` says it already.
  if (status.phase === 'Progressing' && before?.ranRevision === undefined) return []
  return [
    {
      type,
      severity: status.phase === 'Degraded' ? 'warning' : 'info',
      subject: subjectOf(decision),
      cause: String(decidedOn),
      reason: status.reason || status.phase.toLowerCase(),
      message: status.message,
      data: { revision: stored.revision, replicas: { ...status.replicas } },
    },
  ]
}
