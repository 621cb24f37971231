// Holds the known status of the agent's assignments, and reports every change as an observation with the next sequence
// number. Reports of intermediate states, which are soon outdated, are delayed a little and batched. See
// docs/design/agent.md#observations.

import type { AssignmentId, DesiredItem, Observation, ReplicaState } from '@holdfast/contract'
import { hasChanged, observeReplica, type ReplicaView } from '@holdfast/core/node'

/** Sequence numbers reserved per start of the agent, so that a later start always uses higher numbers. */
const NUMBERS_PER_START = 2 ** 32

/** Longest delay of a report of an intermediate state. Batches save CPU time of agent and server. */
const BATCH_MS = 250
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

type Report = (observations: readonly Observation[]) => void

/** Creates the status table. `starts`: how often an agent was started on this node. */
export function createReplicaStatusTable(starts: number, batchMs = BATCH_MS): ReplicaStatusTable {
  const views = new Map<AssignmentId, ReplicaView>()
  const reported = new Map<AssignmentId, Observation>()
  const unsent = new Map<AssignmentId, Observation>()
  let report: Report = () => {}
  let seq = starts * NUMBERS_PER_START
  let batchTimer: NodeJS.Timeout | undefined
  let sendsThisTurn = false

  const send = (): void => {
    clearTimeout(batchTimer)
    batchTimer = undefined
    sendsThisTurn = false
    const batch = [...unsent.values()]
    unsent.clear()
    if (batch.length > 0) report(batch)
  }
  const enqueue = (observation: Observation, mayWait: boolean): void => {
    unsent.set(observation.assignmentId, observation)
    if (mayWait) batchTimer ??= setTimeout(send, batchMs).unref()
    // All changes in one turn of the event loop are sent in one message.
    else if (!sendsThisTurn) setImmediate(send)
    sendsThisTurn ||= !mayWait
  }
  const set = (id: AssignmentId, view: ReplicaView): void => {
    views.set(id, view)
    const before = reported.get(id)
    const current = observeReplica(view, before)
    if (current === undefined || !hasChanged(before, current)) return
    seq += 1
    const observation = { ...current, seq }
    reported.set(id, observation)
    enqueue(observation, isIntermediate(before, observation))
  }
  return {
    reportTo(given) {
      report = given
    },
    setItems(items) {
      for (const id of views.keys()) {
        if (items.has(id)) continue
        for (const map of [views, reported, unsent]) map.delete(id)
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

/** Whether a change may be reported late. Failures, readiness, restarts and the end of a replica are reported at once. */
function isIntermediate(before: Observation | undefined, observation: Observation): boolean {
  const { state, reason, gone, restarts } = observation
  return INTERMEDIATE.includes(state) && reason === '' && !gone && restarts === (before?.restarts ?? 0)
}
