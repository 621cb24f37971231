// Accepts a node's reports about its copies of volumes: only of copies that the node must hold or delete, only from the
// node's current session, and only if they changed. Checkpoints change all the time and are not stored.
// See docs/design/volumes.md#copies-that-agents-are-sent

import { isDeepStrictEqual } from 'node:util'
import type { DesiredCopy, NodeId, ObservedCopy, VolumeId } from '@holdfast/contract'
import { timestamp } from '../../ports/clock.ts'
import { copyReportId, copyReports, type StoredCopyReport, volumes } from '../../store/records.ts'
import type { TransactionDecision } from '../../store/store.ts'
import { getOr, inTenant, type Transaction } from '../../store/transaction.ts'
import type { GatewayContext } from '../deps.ts'
import type { CopyIndex } from '../desired/copy-index.ts'
import type { GatewayParts } from '../parts.ts'
import { heldNode } from '../session/held-sessions.ts'
import { type CopyReports, type ReportedCopy, type Session, WRITES_IN_WINDOW } from '../session/session.ts'

/** Reports per transaction. Each needs three operations, and a transaction may have at most 120. */
const MAX_BATCH = 30

/** Queues the changed reports; `flushCopies` stores them. */
export function acceptCopies(
  { store }: Pick<GatewayContext, 'store'>,
  index: CopyIndex,
  session: Session,
  observed: readonly ObservedCopy[],
): void {
  if (observed.length === 0) return
  session.copyReports ??= { newest: new Map(), unwritten: new Map(), writing: false }
  const { newest, unwritten } = session.copyReports
  for (const received of observed) {
    const desired = index.copyOf(session, received.volume)
    if (desired === undefined || !isValid(received, desired)) continue
    const { volume } = received
    const report = reportOf(received, desired, session.nodeId)
    const before = newest.get(volume) ?? storedReport(store, session, volume)
    newest.set(volume, report)
    if (isDeepStrictEqual(before, report)) continue
    unwritten.set(volume, report)
  }
}

function storedReport(
  store: GatewayContext['store'],
  { tenant, nodeId }: Session,
  volume: VolumeId,
): ReportedCopy | undefined {
  const found = store.get(inTenant(tenant, copyReports, copyReportId(volume, nodeId)))?.record
  if (found === undefined) return undefined
  const { v: _form, at: _time, nodeId: _node, ...report } = found
  return report
}

const STATES: readonly string[] = ['pending', 'present', 'removed', 'failed']
const REPLICA_STATES: readonly string[] = ['seeding', 'current', 'lagging']
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/
/** One word of the protocol, never text of the machine. */
const REASON = /^[a-z0-9_]{0,64}$/

function isValid(observed: ObservedCopy, desired: DesiredCopy): boolean {
  const { epoch, state, sizeBytes, reason, replicas = [], released, fencedSince } = observed
  const numbers = [epoch, sizeBytes, ...(released === undefined ? [] : Object.values(released.checkpoint))]
  return (
    STATES.includes(state) &&
    // `removed` is valid only for a copy to be deleted; otherwise a present copy would be forgotten.
    (state !== 'removed' || desired.desired === 'removed') &&
    epoch <= desired.epoch &&
    numbers.every((number) => Number.isSafeInteger(number) && number >= 0) &&
    REASON.test(reason) &&
    (fencedSince === undefined || TIME.test(fencedSince)) &&
    replicas.every((replica) => REPLICA_STATES.includes(replica.state))
  )
}

/**
 * The parts of a report that are stored. Only a primary reports replicas, and only its own, and a fence; only a promotable
 * replica reports the end of its promise.
 */
function reportOf(observed: ObservedCopy, desired: DesiredCopy, nodeId: NodeId): ReportedCopy {
  const { role, peers, handOverTo, promotable = [] } = desired
  const { volume, epoch, state, sizeBytes, reason, released, fencedSince } = observed
  const isPromiseExpired = role === 'replica' && promotable.includes(nodeId) && observed.isPromiseExpired
  const replicas = peers
    .flatMap((peer) => observed.replicas?.find((replica) => replica.nodeId === peer) ?? [])
    .map((replica) => ({ nodeId: replica.nodeId, state: replica.state }))
    .sort((left, right) => (left.nodeId < right.nodeId ? -1 : 1))
  const isReleased = released !== undefined && released.to === handOverTo
  const { epoch: from = 0, number = 0 } = released?.checkpoint ?? {}
  return {
    volume,
    epoch,
    state,
    sizeBytes,
    reason,
    ...(role === 'primary' && replicas.length > 0 ? { replicas } : {}),
    ...(role === 'primary' && isReleased
      ? { released: { to: released.to, checkpoint: { epoch: from, number } } }
      : {}),
    ...(isPromiseExpired === true ? { isPromiseExpired } : {}),
    ...(role === 'primary' && fencedSince !== undefined ? { fencedSince } : {}),
  }
}

/** Starts a write of queued reports if the node is below its write limit. To be called after each report. */
export function flushCopies(parts: GatewayParts, session: Session): void {
  // At the limit, reports wait for the sweep, which writes the newest.
  if (session.writes < WRITES_IN_WINDOW) writeQueued(parts, session)
}

/** Writes the queued reports, one write at a time per session. Reports that arrive during a write are written next. */
export function writeQueued(parts: GatewayParts, session: Session): void {
  const { copyReports: reports } = session
  if (reports === undefined || reports.unwritten.size === 0) return
  if (reports.writing || session.socket === undefined) return
  writeBatch(parts.context, session, reports)
    .then((outcome) => {
      if (outcome === 'superseded') parts.held.drop(session, 'session_replaced')
      else flushCopies(parts, session)
    })
    .catch((error: unknown) => {
      const facts = { nodeId: session.nodeId, error: String(error) }
      parts.context.log.warn(facts, 'copy report write failed, retrying')
    })
}

type Written = 'written' | 'superseded'

async function writeBatch(context: GatewayContext, session: Session, reports: CopyReports): Promise<Written> {
  reports.writing = true
  const batch = [...reports.unwritten.values()].slice(0, MAX_BATCH)
  session.writes += 1
  context.counts.statusWrites += 1
  try {
    const outcome = await context.store.transact((transaction) => stage(context, session, batch, transaction))
    for (const one of batch)
      if (reports.unwritten.get(one.volume) === one) reports.unwritten.delete(one.volume)
    return outcome
  } finally {
    reports.writing = false
  }
}

function stage(
  { clock, replica }: GatewayContext,
  session: Session,
  batch: readonly ReportedCopy[],
  transaction: Transaction,
): TransactionDecision<Written> {
  const { tenant, nodeId } = session
  if (heldNode(transaction, session, replica) === undefined) return { kind: 'abort', result: 'superseded' }
  const at = timestamp(clock)
  for (const report of batch) {
    // The volume is compared at commit, so no report is stored for a copy that was just forgotten.
    const volume = getOr(transaction, inTenant(tenant, volumes, report.volume), undefined)
    const holders = volume === undefined ? [] : [...volume.copies, ...(volume.leaving ?? [])]
    if (!holders.some((copy) => copy.nodeId === nodeId)) continue
    const stored: StoredCopyReport = { v: 1, ...report, nodeId, at }
    transaction.put(inTenant(tenant, copyReports, copyReportId(report.volume, nodeId)), stored)
  }
  return { kind: 'commit', result: 'written' }
}
