// One timer for all sessions: who is silent, whose minute is over, whose reports still wait, who never said hello.

import { createFailureDetector, type FailureDetector } from '../liveness/failure-detector.ts'
import { recordStatus, silentMs, statusDue } from '../liveness/record-session-status.ts'
import { sendComplete } from './desired/send-desired.ts'
import type { GatewayParts } from './parts.ts'
import { startWriting } from './reports/flush-reports.ts'
import { guardSession } from './session/guard-session.ts'
import { closeSession, type Session } from './session/session.ts'

/** How far behind its time a sweep may be before it says something of us and nothing of the nodes. */
const LATE_SWEEPS = 4

export function startSweeps(parts: GatewayParts): () => void {
  const { sweepMs } = parts.running.times
  const board = boardOf(parts)
  let last = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    const lateMs = now - last - sweepMs
    last = now
    // We were stopped or choked: what the nodes said meanwhile is still unread, so their silence does not count.
    if (lateMs > LATE_SWEEPS * sweepMs)
      for (const session of parts.held.all.values()) session.heardAt += lateMs
    board.look(now)
    sweep(parts, board, now)
  }, sweepMs)
  return () => {
    clearInterval(timer)
    board.stop()
  }
}

function boardOf({ running: { store, replica: self, times, log } }: GatewayParts): FailureDetector {
  const began = 'many nodes fell silent at once: none of them is given up for now'
  return createFailureDetector({
    ...{ store, self, times, lookMs: times.sweepMs },
    onHold: (begins, facts) =>
      begins
        ? log.warn(facts, began)
        : log.info(facts, 'silent nodes are given up again when their time is over'),
  })
}

function sweep(parts: GatewayParts, board: FailureDetector, now: number): void {
  for (const connection of parts.waiting) {
    if (now < connection.helloUntil) continue
    parts.waiting.delete(connection)
    connection.ended = true
    closeSession(connection.socket, 'session_refused')
  }
  for (const session of parts.held.all.values())
    guardSession(parts, session, () => sweepSession(parts, board, session, now))
}

function sweepSession(parts: GatewayParts, board: FailureDetector, session: Session, now: number): void {
  if (session.socket !== undefined && now >= session.nextCompleteAt) {
    session.nextCompleteAt = now + parts.running.times.resyncMs
    sendComplete(parts.running, parts.index, session)
  }
  if (session.reports !== undefined && session.reports.unwritten.size > 0) startWriting(parts, session)
  checkLife(parts, board, session, now)
}

function checkLife(parts: GatewayParts, board: FailureDetector, session: Session, now: number): void {
  const { running, held } = parts
  // Half open at best; the agent comes back with a new session.
  if (silentMs(session, now, board) >= running.times.unreachableMs) session.socket?.terminate()
  const status = statusDue(session, now, running.times, board)
  if (status === undefined || session.telling) return
  session.telling = true
  recordStatus(running, session, status, now, board)
    .then((outcome) => {
      if (outcome === 'told') session.told = status
      if (outcome === 'elsewhere' || (outcome === 'told' && status === 'failed'))
        held.drop(session, 'session_replaced')
    })
    .catch((error: unknown) => {
      running.log.warn(
        { nodeId: session.nodeId, error: String(error) },
        'what became of a node could not be noted',
      )
    })
    .finally(() => {
      session.telling = false
    })
}
