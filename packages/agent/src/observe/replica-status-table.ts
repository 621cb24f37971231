// All that the agent knows of its assignments, and the one place from which it is reported: a change of what was seen
// becomes an observation with the next number. SAFETY 4e. A step on the way, which the next one soon makes old, waits a
// little: the last of several is what is said, and those of other assignments go with it.

import type { AssignmentId, DesiredItem, Observation, ReplicaState } from '@holdfast/contract'
import { hasChanged, observeReplica, type ReplicaView } from '@holdfast/core/node'

/** Numbers of one start of the agent: those of the next are all above them. */
const NUMBERS_PER_START = 2 ** 32

/** A report costs the engine's machine processor time at both ends; a step that nobody waits for may be so late. */
const HOLD_MS = 250
const STEPS: readonly ReplicaState[] = ['pulling', 'starting', 'running']

export type ViewChange = Partial<Omit<ReplicaView, 'item'>>

export interface ReplicaStatusTable {
  /** Views of other assignments are forgotten. */
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
  unverified: false,
  readySince: undefined,
}

/** `starts`: how often an agent was started on this node. */
export function createReplicaStatusTable(
  starts: number,
  report: (observations: readonly Observation[]) => void,
  holdMs = HOLD_MS,
): ReplicaStatusTable {
  const views = new Map<AssignmentId, ReplicaView>()
  const said = new Map<AssignmentId, Observation>()
  const unsent = new Map<AssignmentId, Observation>()
  let seq = starts * NUMBERS_PER_START
  let held: NodeJS.Timeout | undefined
  let leaving = false

  const send = (): void => {
    clearTimeout(held)
    held = undefined
    leaving = false
    const batch = [...unsent.values()]
    unsent.clear()
    if (batch.length > 0) report(batch)
  }
  const say = (observation: Observation, mayWait: boolean): void => {
    unsent.set(observation.assignmentId, observation)
    if (mayWait) held ??= setTimeout(send, holdMs).unref()
    // One message for all that changes in one turn.
    else if (!leaving) setImmediate(send)
    leaving ||= !mayWait
  }
  const set = (id: AssignmentId, view: ReplicaView): void => {
    views.set(id, view)
    const before = said.get(id)
    const current = observeReplica(view, before)
    if (current === undefined || !hasChanged(before, current)) return
    seq += 1
    const observation = { ...current, seq }
    said.set(id, observation)
    say(observation, isStep(before, observation))
  }
  return {
    setItems(items) {
      for (const id of views.keys()) {
        if (items.has(id)) continue
        for (const kept of [views, said, unsent]) kept.delete(id)
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

/** Trouble, readiness and the end are never held back, nor is a restart. */
function isStep(before: Observation | undefined, { state, reason, gone, restarts }: Observation): boolean {
  return STEPS.includes(state) && reason === '' && !gone && restarts === (before?.restarts ?? 0)
}
