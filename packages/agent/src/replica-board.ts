// All that the agent knows of its assignments, and the one place from which it is reported: a change of what was seen
// becomes an observation with the next number. SAFETY 4e.

import type { AssignmentId, DesiredItem, Observation } from '@holdfast/contract'
import { isNews, type ReplicaView, sightingOf } from '@holdfast/core/reconcile'

/** Numbers of one start of the agent: those of the next are all above them. */
const NUMBERS_PER_START = 2 ** 32

export type ViewChange = Partial<Omit<ReplicaView, 'item'>>

export interface ReplicaBoard {
  /** Views of other assignments are forgotten. */
  setItems(items: ReadonlyMap<AssignmentId, DesiredItem>): void
  view(id: AssignmentId): ReplicaView | undefined
  update(id: AssignmentId, change: ViewChange): void
}

const NOTHING_SEEN: Omit<ReplicaView, 'item'> = {
  container: 'unknown',
  activity: undefined,
  making: false,
  trouble: '',
  unjudged: false,
  readySince: undefined,
}

/** `starts`: how often an agent was started on this node. */
export function createReplicaBoard(
  starts: number,
  report: (observations: readonly Observation[]) => void,
): ReplicaBoard {
  const views = new Map<AssignmentId, ReplicaView>()
  const said = new Map<AssignmentId, Observation>()
  const unsent = new Map<AssignmentId, Observation>()
  let seq = starts * NUMBERS_PER_START

  const send = (): void => {
    const batch = [...unsent.values()]
    unsent.clear()
    if (batch.length > 0) report(batch)
  }
  const say = (observation: Observation): void => {
    // One message for all that changes in one turn.
    if (unsent.size === 0) setImmediate(send)
    unsent.set(observation.assignmentId, observation)
  }
  const set = (id: AssignmentId, view: ReplicaView): void => {
    views.set(id, view)
    const before = said.get(id)
    const sighting = sightingOf(view, before)
    if (sighting === undefined || !isNews(before, sighting)) return
    seq += 1
    const observation = { ...sighting, seq }
    said.set(id, observation)
    say(observation)
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
