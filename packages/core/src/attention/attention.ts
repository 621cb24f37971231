// Which records of a tenant need a person, how urgently, and in which order they are shown.

import {
  ATTENTION_SEVERITIES,
  type Attention,
  type DeploymentStatus,
  type Node,
  type QuotaList,
  type Recommendation,
} from '@holdfast/contract'

/** An item before its cure is known. */
export type Needed = Omit<Attention, 'cure'>

export interface DeploymentFacts {
  readonly name: string
  readonly uid: string
  readonly status: Pick<DeploymentStatus, 'phase' | 'reason' | 'message' | 'replicas'>
  readonly since: string | null
}

/** Phases that pass without help are left out. A deployment that still serves is less urgent than one that does not. */
export function deploymentAttention({ name, uid, status, since }: DeploymentFacts): Needed[] {
  const { phase, reason, message, replicas } = status
  const isWaiting = phase === 'Waiting'
  if (phase !== 'Pending' && phase !== 'Degraded' && !isWaiting) return []
  const severity = isWaiting || replicas.ready > 0 ? 'warning' : 'error'
  const code = reason === '' ? phase.toLowerCase() : reason
  return [{ severity, subject: { kind: 'Deployment', name, uid }, code, text: message, since }]
}

export interface NodeSituation {
  readonly node: Pick<Node, 'id' | 'name' | 'status' | 'reason' | 'faults'>
  readonly since: string
  /** Number of replicas on the node. */
  readonly replicas: number
  /** When the silent node is declared failed. */
  readonly failedAt: string
}

export function nodeAttention({ node, since, replicas, failedAt }: NodeSituation): Needed[] {
  const { id: uid, name, status, reason = '' } = node
  const subject = { kind: 'Node', name, uid }
  const onIt = `${replicas} ${replicas === 1 ? 'replica is' : 'replicas are'} on it`
  if (status === 'failed') {
    const text = `Node ${name} has failed; ${onIt}. Repair the machine, or remove the node.`
    return [{ severity: 'error', subject, code: 'failed', text, since }]
  }
  if (status === 'unreachable') {
    const text = `Node ${name} sends no heartbeat; ${onIt}. It is declared failed at ${failedAt}.`
    return [{ severity: 'warning', subject, code: 'unreachable', text, since }]
  }
  if (status !== 'degraded') return []
  const isFailing = node.faults?.some(({ failed }) => failed === true) === true
  const text = degradedText(node.name, reason, onIt)
  return [{ severity: isFailing ? 'error' : 'warning', subject, code: reason, text, since }]
}

function degradedText(name: string, reason: string | undefined, onIt: string): string {
  if (reason === 'engine_silent')
    return `The container engine of node ${name} does not answer; ${onIt}. Restart the engine.`
  if (reason === 'disk_pressure')
    return `The disk of the container engine of node ${name} is nearly full; it gets no new work, and ${onIt}. Free space on it.`
  return `Node ${name} is degraded: ${reason}.`
}

export interface VolumeSituationShown {
  readonly id: string
  readonly name: string
  readonly phase: string
  readonly reason: string | null
  readonly since: string | null
}

export function volumeAttention({ id, name, phase, reason, since }: VolumeSituationShown): Needed[] {
  const subject = { kind: 'Volume', name, uid: id }
  const code = reason ?? phase.toLowerCase()
  if (phase === 'Lost')
    return [{ severity: 'error', subject, code, text: `Volume ${name} has lost its data: ${code}.`, since }]
  if (phase === 'Degraded' || (phase === 'Pending' && reason !== null))
    return [{ severity: 'warning', subject, code, text: `Volume ${name} is ${phase}: ${code}.`, since }]
  return []
}

const DAY_MS = 24 * 3_600_000

export interface JobFacts {
  readonly id: string
  readonly name: string
  readonly phase: string
  readonly reason: string
  readonly message: string
  readonly finishedAt: string | null
  readonly createdAt: string
}

/** A job that failed in the last day, and a job without a node. */
export function jobAttention(job: JobFacts, now: number): Needed[] {
  const { id: uid, name, phase, reason, message, finishedAt, createdAt } = job
  const isRecent = finishedAt !== null && Date.parse(finishedAt) > now - DAY_MS
  const isUnplaced = phase === 'pending' && reason === 'unschedulable'
  if (!isUnplaced && !(phase === 'failed' && isRecent)) return []
  const subject = { kind: 'Job', name, uid }
  const code = reason === '' ? phase : reason
  return [{ severity: 'warning', subject, code, text: message, since: finishedAt ?? createdAt }]
}

export function networkAttention(network: {
  readonly id: string
  readonly name: string
  readonly phase: string
  readonly reason: string | null
}): Needed[] {
  const { id: uid, name, phase, reason } = network
  if (phase !== 'Failed') return []
  const code = reason ?? 'failed'
  const text = `Network ${name} could not be created: ${code}.`
  return [{ severity: 'error', subject: { kind: 'Network', name, uid }, code, text, since: null }]
}

export const reachedQuotas = ({ items }: QuotaList): QuotaList['items'] =>
  items.filter(({ used, limit }) => limit > 0 && used >= limit)

export const quotaAttention = (quotas: QuotaList): Needed[] =>
  reachedQuotas(quotas).map(({ kind, used, limit }) => ({
    severity: 'warning',
    subject: { kind: 'Quota', name: kind, uid: kind },
    code: 'quota_reached',
    text: `The quota of ${kind} is used up: ${used} of ${limit}. Remove some, or ask a platform administrator to raise it.`,
    since: null,
  }))

const NEXT_STEPS: { readonly [phase: string]: string } = {
  stage: 'overlap',
  overlap: 'cutover',
  cutover: 'retire',
}

export function rotationAttention(rotation: {
  readonly path: string
  readonly phase: string
  readonly since: string
}): Needed {
  const { path, phase, since } = rotation
  const text = `The rotation of ${path} is in the phase ${phase}; the next step is ${NEXT_STEPS[phase] ?? 'abort'}.`
  return { severity: 'info', subject: { kind: 'Rotation', name: path, uid: path }, code: phase, text, since }
}

const ADVICE = { critical: 'error', high: 'warning', medium: undefined, low: undefined } as const

/** Only urgent recommendations need a person now. */
export function recommendationAttention(advice: Recommendation): Needed[] {
  const severity = ADVICE[advice.priority]
  if (severity === undefined) return []
  const subject = { kind: 'Volume', name: advice.volume_name, uid: advice.volume_id }
  return [{ severity, subject, code: advice.type, text: advice.why, since: null }]
}

/** The most severe first, then what lasts longest. */
export function worstFirst<T extends Needed>(items: readonly T[]): T[] {
  const rank = ({ severity }: Needed): number => ATTENTION_SEVERITIES.indexOf(severity)
  const key = ({ since, subject }: Needed): string => `${since ?? '~'} ${subject.kind} ${subject.name}`
  return items.toSorted((left, right) => rank(left) - rank(right) || (key(left) < key(right) ? -1 : 1))
}
