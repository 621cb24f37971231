// The story of a deployment, for a person to read: what was asked, each step, what was waited for, what failed, and what
// happened to the machines under it. DECISIONS 2 (status). Newest first.

import { isJsonObject, type Json, type ListedEvent, type TenantId } from '@holdfast/contract'
import { events } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { type EventPosition, listedEvent, placeEvents } from '../../events/event-cursor.ts'
import { lookThrough } from '../../events/look-through-events.ts'
import { foldRepeats } from '../../events/read-events.ts'

export interface Storied {
  readonly uid: string
  /** Where its replicas are now; where they were follows from the story itself. */
  readonly nodeIds: readonly string[]
}

const LENGTH = 50
/** Repeats are folded into one, so more are gathered than are told. */
const GATHERED = 100

interface Timeline {
  /** Newest first. */
  readonly timeline: ListedEvent[]
  /** Where what is not told here begins; absent where all is told. */
  readonly earlierCursor?: string
}

export type Told = readonly [EventPosition, ListedEvent]

export async function readTimeline(
  store: Pick<Store, 'keysOf' | 'read'>,
  tenant: TenantId,
  { uid, nodeIds }: Storied,
): Promise<Timeline> {
  const own: Told[] = []
  const machines: Told[] = []
  const way = placeEvents(store.keysOf(events, tenant)).toReversed()
  const { last, whole } = await lookThrough(store, way, (event, placed) => {
    if (event.subject.uid === uid) own.push([placed, listedEvent(event, placed.cursor)])
    else if (MACHINE_EVENTS.has(event.type)) machines.push([placed, listedEvent(event, placed.cursor)])
    return own.length < GATHERED && !isBirth(own.at(-1))
  })
  return timelineText(own, machines, nodeIds, whole || isBirth(own.at(-1)) ? undefined : last?.cursor)
}

/** Nothing of its story is older. */
const isBirth = (told: Told | undefined): boolean => told?.[1].type === 'deployment.created'

/** `own` and `machines` newest first, as they were found; `unseen` is the cursor before which nothing was looked at. */
export function timelineText(
  own: readonly Told[],
  machines: readonly Told[],
  nodeIds: readonly string[],
  unseen: string | undefined,
): Timeline {
  const told = [...own, ...concerning(own, machines, nodeIds)].sort(inStoryOrder).map(([, event]) => event)
  const folded = foldRepeats(told)
  const left = folded.slice(0, -LENGTH).reduce((sum, { count }) => sum + count, 0)
  const earlier = left === 0 ? unseen : told[left]?.cursor
  return {
    timeline: folded.slice(-LENGTH).toReversed(),
    ...(earlier === undefined ? {} : { earlierCursor: earlier }),
  }
}

const MACHINE_EVENTS: ReadonlySet<string> = new Set([
  'node.ready',
  'node.unreachable',
  'node.failed',
  'node.cordoned',
  'node.drained',
])

/** What happened to a machine since the story began, where a replica is there or is told to have been. */
function concerning(own: readonly Told[], machines: readonly Told[], nodeIds: readonly string[]): Told[] {
  const since = own.at(-1)?.[0].revision ?? Number.POSITIVE_INFINITY
  const known = new Set([...nodeIds, ...own.flatMap(([, { data }]) => nodesIn(data))])
  return machines.filter(([{ revision }, { subject }]) => revision >= since && known.has(subject.uid))
}

/** `nodeId` of an event, and of each replica that it tells of. */
function nodesIn(data: Json): string[] {
  if (!isJsonObject(data)) return []
  const { nodeId, replicas } = data
  const named = typeof nodeId === 'string' ? [nodeId] : []
  return Array.isArray(replicas) ? [...named, ...replicas.flatMap((each) => nodesIn(each))] : named
}

/** What was written in one transaction stands under one revision, and there in the order in which it is to be read. */
const inStoryOrder = ([left]: Told, [right]: Told): number =>
  left.revision - right.revision || left.ordinal - right.ordinal
