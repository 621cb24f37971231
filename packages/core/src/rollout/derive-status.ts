// Derives the status of a deployment from the desired replicas, their assignments and the observations of agents. Desired
// state is never reported as a fact: a replica is ready only once its agent has reported it as ready. See
// docs/design/rollouts.md#status

import {
  type Assignment,
  type AssignmentId,
  type DeploymentSpec,
  type DeploymentStatus,
  defined,
  type FailingContainer,
  type NodeId,
  type Observation,
  type RevisionTarget,
  type Rollout,
} from '@holdfast/contract'
import { stableAssignments } from '../canary/split-assignments.ts'
import { type FailureFacts, failingContainers } from '../node/container-cause.ts'
import { isReady, SECRET_UNRESOLVED } from '../node/observe-replica.ts'
import { desiredReplicas, type ScaledReplicas } from '../scaling/desired-replicas.ts'
import { type SecretTrouble, secretTroubleText, unresolvedSecrets } from './secret-trouble.ts'

export interface PlacedFacts {
  readonly assignments: readonly Assignment[]
  /** The newest deployment revision of which all replicas were ready at some time. */
  readonly ranRevision?: number | undefined
  /** The number of replicas that a scaling policy desired when all were last ready; absent without a policy. */
  readonly ranReplicas?: number | undefined
  /** Why a replica has no node, according to the last decision. */
  readonly shortfall?: { readonly reason: string; readonly summary: string } | undefined
  readonly rollout?: Rollout | undefined
  readonly lastGood?: RevisionTarget | undefined
}

/** The reason for missing replicas if the deployment waits for another deployment and not for a node. */
export const DEPENDENCY_UNHEALTHY = 'dependency_unhealthy'

/**
 * The reason for missing replicas while residency enforcement is off: the deployment waits, and starts without another
 * request.
 */
export const RESIDENCY_OFF = 'residency_enforcement_off'
export const RESIDENCY_NO_MATCH = 'residency_no_match'
const WAITS: ReadonlySet<string> = new Set([RESIDENCY_OFF, RESIDENCY_NO_MATCH])

export interface StatusFacts {
  readonly deleting: boolean
  /** The digest of the image; null until a registry has resolved the image reference. */
  readonly imageDigest: string | null
  readonly revision?: number
  /** The number of replicas that a scaling policy desires; absent without one. */
  readonly scaling?: ScaledReplicas | undefined
  /** Facts from the placement record; absent until a controller has planned the deployment. */
  readonly placed?: PlacedFacts | undefined
  observed?(id: AssignmentId): (FailureFacts & Pick<Observation, 'about'>) | undefined
  /** Whether a node is lost, so that the last observations of its replicas are no longer valid. */
  isLost?(nodeId: NodeId): boolean
}

interface PhaseText {
  readonly phase: DeploymentStatus['phase']
  readonly reason: string
  readonly message: string
}

export function deriveStatus(spec: DeploymentSpec, facts: StatusFacts): DeploymentStatus {
  const count = countReplicas(spec, facts)
  const { desired, placed, ready } = count
  return {
    ...derivePhase(spec, facts, count),
    replicas: { desired, placed, ready },
    image: { reference: spec.image, digest: facts.imageDigest },
    runningRevision: ready === 0 ? null : runningRevision(facts.placed),
    ...defined({ lastGoodRevision: facts.placed?.lastGood?.revision, failure: shownFailure(facts, count) }),
  }
}

/** The failure of the rollout. A first revision that was retried with success has none to show. */
function shownFailure({ deleting, placed }: StatusFacts, count: ReplicaCount): DeploymentStatus['failure'] {
  const { rollout } = placed ?? {}
  if (deleting || rollout?.failure === undefined || (isRetried(rollout) && count.ready >= count.desired))
    return undefined
  const { reason, replica, cause, at } = rollout.failure
  return { revision: rollout.revision, replica, reason, ...defined({ cause }), at }
}

/** Whether a failed rollout keeps trying, because it is the first one and has nothing to return to. */
const isRetried = ({ state }: Rollout): boolean => state === 'progressing'

function runningRevision(placed: PlacedFacts | undefined): number | null {
  const { rollout, lastGood, ranRevision } = placed ?? {}
  return (rollout?.state === 'rolling_back' ? lastGood?.revision : ranRevision) ?? null
}

interface ReplicaCount extends Readonly<DeploymentStatus['replicas']> {
  /** The number of assignments that are being removed and whose container is not confirmed gone. */
  readonly leaving: number
  /** The number of replica numbers with a serving replica of the revision that is being rolled out. */
  readonly updated: number
  /** The first problem of a replica; `node_lost` while a lost replica has no serving successor; undefined if none. */
  readonly trouble: string | undefined
  /** The first replica whose container fails, and why; undefined if no agent reports a cause. */
  readonly failing: Pick<FailingContainer, 'replica' | 'cause'> | undefined
  /** The secrets that replicas wait for; each secret and cause is listed once. */
  readonly unresolved: readonly SecretTrouble[]
}

/** Counts each replica number once, even while it has two replicas during a replacement. */
function countReplicas(spec: DeploymentSpec, facts: StatusFacts): ReplicaCount {
  const replicas = desiredReplicas({ spec, ...facts })
  const { assignments: all = [], rollout } = facts.placed ?? {}
  const assignments = stableAssignments(all)
  const isLost = ({ nodeId }: Assignment) => facts.isLost?.(nodeId) === true
  const active = assignments.filter(({ desired }) => desired === 'running')
  const reachable = active.filter((each) => !isLost(each))
  const serving = reachable.filter(({ id }) => isReady(facts.observed?.(id)))
  const seen = reachable.map(({ id }) => facts.observed?.(id))
  const trouble = seen.find((one) => one !== undefined && isTrouble(one))
  const served = numbersOf(serving)
  const lost = assignments.some(
    (each) => isLost(each) && each.replica <= replicas && !served.has(each.replica),
  )
  return {
    desired: replicas,
    placed: numbersOf(reachable).size,
    ready: served.size,
    updated: numbersOf(serving.filter(({ templateHash }) => templateHash === rollout?.templateHash)).size,
    leaving: assignments.length - active.length,
    trouble: lost ? 'node_lost' : trouble && (trouble.reason || trouble.state),
    failing: failingContainers(reachable, (id) => facts.observed?.(id), String, 1)[0],
    unresolved: unresolvedSecrets(spec, seen),
  }
}

const numbersOf = (assignments: readonly Assignment[]): Set<number> =>
  new Set(assignments.map(({ replica }) => replica))

function isTrouble({ state, reason }: Pick<Observation, 'state' | 'reason'>): boolean {
  return state === 'failed' || state === 'lost' || reason !== ''
}

/** Derives the phase of a deployment. If several phases apply, deletion comes first, then the most severe phase. */
function derivePhase(spec: DeploymentSpec, facts: StatusFacts, count: ReplicaCount): PhaseText {
  if (facts.deleting)
    return { phase: 'Deleting', reason: '', message: `The deployment is being deleted.${leavingText(count)}` }
  if (spec.replicas === 0) return stopped(count)
  const { shortfall, rollout, lastGood } = facts.placed ?? {}
  if (rollout?.failure !== undefined && !isRetried(rollout))
    return failedUpdate(spec, rollout, lastGood, count)
  if (count.unresolved.length > 0) return withoutSecrets(spec, count)
  if (shortfall?.reason === DEPENDENCY_UNHEALTHY) return atGate(facts, count, shortfall.summary)
  if (count.placed < count.desired) return short(facts, count)
  if (count.ready >= count.desired)
    return facts.imageDigest === null ? formerRuns(count) : allReady(rollout, shortfall, count)
  if (rollout?.failure !== undefined) return failedFirst(rollout, count)
  const message = readyText(count) + failingText(count)
  if (count.trouble !== undefined) return { phase: 'Degraded', reason: count.trouble, message }
  return hasRun(facts, count)
    ? { phase: 'Degraded', reason: 'not_ready', message }
    : { phase: 'Progressing', reason: '', message }
}

/**
 * Whether all desired replicas of the revision were once ready. A number that a scaling policy has raised was not reached
 * yet, so the deployment progresses.
 */
function hasRun({ placed, revision }: StatusFacts, { desired }: ReplicaCount): boolean {
  const { ranRevision, ranReplicas = desired } = placed ?? {}
  return ranRevision !== undefined && ranRevision === revision && ranReplicas >= desired
}

/**
 * The phase while a dependency is not ready. A problem of the running revision is more severe than a new revision that
 * waits.
 */
function atGate({ placed }: StatusFacts, count: ReplicaCount, summary: string): PhaseText {
  const { trouble, ready, desired } = count
  return placed?.ranRevision !== undefined && trouble !== undefined && ready < desired
    ? { phase: 'Degraded', reason: trouble, message: `${readyText(count)}${failingText(count)} ${summary}` }
    : { phase: 'Waiting', reason: DEPENDENCY_UNHEALTHY, message: summary }
}

const readyText = ({ ready, desired }: Pick<ReplicaCount, 'ready' | 'desired'>): string =>
  `${ready} of ${desired} replicas ${ready === 1 ? 'is' : 'are'} ready.`

const failingText = ({ failing }: ReplicaCount): string =>
  failing === undefined ? '' : ` Replica ${failing.replica}: ${failing.cause}.`

const SECRETS_NAMED = 3

/**
 * The phase while secrets are unresolved: Degraded even before the first run or while the previous revision serves,
 * because an operator has to act.
 */
const withoutSecrets = (spec: DeploymentSpec, count: ReplicaCount): PhaseText => ({
  phase: 'Degraded',
  reason: SECRET_UNRESOLVED,
  message: [...secretTexts(spec, count), readyText(count)].join(' '),
})

const secretTexts = (spec: DeploymentSpec, { unresolved }: ReplicaCount): string[] =>
  unresolved.slice(0, SECRETS_NAMED).map((each) => secretTroubleText(spec, each))

function allReady(
  rollout: Rollout | undefined,
  shortfall: PlacedFacts['shortfall'],
  count: ReplicaCount,
): PhaseText {
  const { desired, updated } = count
  if (rollout === undefined || updated >= desired)
    return { phase: 'Running', reason: '', message: readyText({ ready: desired, desired }) }
  const waits = shortfall === undefined ? '' : ` No node accepts the next one: ${shortfall.summary}`
  const verb = updated === 1 ? 'runs' : 'run'
  const message = `Revision ${rollout.revision} is being rolled out: ${updated} of ${desired} replicas ${verb} it.${failingText(count)}${waits}`
  return { phase: 'Progressing', reason: 'rollout', message }
}

/**
 * The phase after a failed update, paused or rolled back. The phase lasts until another revision is stored, whatever
 * happens to the replicas.
 */
function failedUpdate(
  spec: DeploymentSpec,
  rollout: Rollout,
  lastGood: RevisionTarget | undefined,
  count: ReplicaCount,
): PhaseText {
  const why = [failedText(rollout), ...secretTexts(spec, count)].join(' ')
  if (rollout.state === 'paused')
    return {
      phase: 'Degraded',
      reason: 'update_paused',
      message: `${why} The update is paused until a new revision is applied. ${readyText(count)}`,
    }
  return {
    phase: 'Degraded',
    reason: 'rollback',
    message: `${why} Revision ${lastGood?.revision} runs instead until a new revision is applied. ${readyText(count)}`,
  }
}

/** The phase after a first revision failed: its containers are retried until they are ready or another one is applied. */
const failedFirst = (rollout: Rollout, count: ReplicaCount): PhaseText => ({
  phase: 'Degraded',
  reason: rollout.failure?.reason ?? '',
  message: `${failedText(rollout)} It is retried until a new revision is applied. ${readyText(count)}`,
})

function failedText({ revision, failure }: Rollout): string {
  const { replica, reason, cause } = failure ?? {}
  const text = `Revision ${revision} failed: replica ${replica} ${failureText(reason)}.`
  return cause === undefined ? text : `${text} Cause: ${cause}.`
}

const FAILURES: { readonly [reason: string]: string } = {
  unhealthy: 'became unhealthy',
  exited: 'exited three times',
  image_pull_failed: 'could not pull its image',
  create_failed: 'could not be created, in three attempts',
  start_failed: 'could not be started, in three attempts',
  volume_not_mounted: 'could not mount a volume',
  fenced: 'was fenced',
  volume_not_leased: 'had no lease of a volume',
  secret_unresolved: 'did not get its secrets',
  agent_version: 'needs a newer agent on its node',
  unschedulable: 'found no node',
  progress_deadline: 'was not ready in time',
}

/** Why a replica made an update fail, as words that follow the name of the replica in a sentence. */
export const failureText = (reason = ''): string => FAILURES[reason] ?? `failed with ${reason}`

function stopped(count: ReplicaCount): PhaseText {
  const message = 'The deployment is stopped: 0 replicas are desired.'
  const left = count.placed + count.leaving
  if (left === 0) return { phase: 'Stopped', reason: '', message }
  return {
    phase: 'Progressing',
    reason: 'stopping',
    message: `0 replicas are desired.${leavingText({ leaving: left })}`,
  }
}

/**
 * The phase while replicas have no node. A deployment that never ran is pending or waiting; a deployment that ran before
 * is degraded. The reason is that of the last decision.
 */
function short({ imageDigest, placed }: StatusFacts, count: ReplicaCount): PhaseText {
  if (count.placed === 0 && imageDigest === null) return UNRESOLVED
  const verb = count.placed === 1 ? 'is' : 'are'
  const partly = count.placed === 0 ? '' : `${count.placed} of ${count.desired} replicas ${verb} placed. `
  const { shortfall, ranRevision, rollout } = placed ?? {}
  const isPlain = shortfall === undefined && count.trouble !== 'node_lost'
  if (isPlain && rollout !== undefined && count.leaving > 0)
    return { phase: 'Progressing', reason: 'rollout', message: partly + stoppedFirst(rollout, count) }
  if (isPlain && count.placed > 0)
    return { phase: 'Progressing', reason: '', message: partly + NOT_PLANNED.summary }
  if (count.trouble === 'node_lost' && ranRevision !== undefined)
    return { phase: 'Degraded', reason: 'node_lost', message: partly + (shortfall?.summary ?? LOST) }
  const { reason, summary } = shortfall ?? NOT_PLANNED
  const before = WAITS.has(reason) ? 'Waiting' : 'Pending'
  return { phase: ranRevision === undefined ? before : 'Degraded', reason, message: partly + summary }
}

const stoppedFirst = ({ revision }: Rollout, count: ReplicaCount): string =>
  `Revision ${revision} is being rolled out; the replicas that it replaces are stopped first.${leavingText(count)}`

const LOST = 'A node is lost, and its replicas are being replaced.'

const UNRESOLVED: PhaseText = {
  phase: 'Pending',
  reason: 'image_unresolved',
  message: 'No registry has resolved the image yet, so no replica can be placed.',
}

/**
 * The phase while the image of a new revision is unresolved. The ready replicas of the previous revision must not be
 * reported as the new revision.
 */
const formerRuns = (count: ReplicaCount): PhaseText => ({
  phase: 'Progressing',
  reason: UNRESOLVED.reason,
  message: `No registry has resolved the image yet, so the previous revision keeps running. ${readyText(count)}`,
})

const NOT_PLANNED = { reason: 'unscheduled', summary: 'The scheduler has not planned this revision yet.' }

const leavingText = ({ leaving }: Pick<ReplicaCount, 'leaving'>): string =>
  leaving === 0 ? '' : ` ${leaving} ${leaving === 1 ? 'container is' : 'containers are'} still being stopped.`
