// Events for replicas whose container their node could not create, and which move to another node.

import type { AvoidedNode } from '@holdfast/contract'
import type { PlacementPlan } from '../placement-plan.ts'
import { type EventDraft, MOST_NAMED, type NodeName } from './event-texts.ts'

interface Moved {
  readonly nodeId: AvoidedNode['nodeId']
  readonly replica: number
  /** The name of the successor's node; null if the replica is removed before its successor is created. */
  readonly to: string | null
}

/** One event for each node that replicas leave now. Only the plan that replaces or removes them emits it. */
export function uncreatedEvents(plan: PlacementPlan, nodeName: NodeName): EventDraft[] {
  const { before, added, kept, uncreated, avoided = [] } = plan
  const leaving = (before?.assignments ?? []).filter(({ id }) => uncreated.leaving.has(id))
  const moved = leaving.flatMap(({ id, nodeId, replica, canary }): Moved[] => {
    const to = added.find((each) => each.replica === replica && each.canary === canary)
    const isRemoved = kept.some((each) => each.id === id && each.desired === 'removed')
    if (to === undefined && !isRemoved) return []
    return [{ nodeId, replica, to: to === undefined ? null : nodeName(to.nodeId) }]
  })
  return [...Map.groupBy(moved, ({ nodeId }) => nodeId)].map(([nodeId, own]) => {
    const { cause = '', until } = avoided.find((each) => each.nodeId === nodeId) ?? {}
    return eventOf({ nodeId, name: nodeName(nodeId), cause, until }, own)
  })
}

interface Left extends Pick<AvoidedNode, 'nodeId' | 'cause'> {
  readonly name: string
  readonly until: string | undefined
}

function eventOf({ nodeId, name, cause, until }: Left, moved: readonly Moved[]): EventDraft {
  const named = moved.slice(0, MOST_NAMED).map(({ replica, to }) => `replica ${replica} ${fateOf(to)}`)
  const more = moved.length > MOST_NAMED ? [`${moved.length - MOST_NAMED} more elsewhere`] : []
  const why = cause === '' ? '' : ` (${cause})`
  return {
    type: 'deployment.displaced',
    severity: 'warning',
    reason: 'creation_failed',
    message: `Node ${name} could not create a container in three attempts${why}: ${[...named, ...more].join(', ')}.${avoidedText(until)}`,
    data: {
      nodeId,
      nodeName: name,
      cause,
      ...(until === undefined ? {} : { until }),
      replicas: moved.map(({ replica, to }) => ({ replica, to })),
    },
  }
}

/** The time began when the node was first known to fail, which may be long before a replica leaves it. */
const avoidedText = (until: string | undefined): string =>
  until === undefined
    ? ''
    : ` The node gets no further replica of the deployment until ${until}, or until one serves that it has created since.`

const fateOf = (to: string | null): string =>
  to === null ? 'is removed, then created on another node' : `is created on ${to}`
