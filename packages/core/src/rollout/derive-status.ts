// The status of a deployment: what is wished against what is placed and what its agents have seen. DECISIONS 2 (record) and
// 5 (phases). Nothing here echoes a wish as a fact: a replica is ready when its node said so.

import type {
  Assignment,
  AssignmentId,
  DeploymentSpec,
  DeploymentStatus,
  NodeId,
  Observation,
  RevisionTarget,
  Rollout,
} from '@holdfast/contract'
import { isReady, SECRET_UNRESOLVED } from '../node/observe-replica.ts'
import { type SecretTrouble, secretTroubleText, unresolvedSecrets } from './secret-trouble.ts'

export interface PlacedFacts {
  readonly assignments: readonly Assignment[]
  /** The newest revision of which every replica was once ready. */
  readonly ranRevision?: number | undefined
  /** Why a replica is nowhere, as it was last found. */
  readonly shortfall?: { readonly reason: string; readonly summary: string } | undefined
  readonly rollout?: Rollout | undefined
  readonly lastGood?: RevisionTarget | undefined
}

/** The reason of a shortfall that is no matter of nodes: it waits for another deployment. */
export const DEPENDENCY_UNHEALTHY = 'dependency_unhealthy'

/** No node may take it for now, because of where its data may be: it waits, and starts by itself. SPEC 2.7. */
export const RESIDENCY_OFF = 'residency_enforcement_off'
export const RESIDENCY_NO_MATCH = 'residency_no_match'
const WAITS: ReadonlySet<string> = new Set([RESIDENCY_OFF, RESIDENCY_NO_MATCH])

export interface StatusFacts {
  readonly deleting: boolean
  /** Null until a registry has answered for the reference. */
  readonly imageDigest: string | null
  readonly revision?: number
  /** Absent until a controller has looked at the deployment. */
  readonly placed?: PlacedFacts | undefined
  observed?(id: AssignmentId): Pick<Observation, 'state' | 'reason' | 'about'> | undefined
  /** The node is silent for so long that what was last seen of its replicas no longer counts. */
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
  }
}

function runningRevision(placed: PlacedFacts | undefined): number | null {
  const { rollout, lastGood, ranRevision } = placed ?? {}
  return (rollout?.state === 'rolling_back' ? lastGood?.revision : ranRevision) ?? null
}

interface ReplicaCount extends Readonly<DeploymentStatus['replicas']> {
  /** Assignments that are on their way out and not confirmed gone. */
  readonly leaving: number
  /** Numbers that a replica of the revision that is rolled out serves. */
  readonly updated: number
  /** Why the first replica that is in trouble is; undefined where none is. */
  readonly trouble: string | undefined
  /** The secrets that a replica waits for, each cause once. */
  readonly unresolved: readonly SecretTrouble[]
}

/** A number counts once, however many replicas it has while one is replaced by another. */
function countReplicas(spec: DeploymentSpec, facts: StatusFacts): ReplicaCount {
  const { replicas } = spec
  const { assignments = [], rollout } = facts.placed ?? {}
  const isLost = ({ nodeId }: Assignment) => facts.isLost?.(nodeId) === true
  const active = assignments.filter(({ desired }) => desired === 'running')
  const standing = active.filter((each) => !isLost(each))
  const serving = standing.filter(({ id }) => isReady(facts.observed?.(id)))
  const seen = standing.map(({ id }) => facts.observed?.(id))
  const trouble = seen.find((one) => one !== undefined && isTrouble(one))
  const served = numbersOf(serving)
  const lost = assignments.some(
    (each) => isLost(each) && each.replica <= replicas && !served.has(each.replica),
  )
  return {
    desired: facts.deleting ? 0 : replicas,
    placed: numbersOf(standing).size,
    ready: served.size,
    updated: numbersOf(serving.filter(({ templateHash }) => templateHash === rollout?.templateHash)).size,
    leaving: assignments.length - active.length,
    trouble: lost ? 'node_lost' : trouble && (trouble.reason || trouble.state),
    unresolved: unresolvedSecrets(spec, seen),
  }
}

const numbersOf = (assignments: readonly Assignment[]): Set<number> =>
  new Set(assignments.map(({ replica }) => replica))

function isTrouble({ state, reason }: Pick<Observation, 'state' | 'reason'>): boolean {
  return state === 'failed' || state === 'lost' || reason !== ''
}

/** Several at once: the worst wins, and being deleted outlives everything. */
function derivePhase(spec: DeploymentSpec, facts: StatusFacts, count: ReplicaCount): PhaseText {
  if (facts.deleting)
    return { phase: 'Deleting', reason: '', message: `The deployment is being deleted.${leavingText(count)}` }
  if (spec.replicas === 0) return stopped(count)
  const { shortfall, rollout, lastGood } = facts.placed ?? {}
  if (rollout?.failure !== undefined) return failedUpdate(spec, rollout, lastGood, count)
  if (count.unresolved.length > 0) return withoutSecrets(spec, count)
  if (shortfall?.reason === DEPENDENCY_UNHEALTHY) return atGate(facts, count, shortfall.summary)
  if (count.placed < count.desired) return short(facts, count)
  if (count.ready >= count.desired)
    return facts.imageDigest === null ? formerRuns(count) : allReady(rollout, shortfall, count)
  const message = readyText(count)
  if (count.trouble !== undefined) return { phase: 'Degraded', reason: count.trouble, message }
  const ran = facts.placed?.ranRevision !== undefined && facts.placed.ranRevision === facts.revision
  return ran
    ? { phase: 'Degraded', reason: 'not_ready', message }
    : { phase: 'Progressing', reason: '', message }
}

/** What ran and is in trouble is worse than something new that waits. */
function atGate({ placed }: StatusFacts, count: ReplicaCount, summary: string): PhaseText {
  const { trouble, ready, desired } = count
  return placed?.ranRevision !== undefined && trouble !== undefined && ready < desired
    ? { phase: 'Degraded', reason: trouble, message: `${readyText(count)} ${summary}` }
    : { phase: 'Waiting', reason: DEPENDENCY_UNHEALTHY, message: summary }
}

const allReadyText = (desired: number): string =>
  desired === 1 ? 'The one replica is ready.' : `All ${desired} replicas are ready.`
const readyText = ({ ready, desired }: ReplicaCount): string =>
  `${ready} of ${desired} replicas ${ready === 1 ? 'is' : 'are'} ready.`

const SECRETS_NAMED = 3

/** Also before it ever ran, and while what it replaces still serves: somebody must look. DECISIONS 5. */
const withoutSecrets = (spec: DeploymentSpec, count: ReplicaCount): PhaseText => ({
  ...{ phase: 'Degraded', reason: SECRET_UNRESOLVED },
  message: [...secretTexts(spec, count), readyText(count)].join(' '),
})

const secretTexts = (spec: DeploymentSpec, { unresolved }: ReplicaCount): string[] =>
  unresolved.slice(0, SECRETS_NAMED).map((each) => secretTroubleText(spec, each))

function allReady(
  rollout: Rollout | undefined,
  shortfall: PlacedFacts['shortfall'],
  { desired, updated }: ReplicaCount,
): PhaseText {
  if (rollout === undefined || updated >= desired)
    return { phase: 'Running', reason: '', message: allReadyText(desired) }
  const waits = shortfall === undefined ? '' : ` The next one finds no node: ${shortfall.summary}`
  const message = `Revision ${rollout.revision} is being rolled out: ${updated} of ${desired} replicas run it.${waits}`
  return { phase: 'Progressing', reason: 'rollout', message }
}

/** Both stay until another revision is stored, however the replicas fare. */
function failedUpdate(
  spec: DeploymentSpec,
  { revision, state, failure }: Rollout,
  lastGood: RevisionTarget | undefined,
  count: ReplicaCount,
): PhaseText {
  const failed = `Revision ${revision} failed: replica ${failure?.replica} ${failureText(failure?.reason)}.`
  const why = [failed, ...secretTexts(spec, count)].join(' ')
  if (state === 'paused')
    return {
      ...{ phase: 'Degraded', reason: 'update_paused' },
      message: `${why} The update is paused; a new revision goes on. ${readyText(count)}`,
    }
  return {
    ...{ phase: 'Degraded', reason: 'rollback' },
    message: `${why} Revision ${lastGood?.revision} runs instead, until a new revision is stored. ${readyText(count)}`,
  }
}

const FAILURES: { readonly [reason: string]: string } = {
  unhealthy: 'became unhealthy',
  exited: 'exited three times',
  image_pull_failed: 'could not pull its image',
  secret_unresolved: 'did not get its secrets',
  unschedulable: 'found no node',
  progress_deadline: 'was not ready in time',
}

/** What a replica did that an update failed of; completes a sentence that names the replica. */
export const failureText = (reason = ''): string => FAILURES[reason] ?? `failed with ${reason}`

function stopped(count: ReplicaCount): PhaseText {
  const message = 'The deployment is stopped: 0 replicas are asked for.'
  const left = count.placed + count.leaving
  if (left === 0) return { phase: 'Stopped', reason: '', message }
  return {
    phase: 'Progressing',
    reason: 'stopping',
    message: `0 replicas are asked for.${leavingText({ leaving: left })}`,
  }
}

/** Before the first running it is pending, or waits, and later it is degraded: what stands in the way is what was last found. */
function short({ imageDigest, placed }: StatusFacts, count: ReplicaCount): PhaseText {
  if (count.placed === 0 && imageDigest === null) return UNRESOLVED
  const partly = count.placed === 0 ? '' : `${count.placed} of ${count.desired} replicas are placed. `
  const { shortfall, ranRevision, rollout } = placed ?? {}
  const isPlain = shortfall === undefined && count.trouble !== 'node_lost'
  if (isPlain && rollout !== undefined && count.leaving > 0)
    return { phase: 'Progressing', reason: 'rollout', message: partly + stoppedFirst(rollout, count) }
  if (isPlain && count.placed > 0)
    return { phase: 'Progressing', reason: '', message: partly + NOT_LOOKED_AT.summary }
  if (count.trouble === 'node_lost' && ranRevision !== undefined)
    return { phase: 'Degraded', reason: 'node_lost', message: partly + (shortfall?.summary ?? LOST) }
  const { reason, summary } = shortfall ?? NOT_LOOKED_AT
  const before = WAITS.has(reason) ? 'Waiting' : 'Pending'
  return { phase: ranRevision === undefined ? before : 'Degraded', reason, message: partly + summary }
}

const stoppedFirst = ({ revision }: Rollout, count: ReplicaCount): string =>
  `Revision ${revision} is being rolled out, and what it replaces is stopped first.${leavingText(count)}`

const LOST = 'A node is lost, and its replicas are being replaced.'

const UNRESOLVED: PhaseText = {
  phase: 'Pending',
  reason: 'image_unresolved',
  message: 'No registry has answered for the image yet, so no replica can be placed.',
}

/** What runs is of an earlier revision: it must not pass for this one, of which nothing can be made yet. */
const formerRuns = (count: ReplicaCount): PhaseText => ({
  phase: 'Progressing',
  reason: UNRESOLVED.reason,
  message: `No registry has answered for the image yet, so what ran before goes on. ${readyText(count)}`,
})

const NOT_LOOKED_AT = { reason: 'unscheduled', summary: 'The scheduler has not looked at this revision yet.' }

const leavingText = ({ leaving }: Pick<ReplicaCount, 'leaving'>): string =>
  leaving === 0 ? '' : ` ${leaving} ${leaving === 1 ? 'container is' : 'containers are'} still being stopped.`
