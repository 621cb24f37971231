// The status of a deployment: what is wished against what is placed and what its agents have seen. DECISIONS 2 (record) and
// 5 (phases). Nothing here echoes a wish as a fact: a replica is ready when its node said so.

import type {
  Assignment,
  AssignmentId,
  DeploymentSpec,
  DeploymentStatus,
  Observation,
} from '@holdfast/contract'

export interface PlacedFacts {
  readonly assignments: readonly Assignment[]
  /** The newest revision of which every replica was once ready. */
  readonly ranRevision?: number | undefined
  /** Why a replica is nowhere, as it was last found. */
  readonly shortfall?: { readonly reason: string; readonly summary: string } | undefined
}

export interface StatusFacts {
  readonly deleting: boolean
  /** Null until a registry has answered for the reference. */
  readonly imageDigest: string | null
  readonly revision?: number
  /** Absent until a controller has looked at the deployment. */
  readonly placed?: PlacedFacts | undefined
  observed?(id: AssignmentId): Pick<Observation, 'state' | 'reason'> | undefined
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
    runningRevision: ready === 0 ? null : (facts.placed?.ranRevision ?? null),
  }
}

interface ReplicaCount extends Readonly<DeploymentStatus['replicas']> {
  /** Assignments that are on their way out and not confirmed gone. */
  readonly leaving: number
  /** Why the first replica that is in trouble is; undefined where none is. */
  readonly trouble: string | undefined
}

function countReplicas({ replicas }: DeploymentSpec, facts: StatusFacts): ReplicaCount {
  const assignments = facts.placed?.assignments ?? []
  const active = assignments.filter(({ desired }) => desired === 'running')
  const seen = active.map(({ id }) => facts.observed?.(id))
  const trouble = seen.find((one) => one !== undefined && isTrouble(one))
  return {
    desired: facts.deleting ? 0 : replicas,
    placed: active.length,
    ready: seen.filter((one) => one?.state === 'ready' && one.reason === '').length,
    leaving: assignments.length - active.length,
    trouble: trouble && (trouble.reason || trouble.state),
  }
}

/** States only go forward, so one that was ready and no longer serves stays `ready`, with the reason. */
function isTrouble({ state, reason }: Pick<Observation, 'state' | 'reason'>): boolean {
  return state === 'failed' || state === 'lost' || reason !== ''
}

/** Several at once: the worst wins, and being deleted outlives everything. */
function derivePhase(spec: DeploymentSpec, facts: StatusFacts, count: ReplicaCount): PhaseText {
  if (facts.deleting)
    return { phase: 'Deleting', reason: '', message: `The deployment is being deleted.${leavingText(count)}` }
  if (spec.replicas === 0) return stopped(count)
  if (count.placed < count.desired) return short(facts, count)
  if (count.ready >= count.desired)
    return { phase: 'Running', reason: '', message: `All ${count.desired} replicas are ready.` }
  const message = `${count.ready} of ${count.desired} replicas are ready.`
  if (count.trouble !== undefined) return { phase: 'Degraded', reason: count.trouble, message }
  const ran = facts.placed?.ranRevision !== undefined && facts.placed.ranRevision === facts.revision
  return ran
    ? { phase: 'Degraded', reason: 'not_ready', message }
    : { phase: 'Progressing', reason: '', message }
}

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

/** Before the first running it is pending, later degraded: what stands in the way is what was last found. */
function short({ imageDigest, placed }: StatusFacts, count: ReplicaCount): PhaseText {
  if (count.placed === 0 && imageDigest === null) return UNRESOLVED
  const partly = count.placed === 0 ? '' : `${count.placed} of ${count.desired} replicas are placed. `
  const { shortfall, ranRevision } = placed ?? {}
  if (shortfall === undefined && count.placed > 0)
    return { phase: 'Progressing', reason: '', message: partly + NOT_LOOKED_AT.summary }
  const { reason, summary } = shortfall ?? NOT_LOOKED_AT
  return { phase: ranRevision === undefined ? 'Pending' : 'Degraded', reason, message: partly + summary }
}

const UNRESOLVED: PhaseText = {
  phase: 'Pending',
  reason: 'image_unresolved',
  message: 'No registry has answered for the image yet, so no replica can be placed.',
}

const NOT_LOOKED_AT = { reason: 'unscheduled', summary: 'The scheduler has not looked at this revision yet.' }

const leavingText = ({ leaving }: Pick<ReplicaCount, 'leaving'>): string =>
  leaving === 0 ? '' : ` ${leaving} ${leaving === 1 ? 'container is' : 'containers are'} still being stopped.`
