// Schedules the writes of accepted reports: at once while the node is below its write limit, otherwise with the next
// periodic sweep.

import type { GatewayParts } from '../parts.ts'
import { type Session, WRITES_IN_WINDOW } from '../session/session.ts'
import { writeReports } from './accept-status.ts'

/**
 * Starts a write of queued reports if the node is below its write limit. To be called after each report. At the limit, reports
 * wait for the sweep, which writes the newest.
 */
export function flushReports(parts: GatewayParts, session: Session): void {
  if (session.reports === undefined || session.reports.unwritten.size === 0) return
  if (session.writes < WRITES_IN_WINDOW) startWriting(parts, session)
}

/** Writes the queued reports, one write at a time per session. Reports that arrive during a write are written next. */
export function startWriting(parts: GatewayParts, session: Session): void {
  const { reports } = session
  if (reports === undefined || reports.writing || session.socket === undefined) return
  writeReports(parts.context, parts.index, session, reports)
    .then((outcome) => {
      if (outcome === 'superseded') parts.held.drop(session, 'session_replaced')
      if (outcome === 'written') flushReports(parts, session)
    })
    .catch((error: unknown) => {
      const facts = { nodeId: session.nodeId, error: String(error) }
      parts.context.log.warn(facts, 'report write failed, retrying')
    })
}
