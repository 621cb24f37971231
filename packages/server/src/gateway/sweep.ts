// One timer for all sessions: closes sockets without a hello, resends complete desired sets, writes pending reports and
// updates the status of silent nodes.

import { recordStatus, silentMs, statusDue } from '../liveness/record-session-status.ts'
import { sendComplete } from './desired/send-desired.ts'
import type { GatewayParts } from './parts.ts'
import { writeQueued } from './reports/accept-copies.ts'
import { startWriting } from './reports/flush-reports.ts'
import { guardSession } from './session/guard-session.ts'
import { closeSession, type Session } from './session/session.ts'

/** A sweep that is this many intervals late shows that this process was suspended, not that the nodes were silent. */
const LATE_SWEEPS = 4

export function startSweeps(parts: GatewayParts): () => void {
  const { detector, times } = parts.context
  const { sweepMs } = times
  let last = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    const lateMs = now - last - sweepMs
    last = now
    // Heartbeats that arrived while this process was suspended are still unread, so the suspended time is no silence.
    const stoodStillMs = lateMs > LATE_SWEEPS * sweepMs ? lateMs : 0
    if (stoodStillMs > 0) for (const session of parts.held.all.values()) session.heardAt += stoodStillMs
    detector.check(now)
    parts.access.check(now, stoodStillMs)
    sweep(parts, now)
  }, sweepMs)
  return () => clearInterval(timer)
}

function sweep(parts: GatewayParts, now: number): void {
  for (const connection of parts.waiting) {
    if (now < connection.helloUntil) continue
    parts.waiting.delete(connection)
    connection.ended = true
    closeSession(connection.socket, 'session_refused')
  }
  for (const session of parts.held.all.values())
    guardSession(parts, session, () => sweepSession(parts, session, now))
}

function sweepSession(parts: GatewayParts, session: Session, now: number): void {
  if (session.socket !== undefined && parts.access.mustEnd(session, now))
    parts.held.drop(session, 'unavailable')
  if (session.socket !== undefined && now >= session.nextCompleteAt) {
    session.nextCompleteAt = now + parts.context.times.resyncMs
    sendComplete(parts.context, parts.index, session)
  }
  if (session.reports !== undefined && session.reports.unwritten.size > 0) startWriting(parts, session)
  writeQueued(parts, session)
  checkStatus(parts, session, now)
}

function checkStatus({ context, held }: GatewayParts, session: Session, now: number): void {
  const { times, detector, log } = context
  // The socket of a silent node is terminated, because the connection is probably dead. The agent then reconnects.
  if (silentMs(session, now, detector) >= times.unreachableMs) session.socket?.terminate()
  // A write that waits for the store would be applied when the store returns, before the node got its full time again.
  const isStoreAway = now - detector.freshAt > times.awayMs
  const status = statusDue(session, now, times, detector)
  if (status === undefined || session.writingStatus || isStoreAway) return
  session.writingStatus = true
  recordStatus(context, session, status, now, detector)
    .then((outcome) => {
      if (outcome === 'written') session.reportedStatus = status
      if (outcome === 'elsewhere' || (outcome === 'written' && status === 'failed'))
        held.drop(session, 'session_replaced')
    })
    .catch((error: unknown) => {
      log.warn({ nodeId: session.nodeId, error: String(error) }, 'node status write failed')
    })
    .finally(() => {
      session.writingStatus = false
    })
}
