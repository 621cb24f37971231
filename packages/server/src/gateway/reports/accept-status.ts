// Accepts a node's observations: only of assignments to the node, only from the node's current session, and only if newer
// than the stored observations. Changed observations are stored in batches, each batch in one transaction. See
// docs/design/agent.md#observations.

import {
  type AssignmentId,
  DESIRED_STATES,
  isCause,
  type Observation,
  REPLICA_STATES,
} from '@holdfast/contract'
import { timestamp } from '../../ports/clock.ts'
import { observations, type StoredObservation } from '../../store/records.ts'
import type { TransactionDecision } from '../../store/store.ts'
import { getOr, inTenant, placementAt, type Transaction } from '../../store/transaction.ts'
import type { GatewayContext } from '../deps.ts'
import { type DesiredIndex, generationOf } from '../desired/desired-index.ts'
import { heldNode } from '../session/held-sessions.ts'
import type { Reports, Session } from '../session/session.ts'

/** Observations per transaction. Each observation needs two compares, and a transaction may have at most 120. */
const MAX_BATCH = 50

/** Queues the changed observations of a report; `writeReports` stores them. */
export function acceptReports(
  context: GatewayContext,
  index: DesiredIndex,
  session: Session,
  reported: readonly Observation[],
): void {
  session.reports ??= { newest: new Map(), unwritten: new Map(), writing: false }
  const { newest, unwritten } = session.reports
  for (const received of reported) {
    const { assignmentId } = received
    const assigned = index.assignmentOf(session, assignmentId)
    if (assigned === undefined || !isValid(received, generationOf(assigned.assignment))) continue
    const before = newest.get(assignmentId) ?? storedBefore(context, session, assignmentId)
    const observation = withKnownExit(before, received)
    if (before !== undefined && !isForward(before, observation, newest.has(assignmentId))) continue
    newest.set(assignmentId, observation)
    context.counts.observations += 1
    if (before === undefined || !isSame(before, observation)) unwritten.set(assignmentId, observation)
  }
}

function storedBefore({ store }: GatewayContext, { tenant, nodeId }: Session, id: AssignmentId) {
  const stored = store.get(inTenant(tenant, observations, id))?.record
  return stored?.nodeId === nodeId ? stored : undefined
}

/**
 * Keeps the last exit of a container whose agent was restarted: the engine forgets an exit code once a later run is up, so
 * the new agent cannot report it.
 */
function withKnownExit(before: Observation | undefined, now: Observation): Observation {
  const { lastExit, containerId } = before ?? {}
  const isLost = lastExit !== undefined && now.lastExit === undefined && now.containerId === containerId
  return isLost ? { ...now, lastExit } : now
}

/**
 * Whether observation `now` is newer than `before`: by generation, then by seq. Between two sessions only the generations
 * are compared, because the first report of a newer session is always current.
 */
function isForward(before: Observation, now: Observation, sameSession: boolean): boolean {
  if (now.generation !== before.generation) return now.generation > before.generation
  return sameSession ? now.seq > before.seq : true
}

const MAX_TEXT = 128
const MAX_ABOUT = 200
const PRINTABLE = /^[\x20-\x7e]*$/
/** Format of a proof: a keyed hash in the encoding that the broker uses. */
const PROOF = /^[\w-]{1,64}$/

function isValid(observation: Observation, newestGeneration: number): boolean {
  const { generation, seq, restarts, state, containerId, startedAt, exitCode, reason, gone } = observation
  const { about, proof, cause, failedChecks, nodeFailures, lastExit } = observation
  const { code, oomLimitBytes, signal, at } = lastExit ?? {}
  const numbers = [
    seq,
    restarts,
    exitCode ?? 0,
    failedChecks ?? 0,
    nodeFailures ?? 0,
    code ?? 0,
    oomLimitBytes ?? 0,
  ]
  const texts = [reason, containerId ?? '', startedAt ?? '', signal ?? '', at ?? '']
  return (
    generation >= 1 &&
    generation <= newestGeneration &&
    // `gone` is valid only for an assignment to be removed; otherwise each report of `gone` would create another replica.
    (!gone || generation === DESIRED_STATES.length) &&
    numbers.every(Number.isSafeInteger) &&
    texts.every((text) => text.length <= MAX_TEXT && PRINTABLE.test(text)) &&
    (about === undefined || (about.length <= MAX_ABOUT && PRINTABLE.test(about))) &&
    (cause === undefined || isCause(cause)) &&
    (proof === undefined || PROOF.test(proof)) &&
    REPLICA_STATES.includes(state)
  )
}

function isSame(left: Observation, right: Observation): boolean {
  return (
    left.generation === right.generation &&
    left.state === right.state &&
    left.containerId === right.containerId &&
    left.startedAt === right.startedAt &&
    left.exitCode === right.exitCode &&
    left.restarts === right.restarts &&
    left.reason === right.reason &&
    left.about === right.about &&
    left.cause === right.cause &&
    left.failedChecks === right.failedChecks &&
    left.nodeFailures === right.nodeFailures &&
    isSameExit(left.lastExit, right.lastExit) &&
    left.proof === right.proof &&
    left.gone === right.gone
  )
}

const isSameExit = (left: Observation['lastExit'], right: Observation['lastExit']): boolean =>
  left?.at === right?.at &&
  left?.code === right?.code &&
  left?.signal === right?.signal &&
  left?.oomKilled === right?.oomKilled &&
  left?.oomLimitBytes === right?.oomLimitBytes

/** `held`: no observation of the batch could be stored, because the placement of each observation is unreadable. */
type WrittenReports = 'written' | 'held' | 'superseded'

/**
 * Stores one batch of queued observations; a session has one write at a time. Observations that could not be stored stay
 * queued for the next periodic sweep.
 */
export async function writeReports(
  context: GatewayContext,
  index: DesiredIndex,
  session: Session,
  reports: Reports,
): Promise<WrittenReports> {
  reports.writing = true
  const batch = [...reports.unwritten.values()].slice(0, MAX_BATCH)
  const held = new Set<Observation>()
  session.writes += 1
  context.counts.statusWrites += 1
  try {
    const outcome = await context.store.transact((transaction) => {
      held.clear()
      return stageReports(context, index, session, batch, transaction, held)
    })
    for (const one of batch) {
      if (reports.unwritten.get(one.assignmentId) !== one) continue
      reports.unwritten.delete(one.assignmentId)
      // An observation with an unreadable placement goes to the end of the queue, so that it does not block the others.
      if (held.has(one)) reports.unwritten.set(one.assignmentId, one)
    }
    return outcome === 'written' && held.size === batch.length ? 'held' : outcome
  } finally {
    reports.writing = false
  }
}

function stageReports(
  context: GatewayContext,
  index: DesiredIndex,
  session: Session,
  batch: readonly Observation[],
  transaction: Transaction,
  held: Set<Observation>,
): TransactionDecision<'written' | 'superseded'> {
  const { tenant, nodeId } = session
  if (heldNode(transaction, session, context.replica) === undefined)
    return { kind: 'abort', result: 'superseded' }
  const at = timestamp(context.clock)
  for (const observation of batch) {
    const id = observation.assignmentId
    const assigned = index.assignmentOf(session, id)
    // The placement is compared at commit, so no observation is stored for an assignment that was just dropped.
    const placement = assigned && getOr(transaction, placementAt(tenant, assigned.placementId), UNREADABLE)
    if (placement === UNREADABLE) held.add(observation)
    if (placement === undefined || placement === UNREADABLE) continue
    const before = getOr(transaction, inTenant(tenant, observations, id), undefined)
    if (before !== undefined && !isNewer(before, observation)) continue
    const stored: StoredObservation = { v: 1, ...observation, owner: placement.owner, nodeId, at }
    transaction.put(inTenant(tenant, observations, id), stored)
  }
  return { kind: 'commit', result: 'written' }
}

const UNREADABLE = 'unreadable'

const isNewer = (before: Observation, now: Observation): boolean =>
  now.generation >= before.generation && !isSame(before, now)
