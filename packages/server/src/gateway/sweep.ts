// One timer for all sessions: who is silent, whose minute is over, whose reports still wait, who never said hello.

import { startWriting } from './flush-reports.ts'
import { guardSession } from './guard-session.ts'
import { statusDue, tellStatus } from './liveness.ts'
import type { GatewayParts } from './parts.ts'
import { sendComplete } from './send-desired.ts'
import { type Session, sayFarewell } from './session.ts'

/** How far behind its time a sweep may be before it says something of us and nothing of the nodes. */
const LATE_SWEEPS = 4

export function startSweeps(parts: GatewayParts): () => void {
  const { sweepMs } = parts.running.times
  let last = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    const lateMs = now - last - sweepMs
    last = now
    // We were stopped or choked: what the nodes said meanwhile is still unread, so their silence does not count.
    if (lateMs > LATE_SWEEPS * sweepMs)
      for (const session of parts.held.all.values()) session.heardAt += lateMs
    sweep(parts, now)
  }, sweepMs)
  return () => clearInterval(timer)
}

function sweep(parts: GatewayParts, now: number): void {
  for (const connection of parts.waiting) {
    if (now < connection.helloUntil) continue
    parts.waiting.delete(connection)
    connection.ended = true
    sayFarewell(connection.socket, 'session_refused')
  }
  for (const session of parts.held.all.values())
    guardSession(parts, session, () => sweepSession(parts, session, now))
}

function sweepSession(parts: GatewayParts, session: Session, now: number): void {
  if (session.socket !== undefined && now >= session.nextCompleteAt) {
    session.nextCompleteAt = now + parts.running.times.resyncMs
    sendComplete(parts.running, parts.index, session)
  }
  if (session.reports !== undefined && session.reports.unwritten.size > 0) startWriting(parts, session)
  checkLife(parts, session, now)
}

function checkLife(parts: GatewayParts, session: Session, now: number): void {
  const { running, held } = parts
  const status = statusDue(session, now, running.times)
  if (status === undefined || session.telling) return
  // Half open at best; the agent comes back with a new session.
  if (status !== 'ready') session.socket?.terminate()
  session.telling = true
  tellStatus(running, session, status)
    .then((ours) => {
      session.told = status
      if (!ours || status === 'failed') held.drop(session, 'session_replaced')
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
