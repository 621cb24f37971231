// Sends observations in batches. Reports of intermediate states, which are soon outdated, are delayed a little. Repeated
// reports of one assignment, such as those of a crashing container, are folded: the newest is sent later.

import type { AssignmentId, Observation } from '@holdfast/contract'
import { createReportRate } from './report-rate.ts'

/** Longest delay of a report of an intermediate state. Batches save CPU time of agent and server. */
const BATCH_MS = 250

export type Report = (observations: readonly Observation[]) => void

/** `urgent`: sent at once, however many were sent before. `intermediate`: may wait for the next batch. */
export type Urgency = 'urgent' | 'prompt' | 'intermediate'

export interface ReportOutbox {
  reportTo(report: Report): void
  /** Sends the newest observation of an assignment, now or later. It replaces an earlier one that was not sent yet. */
  add(observation: Observation, urgency: Urgency): void
  /** Drops what was not sent about an assignment. */
  drop(id: AssignmentId): void
}

export function createReportOutbox(batchMs = BATCH_MS, monotonicMs = () => performance.now()): ReportOutbox {
  const rate = createReportRate(monotonicMs)
  const unsent = new Map<AssignmentId, Observation>()
  const folded = new Map<AssignmentId, { newest: Observation; readonly timer: NodeJS.Timeout }>()
  let report: Report = () => {}
  let batchTimer: NodeJS.Timeout | undefined
  let sendsThisTurn = false

  const send = (): void => {
    clearTimeout(batchTimer)
    batchTimer = undefined
    sendsThisTurn = false
    const batch = [...unsent.values()]
    unsent.clear()
    for (const { assignmentId } of batch) rate.spend(assignmentId)
    if (batch.length > 0) report(batch)
  }
  const unfold = (id: AssignmentId): void => {
    clearTimeout(folded.get(id)?.timer)
    folded.delete(id)
  }
  const enqueue = (observation: Observation, mayWait: boolean): void => {
    unfold(observation.assignmentId)
    unsent.set(observation.assignmentId, observation)
    if (mayWait) batchTimer ??= setTimeout(send, batchMs).unref()
    // All changes in one turn of the event loop are sent in one message.
    else if (!sendsThisTurn) setImmediate(send)
    sendsThisTurn ||= !mayWait
  }
  /** Sends the newest observation of the assignment once its rate allows it. */
  const fold = (newest: Observation, delayMs: number): void => {
    const id = newest.assignmentId
    const held = folded.get(id)
    if (held !== undefined) {
      held.newest = newest
      return
    }
    const sendNewest = (): void => enqueue(folded.get(id)?.newest ?? newest, true)
    folded.set(id, { newest, timer: setTimeout(sendNewest, delayMs).unref() })
  }
  return {
    reportTo(given) {
      report = given
    },
    add(observation, urgency) {
      const id = observation.assignmentId
      const delayMs = urgency === 'urgent' || unsent.has(id) ? 0 : rate.delayMs(id)
      if (delayMs > 0) fold(observation, delayMs)
      else enqueue(observation, urgency === 'intermediate')
    },
    drop(id) {
      unsent.delete(id)
      unfold(id)
      rate.forget(id)
    },
  }
}
