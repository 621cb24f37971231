// Accepts a node's report about its pool and all that it holds, and stores it if it changed. A confirmed deletion of all data
// ends the mark of the pool and may end the release of the node. See docs/design/endings.md#offers

import { isDeepStrictEqual } from 'node:util'
import { defined, type PoolReport, type TenantId } from '@holdfast/contract'
import { judgePool } from '@holdfast/core'
import { poolChangedEvent } from '../../operations/nodes/node-events.ts'
import { markOf } from '../../operations/nodes/pools.ts'
import { finishRelease } from '../../operations/nodes/release-node.ts'
import { recordEvent } from '../../operations/record-write.ts'
import { divergenceEvent } from '../../operations/volumes/promotion/promotion-events.ts'
import { type Clock, timestamp } from '../../ports/clock.ts'
import { nodes, poolMarks, pools, type StoredNode, type StoredPool, volumes } from '../../store/records.ts'
import type { TransactionDecision } from '../../store/store.ts'
import { getOr, globally, inTenant, type Transaction } from '../../store/transaction.ts'
import type { GatewayContext } from '../deps.ts'
import { isHolder } from '../session/held-sessions.ts'
import type { Session } from '../session/session.ts'

/**
 * Stores a report. While one is written, only the newest of the others waits. A report that cannot be written is sent
 * again by the agent with the next complete set.
 */
export function acceptPool(context: GatewayContext, session: Session, report: PoolReport): void {
  const isWriting = session.poolReport !== undefined
  session.poolReport = report
  if (!isWriting) void writeReports(context, session)
}

async function writeReports(context: GatewayContext, session: Session): Promise<void> {
  const { nodeId } = session
  let report = session.poolReport
  while (report !== undefined) {
    try {
      await writeReport(context, session, report)
    } catch (error) {
      context.log.warn({ nodeId, error: String(error) }, 'pool report write failed')
    }
    if (session.poolReport === report) session.poolReport = undefined
    report = session.poolReport
  }
}

async function writeReport(context: GatewayContext, session: Session, report: PoolReport): Promise<void> {
  const { store, clock } = context
  const { tenant } = session
  const node = await store.transact((transaction) => stage(context, session, report, transaction))
  if (node === undefined || report.wiped === undefined || node.schedulable) return
  await store.fresh()
  await finishRelease({ store, clock }, tenant, node.name)
}

/** Returns the node; undefined if the session is no longer the current one. */
function stage(
  { clock, replica }: GatewayContext,
  session: Session,
  report: PoolReport,
  transaction: Transaction,
): TransactionDecision<StoredNode | undefined> {
  const { tenant, nodeId } = session
  const node = transaction.get(inTenant(tenant, nodes, nodeId))
  if (node === undefined || !isHolder(node, session, replica)) return { kind: 'abort', result: undefined }
  const { poolId } = report.storage
  const mark = markOf(transaction, poolId)
  const isConfirmed =
    mark !== undefined && poolId !== undefined && isEndOf(report, mark.order, tenant, mark.tenant)
  if (isConfirmed) transaction.delete(globally(poolMarks, poolId))
  const isMarked = mark !== undefined && mark.tenant !== tenant && !isConfirmed
  const next = withPool(node, report.storage, isMarked, clock)
  const before = transaction.get(inTenant(tenant, pools, nodeId))
  const pool = poolOf(report, nodeId, timestamp(clock))
  const isNew = !isDeepStrictEqual({ v: 1, ...pool, at: before?.at }, before)
  if (isNew) {
    transaction.put(inTenant(tenant, pools, nodeId), { v: 1, ...pool })
    publishDivergences(transaction, clock, tenant, node, { before, pool })
  }
  const isChanged = !isDeepStrictEqual(sizeOf(node), sizeOf(next))
  if (isChanged) storeNode(transaction, clock, tenant, node, next)
  return { kind: isNew || isChanged || isConfirmed ? 'commit' : 'abort', result: next }
}

interface PoolChange {
  readonly before: StoredPool | undefined
  readonly pool: Omit<StoredPool, 'v'>
}

/** Publishes the quarantined data that the node did not report before: a copy has replaced the primary that wrote it. */
function publishDivergences(
  transaction: Transaction,
  clock: Clock,
  tenant: TenantId,
  { id, name }: StoredNode,
  { before, pool }: PoolChange,
): void {
  const known = new Set(before?.quarantined?.map(({ volume, epoch }) => `${volume} ${epoch}`))
  for (const copy of (pool.quarantined ?? []).filter((one) => !known.has(`${one.volume} ${one.epoch}`))) {
    const volume = getOr(transaction, inTenant(tenant, volumes, copy.volume), undefined)
    const isDeposed = volume?.promotions?.some(
      ({ from, fromEpoch }) => from === id && fromEpoch === copy.epoch,
    )
    if (volume !== undefined && isDeposed === true)
      recordEvent(
        transaction,
        clock,
        tenant,
        divergenceEvent(volume, id, copy, () => name),
      )
  }
}

/** Whether the report ends the mark: another tenant's agent followed the order, or the own one emptied the pool. */
const isEndOf = (report: PoolReport, order: string, tenant: TenantId, marked: TenantId): boolean =>
  marked === tenant ? report.wiped?.startsWith('release.') === true : report.wiped === order

/** Checkpoints change all the time and are not stored. */
function poolOf(report: PoolReport, nodeId: StoredPool['nodeId'], at: string): Omit<StoredPool, 'v'> {
  const { storage, foreign, wiped, copies, quarantined } = report
  const held = copies?.map(({ volume, epoch, role }) => ({ volume, epoch, role }))
  return { nodeId, ...defined({ poolId: storage.poolId, foreign, wiped, copies: held, quarantined }), at }
}

/** The parts of a node that depend on its pool, without the bytes in use, which change all the time. */
function sizeOf({ storage, poolId, degraded }: StoredNode) {
  const { usedBytes: _used, ...size } = storage ?? { usedBytes: 0 }
  return { size, poolId, reason: degraded?.reason }
}

/** The node with the pool that its agent states. */
export function withPool(
  node: StoredNode,
  stated: StoredNode['storage'],
  isMarked: boolean,
  clock: Clock,
): StoredNode {
  const { storage: before, poolId: known = before?.poolId, degraded: was, ...others } = node
  const { poolId, storage, degraded: reason } = judgePool({ known, stated, isMarked })
  const since = was !== undefined && was.reason === reason ? was.since : timestamp(clock)
  const degraded = reason && { reason, since }
  return { ...others, ...defined({ storage, poolId, degraded }) }
}

function storeNode(
  transaction: Transaction,
  clock: Clock,
  tenant: TenantId,
  before: StoredNode,
  next: StoredNode,
): void {
  transaction.put(inTenant(tenant, nodes, next.id), next)
  if (isNewlyDegraded(before, next)) recordEvent(transaction, clock, tenant, poolChangedEvent(next))
}

export const isNewlyDegraded = (before: StoredNode, next: StoredNode): boolean =>
  next.degraded !== undefined && next.degraded.reason !== before.degraded?.reason
