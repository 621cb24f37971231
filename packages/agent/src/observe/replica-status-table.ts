// Holds the known status of the agent's assignments, and reports every change as an observation with the next sequence
// number. See docs/design/agent.md#observations.

import type { AssignmentId, DesiredItem, Observation, ReplicaState } from '@holdfast/contract'
import { hasChanged, isUrgent, observeReplica, type ReplicaView } from '@holdfast/core/node'
import { createReportOutbox, type Report, type Urgency } from './report-outbox.ts'

/** Sequence numbers reserved per start of the agent, so that a later start always uses higher numbers. */
const NUMBERS_PER_START = 2 ** 32

const INTERMEDIATE: readonly ReplicaState[] = ['pulling', 'starting', 'running']

export type ViewChange = Partial<Omit<ReplicaView, 'item'>>

export interface ReplicaStatusTable {
  /** Sets the receiver of every batch of observations. Call before the first change. */
  reportTo(report: Report): void
  /** Sets the agent's assignments, and drops the status of every assignment that is not in `items`. */
  setItems(items: ReadonlyMap<AssignmentId, DesiredItem>): void
  view(id: AssignmentId): ReplicaView | undefined
  update(id: AssignmentId, change: ViewChange): void
}

const NOTHING_SEEN: Omit<ReplicaView, 'item'> = {
  container: 'unknown',
  activity: undefined,
  creating: false,
  trouble: '',
  about: '',
  cause: '',
  unverified: false,
  readySince: undefined,
}

/** Creates the status table. `starts`: how often an agent was started on this node. */
export function createReplicaStatusTable(starts: number, batchMs?: number): ReplicaStatusTable {
  const views = new Map<AssignmentId, ReplicaView>()
  const reported = new Map<AssignmentId, Observation>()
  const outbox = createReportOutbox(batchMs)
  let seq = starts * NUMBERS_PER_START

  const set = (id: AssignmentId, view: ReplicaView): void => {
    views.set(id, view)
    const before = reported.get(id)
    const current = observeReplica(view, before)
    if (current === undefined || !hasChanged(before, current)) return
    seq += 1
    const observation = { ...current, seq }
    reported.set(id, observation)
    outbox.add(observation, urgencyOf(before, observation))
  }
  return {
    reportTo: outbox.reportTo,
    setItems(items) {
      for (const id of views.keys()) {
        if (items.has(id)) continue
        for (const map of [views, reported]) map.delete(id)
        outbox.drop(id)
      }
      for (const [id, item] of items) set(id, { ...(views.get(id) ?? NOTHING_SEEN), item })
    },
    view: (id) => views.get(id),
    update(id, change) {
      const view = views.get(id)
      if (view !== undefined) set(id, { ...view, ...change })
    },
  }
}

const urgencyOf = (before: Observation | undefined, observation: Observation): Urgency => {
  if (isIntermediate(before, observation)) return 'intermediate'
  return isUrgent(before, observation) ? 'urgent' : 'prompt'
}

/** Whether a change may be reported late. Failures, readiness, restarts and the end of a replica are reported at once. */
function isIntermediate(before: Observation | undefined, observation: Observation): boolean {
  const { state, reason, gone, restarts } = observation
  return INTERMEDIATE.includes(state) && reason === '' && !gone && restarts === (before?.restarts ?? 0)
}
