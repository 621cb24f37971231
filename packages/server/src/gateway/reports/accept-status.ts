// What a node reports of its containers. Accepted for assignments of that node only, from its current session only, and
// only forward; stored when something changed, the reports of one message in one transaction. SAFETY 4e, 2 row 25.

import { type AssignmentId, DESIRED_STATES, type Observation, REPLICA_STATES } from '@holdfast/contract'
import { timestamp } from '../../ports/clock.ts'
import { nodes, observations, placements, type StoredObservation } from '../../store/records.ts'
import type { TransactionDecision } from '../../store/store.ts'
import { getOr, inTenant, type Transaction } from '../../store/transaction.ts'
import type { GatewayContext } from '../deps.ts'
import { type DesiredIndex, generationOf } from '../desired/desired-index.ts'
import { isHolder } from '../session/held-sessions.ts'
import type { Reports, Session } from '../session/session.ts'

/** Each compares its placement and itself; no transaction may have more than 120 compares (SAFETY 4a). */
const WRITTEN_AT_ONCE = 50

/** Notes what is news; `writeReports` stores it. */
export function acceptReports(
  context: GatewayContext,
  index: DesiredIndex,
  session: Session,
  reported: readonly Observation[],
): void {
  session.reports ??= { newest: new Map(), unwritten: new Map(), writing: false }
  const { newest, unwritten } = session.reports
  for (const observation of reported) {
    const { assignmentId } = observation
    const wish = index.desiredRolloutOf(session, assignmentId)
    if (wish === undefined || !isValid(observation, generationOf(wish.assignment))) continue
    const before = newest.get(assignmentId) ?? storedBefore(context, session, assignmentId)
    if (before !== undefined && !isForward(before, observation, newest.has(assignmentId))) continue
    newest.set(assignmentId, observation)
    context.counts.observations += 1
    if (before === undefined || !saysTheSame(before, observation)) unwritten.set(assignmentId, observation)
  }
}

function storedBefore({ store }: GatewayContext, { tenant, nodeId }: Session, id: AssignmentId) {
  const stored = store.get(inTenant(tenant, observations, id))?.record
  return stored?.nodeId === nodeId ? stored : undefined
}

/**
 * By generation, then by seq. Against what an earlier session stored only the generation counts: a newer session is the
 * later word, and its first report is the state as it is now.
 */
function isForward(before: Observation, now: Observation, sameSession: boolean): boolean {
  if (now.generation !== before.generation) return now.generation > before.generation
  return sameSession ? now.seq > before.seq : true
}

const MAX_TEXT = 128
const MAX_ABOUT = 200
const PRINTABLE = /^[\x20-\x7e]*$/
/** A keyed hash as the broker writes it. */
const PROOF = /^[\w-]{1,64}$/

function isValid(observation: Observation, newestGeneration: number): boolean {
  const { generation, seq, restarts, state, containerId, startedAt, exitCode, reason, gone } = observation
  const { about, proof } = observation
  const numbers = [seq, restarts, exitCode ?? 0]
  const texts = [reason, containerId ?? '', startedAt ?? '']
  return (
    generation >= 1 &&
    generation <= newestGeneration &&
    // Only what is to be removed can be gone for good: otherwise each such word would make another replica.
    (!gone || generation === DESIRED_STATES.length) &&
    numbers.every(Number.isSafeInteger) &&
    texts.every((text) => text.length <= MAX_TEXT && PRINTABLE.test(text)) &&
    (about === undefined || (about.length <= MAX_ABOUT && PRINTABLE.test(about))) &&
    (proof === undefined || PROOF.test(proof)) &&
    REPLICA_STATES.includes(state)
  )
}

function saysTheSame(left: Observation, right: Observation): boolean {
  return (
    left.generation === right.generation &&
    left.state === right.state &&
    left.containerId === right.containerId &&
    left.startedAt === right.startedAt &&
    left.exitCode === right.exitCode &&
    left.restarts === right.restarts &&
    left.reason === right.reason &&
    left.about === right.about &&
    left.proof === right.proof &&
    left.gone === right.gone
  )
}

/** `held`: all of it waits for placements that cannot be read. */
type WrittenReports = 'written' | 'held' | 'superseded'

/** One write at a time for a session. What could not be stored stays, and the next sweep tries again. */
export async function writeReports(
  context: GatewayContext,
  index: DesiredIndex,
  session: Session,
  reports: Reports,
): Promise<WrittenReports> {
  reports.writing = true
  const batch = [...reports.unwritten.values()].slice(0, WRITTEN_AT_ONCE)
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
      // Behind the others, which it must not keep waiting.
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
  // Compared at commit: an older session cannot write once a newer one stands in the record.
  const node = transaction.get(inTenant(tenant, nodes, nodeId))
  if (!isHolder(node, session, context.replica)) return { kind: 'abort', result: 'superseded' }
  const at = timestamp(context.clock)
  for (const observation of batch) {
    const id = observation.assignmentId
    const wish = index.desiredRolloutOf(session, id)
    // Compared too: a report must not bring back the record of an assignment that was dropped meanwhile.
    const placement = wish && getOr(transaction, inTenant(tenant, placements, wish.placementId), UNREADABLE)
    if (placement === UNREADABLE) held.add(observation)
    if (placement === undefined || placement === UNREADABLE) continue
    const before = getOr(transaction, inTenant(tenant, observations, id), undefined)
    if (before !== undefined && !isNews(before, observation)) continue
    const stored: StoredObservation = { v: 1, ...observation, deployment: placement.uid, nodeId, at }
    transaction.put(inTenant(tenant, observations, id), stored)
  }
  return { kind: 'commit', result: 'written' }
}

const UNREADABLE = 'unreadable'

const isNews = (before: Observation, now: Observation): boolean =>
  now.generation >= before.generation && !saysTheSame(before, now)
