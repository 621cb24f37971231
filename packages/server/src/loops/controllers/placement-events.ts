// What a decision tells: where replicas went, why one is nowhere with every node and every reason, and how the deployment
// fares now. SPEC 6, DECISIONS 5 and 7, SAFETY 4g. Ids follow from the state that was decided on, so that a decision that
// is written twice is told once.

import type { Candidate, DeploymentStatus, EventType } from '@holdfast/contract'
import { DEPENDENCY_UNHEALTHY, type Explanation, updateRulesOf } from '@holdfast/core'
import type { NewEvent } from '../../operations/record-write.ts'
import type { Decision } from './decision.ts'
import { rolloutEvents } from './rollout-events.ts'
import { isFailing } from './rollout-events-failed.ts'
import { replicasText } from './rollout-events-texts.ts'
import { secretEvents } from './secret-events.ts'

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
  const told = rolloutEvents(decision, nodeName).map((each) => ({
    ...each,
    subject: subjectOf(decision),
    cause: `${decision.decidedOn}/${each.reason}/${each.type === 'deployment.displaced' ? each.message : ''}`,
  }))
  const secrets = secretEvents(decision).map((each) => ({ ...each, subject: subjectOf(decision) }))
  const placed = [...told, ...scheduled(decision, nodeName), ...refusals.slice(-1)]
  const within = [...placed, ...phaseEvents(decision), ...secrets]
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
      message:
        startedText(decision, nodeName) ??
        `${replicasText(added.length)} are started on ${namesOf(replicas)}.`,
      data: { revision: added[0]?.revision ?? stored.revision, replicas },
    },
  ]
}

const NAMED = 5

/** Which goes where, whose place it takes, and whether that one serves until then. */
function startedText(
  { added, kept, plan, ready }: Decision,
  nodeName: (id: string) => string,
): string | undefined {
  if (added.length > NAMED) return undefined
  const texts = added.map(({ replica, nodeId, revision }) => {
    const others = [...kept, ...plan.dropped].filter((each) => each.replica === replica)
    const serving = others.find(({ id, desired }) => desired === 'running' && ready.has(id))
    const old = serving ?? others[0]
    const started = `Replica ${replica} of revision ${revision} is started on ${nodeName(nodeId)}`
    if (old === undefined) return `${started}.`
    const one = `the one of revision ${old.revision} on ${nodeName(old.nodeId)}`
    return old === serving
      ? `${started}; ${one} serves until it is ready.`
      : `${started}, in place of ${one}.`
  })
  return texts.join(' ')
}

function namesOf(replicas: readonly { readonly nodeName: string }[]): string {
  const names = [...new Set(replicas.map(({ nodeName }) => nodeName))]
  const more = names.length - NAMED
  return more > 0 ? `${names.slice(0, NAMED).join(', ')} and ${more} more nodes` : names.join(', ')
}

/** The same verdicts are told once; `unschedulable` only while no replica was ever assigned, later it is `stalled`. */
function refusalEvents(decision: Decision): NewEvent[] {
  const { refused, before, next, decidedOn } = decision
  if (refused === undefined || next === undefined || before?.reportedRefusals === next.reportedRefusals)
    return []
  const type: EventType = next.everAssigned ? 'deployment.stalled' : 'deployment.unschedulable'
  const parts = partsOf(refused)
  return parts.map((candidates, index) => ({
    type,
    severity: 'warning',
    subject: subjectOf(decision),
    cause: `${decidedOn}/${next.reportedRefusals}/${index}`,
    reason: next.shortfall?.reason ?? 'unschedulable',
    message: parts.length > 1 ? `${refused.summary} (${index + 1} of ${parts.length})` : refused.summary,
    data: {
      summary: refused.summary,
      candidates: candidates.map((each) => ({ ...each, refusals: [...each.refusals] })),
      ...(parts.length > 1 ? { matrix: `${decidedOn}/${next.reportedRefusals}` } : {}),
    },
  }))
}

/** By the explanation: a matrix of thousands of nodes is told, stored and recorded, and measured once. */
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
  Waiting: 'deployment.progressing',
  Progressing: 'deployment.progressing',
  Running: 'deployment.running',
  Degraded: 'deployment.degraded',
  Stopped: 'deployment.stopped',
}

/** What a refusal was about is cured, and nothing had to be placed for it: no other event says so. */
function isRefusalOver({ before, next, added }: Decision): boolean {
  return (before?.reportedRefusals ?? '') !== '' && next?.reportedRefusals === '' && added.length === 0
}

function phaseEvents(decision: Decision): NewEvent[] {
  const { before, next, status, stored, decidedOn } = decision
  const type = TOLD[status.phase]
  const isOver = isRefusalOver(decision)
  const isNews = before?.reportedPhase !== status.phase || isOver
  if (type === undefined || next === undefined || !isNews) return []
  // Before the first running, `scheduled` says it already; the steps of a rollout, and its failure, tell themselves.
  const untold = before?.ranRevision === undefined || next.rollout?.replaces === true
  if (isFailing(decision) || (status.phase === 'Progressing' && untold && !isOver)) return []
  // What waits for a node is told with the matrix of all of them.
  if (status.phase === 'Waiting' && status.reason !== DEPENDENCY_UNHEALTHY) return []
  return [
    {
      type,
      severity: status.phase === 'Degraded' ? 'warning' : 'info',
      subject: subjectOf(decision),
      cause: String(decidedOn),
      reason: status.reason || status.phase.toLowerCase(),
      message: status.message + durationText(decision),
      data: { revision: stored.revision, replicas: { ...status.replicas } },
    },
  ]
}

/** Said by the decision that ends the last step, and not again when a replica returns later. */
function durationText({ before, next, status, stored, now }: Decision): string {
  const { rollout } = next ?? {}
  if (status.phase !== 'Running' || rollout?.replaces !== true) return ''
  const isLast = before?.rollout?.startedAt === rollout.startedAt && before.rollout.ready < rollout.ready
  if (!isLast) return ''
  const seconds = (Date.parse(now) - Date.parse(rollout.startedAt)) / 1000
  const { watchMs, progressDeadlineMs, failureAction } = updateRulesOf(stored.spec)
  const watch = Math.min(watchMs, progressDeadlineMs) / 1000
  const end = failureAction === 'rollback' && next?.lastGood !== undefined ? 'rolled back' : 'paused'
  return ` Revision ${rollout.revision} was rolled out in ${seconds.toFixed(1)} s; it is watched for ${watch} s more, and if one fails meanwhile, it is ${end} still.`
}
