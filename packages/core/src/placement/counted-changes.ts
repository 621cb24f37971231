// The difference between one deployment's replicas in a scheduling view and the replicas that a decision assumes.

import type { HypotheticalChange } from '../scheduling/index.ts'
import type { CountedReplicas } from './snapshot.ts'

export function countedChanges(before: CountedReplicas, after: CountedReplicas): HypotheticalChange[] {
  const sameRequests = hasSameRequests(before, after)
  if (sameRequests && hasSamePlaces(before, after)) return []
  const stays = new Set(sameRequests ? after.assignments.map(placeOf) : [])
  const known = new Set(sameRequests ? before.assignments.map(placeOf) : [])
  const changes: HypotheticalChange[] = []
  for (const each of before.assignments)
    if (!stays.has(placeOf(each)))
      changes.push({ kind: 'release', nodeId: each.nodeId, name: before.name, resources: before.resources })
  for (const each of after.assignments)
    if (!known.has(placeOf(each)))
      changes.push({ kind: 'enter', nodeId: each.nodeId, name: after.name, resources: after.resources })
  return changes
}

export function hasSameRequests(
  before: Pick<CountedReplicas, 'name' | 'resources'>,
  after: Pick<CountedReplicas, 'name' | 'resources'>,
): boolean {
  return (
    before.name === after.name &&
    before.resources.cpuMillis === after.resources.cpuMillis &&
    before.resources.memoryBytes === after.resources.memoryBytes
  )
}

type Place = CountedReplicas['assignments'][number]

/** Whether two lists of assignments are equal, order included. If so, which is usual, no sets have to be built. */
function hasSamePlaces(before: CountedReplicas, after: CountedReplicas): boolean {
  return (
    before.assignments.length === after.assignments.length &&
    after.assignments.every((each, index) => isSamePlace(each, before.assignments[index]))
  )
}

const isSamePlace = (one: Place, other: Place | undefined): boolean =>
  one.id === other?.id && one.nodeId === other.nodeId

/**
 * A key of an assignment on its node. If a decision is repeated on the same state, an assignment gets the same id but
 * possibly another node, so the key includes both id and node.
 */
export const placeOf = ({ id, nodeId }: Place): string => `${nodeId}/${id}`
