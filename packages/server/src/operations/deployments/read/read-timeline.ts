// The timeline of a deployment for operators, newest first: its own events and those of the nodes that run its replicas.

import { defined, isJsonObject, type Json, type ListedEvent, type TenantId } from '@holdfast/contract'
import { events } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { type EventPosition, listedEvent, placeEvents } from '../../events/event-cursor.ts'
import { foldRepeats } from '../../events/read-events.ts'
import { scanEvents } from '../../events/scan-events.ts'

export interface TimelineSubject {
  readonly uid: string
  /** Nodes that have replicas of the deployment now; earlier nodes are found in the events. */
  readonly nodeIds: readonly string[]
}

const LENGTH = 50
/** Number of events to read. It is higher than the number shown, because repeated events are folded into one entry. */
const GATHERED = 100

interface Timeline {
  /** Events of the timeline, newest first. */
  readonly timeline: ListedEvent[]
  /** Cursor for reading older events; absent if the timeline is complete. */
  readonly earlierCursor?: string
}

export type TimelineEntry = readonly [EventPosition, ListedEvent]

export async function readTimeline(
  store: Pick<Store, 'keysOf' | 'read'>,
  tenant: TenantId,
  { uid, nodeIds }: TimelineSubject,
): Promise<Timeline> {
  const own: TimelineEntry[] = []
  const machines: TimelineEntry[] = []
  const newestFirst = placeEvents(store.keysOf(events, tenant)).toReversed()
  const { last, complete } = await scanEvents(store, newestFirst, (event, placed) => {
    if (event.subject.uid === uid) own.push([placed, listedEvent(event, placed.cursor)])
    else if (MACHINE_EVENTS.has(event.type)) machines.push([placed, listedEvent(event, placed.cursor)])
    return own.length < GATHERED && !isCreation(own.at(-1))
  })
  return buildTimeline(own, machines, nodeIds, complete || isCreation(own.at(-1)) ? undefined : last?.cursor)
}

/** Whether an entry is the creation of the deployment, which is always the oldest event of a timeline. */
const isCreation = (entry: TimelineEntry | undefined): boolean => entry?.[1].type === 'deployment.created'

/** Merges deployment events (`own`) and node events, all newest first. Events before cursor `unseen` are not included. */
export function buildTimeline(
  own: readonly TimelineEntry[],
  machines: readonly TimelineEntry[],
  nodeIds: readonly string[],
  unseen: string | undefined,
): Timeline {
  const shown = [...own, ...relatedTo(own, machines, nodeIds)].sort(byPosition).map(([, event]) => event)
  const folded = foldRepeats(shown)
  const left = folded.slice(0, -LENGTH).reduce((sum, { count }) => sum + count, 0)
  const earlier = left === 0 ? unseen : shown[left]?.cursor
  return {
    timeline: folded.slice(-LENGTH).toReversed(),
    ...defined({ earlierCursor: earlier }),
  }
}

const MACHINE_EVENTS: ReadonlySet<string> = new Set([
  'node.ready',
  'node.unreachable',
  'node.failed',
  'node.cordoned',
  'node.drained',
])

/** Node events since the deployment's first event, of nodes that have or had a replica of the deployment. */
function relatedTo(
  own: readonly TimelineEntry[],
  machines: readonly TimelineEntry[],
  nodeIds: readonly string[],
): TimelineEntry[] {
  const since = own.at(-1)?.[0].revision ?? Number.POSITIVE_INFINITY
  const known = new Set([...nodeIds, ...own.flatMap(([, { data }]) => nodesIn(data))])
  return machines.filter(([{ revision }, { subject }]) => revision >= since && known.has(subject.uid))
}

/** The ids of the nodes in an event's data: the event's own node, and the nodes of the replicas that the event lists. */
function nodesIn(data: Json): string[] {
  if (!isJsonObject(data)) return []
  const { nodeId, replicas } = data
  const named = typeof nodeId === 'string' ? [nodeId] : []
  return Array.isArray(replicas) ? [...named, ...replicas.flatMap((each) => nodesIn(each))] : named
}

/** Sorts timeline entries oldest first. Events of one transaction share a revision and are ordered by their ordinal. */
const byPosition = ([left]: TimelineEntry, [right]: TimelineEntry): number =>
  left.revision - right.revision || left.ordinal - right.ordinal
