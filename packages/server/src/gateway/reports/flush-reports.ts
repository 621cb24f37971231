// When accepted reports are written: at once as long as a node keeps to its share, and otherwise at the pace of the sweeps.

import type { GatewayParts } from '../parts.ts'
import type { Session } from '../session/session.ts'
import { writeReports } from './accept-status.ts'

/** Of one window; what is above waits for the next sweep, and the newest of each assignment is what is then written. */
const WRITES_IN_WINDOW = 100

/** Called at each report; beyond the window's share the sweep takes over, at its own pace. */
export function flushReports(parts: GatewayParts, session: Session): void {
  if (session.reports === undefined || session.reports.unwritten.size === 0) return
  if (session.writes < WRITES_IN_WINDOW) startWriting(parts, session)
}

/** One write at a time; what came meanwhile follows it. */
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
      parts.context.log.warn(facts, 'reports of a node could not be stored; they are tried again')
    })
}
