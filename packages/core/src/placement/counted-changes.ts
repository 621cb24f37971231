// The difference between one deployment's replicas in a scheduling view and the replicas that a decision assumes.

import { requestedBy } from '../canary/replica-requests.ts'
import { isCanaryReplica } from '../canary/split-assignments.ts'
import type { HypotheticalChange } from '../scheduling/index.ts'
import type { CountedReplicas, CountedRequests } from './snapshot.ts'

export function countedChanges(before: CountedReplicas, after: CountedReplicas): HypotheticalChange[] {
  const sameRequests = hasSameRequests(before, after)
  if (sameRequests && hasSamePlaces(before, after)) return []
  const stays = new Set(sameRequests ? after.assignments.map(placeOf) : [])
  const known = new Set(sameRequests ? before.assignments.map(placeOf) : [])
  const changes: HypotheticalChange[] = []
  for (const each of before.assignments)
    if (!stays.has(placeOf(each))) changes.push({ kind: 'release', ...countedAs(before, each) })
  for (const each of after.assignments)
    if (!known.has(placeOf(each))) changes.push({ kind: 'enter', ...countedAs(after, each) })
  return changes
}

const countedAs = (requests: CountedRequests, each: Place) => ({
  nodeId: each.nodeId,
  name: requests.name,
  resources: requestedBy(requests, each),
})

export function hasSameRequests(before: CountedRequests, after: CountedRequests): boolean {
  return before.name === after.name && [{}, { canary: true }].every((each) => isSame(before, after, each))
}

function isSame(before: CountedRequests, after: CountedRequests, each: Pick<Place, 'canary'>): boolean {
  const [was, is] = [requestedBy(before, each), requestedBy(after, each)]
  return was.cpuMillis === is.cpuMillis && was.memoryBytes === is.memoryBytes
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
  one.id === other?.id && one.nodeId === other.nodeId && isCanaryReplica(one) === isCanaryReplica(other)

/**
 * A key of an assignment on its node. If a decision is repeated on the same state, an assignment gets the same id but
 * possibly another node, so the key includes both id and node. A replica of a canary that becomes one of the deployment
 * may request other resources, so the key includes its mark too.
 */
export const placeOf = (place: Place): string =>
  `${place.nodeId}/${place.id}${isCanaryReplica(place) ? '/canary' : ''}`
