// Invariants: a replica that its node cannot create leaves for another node within the documented time if one accepts it, and
// is explained node by node if none does.

import type { Broken, Invariant } from '../invariant.ts'
import type { Moment } from '../moment.ts'
import { showPlaced } from '../placement/assigned.ts'
import {
  createDurations,
  createTried,
  fieldsOf,
  hasOtherNode,
  MOVED_WITHIN_MS,
  mustStay,
  type Stuck,
  stuckReplicas,
} from './stuck.ts'

export const createdElsewhere: Invariant = {
  name: 'created-elsewhere',
  start({ cluster }) {
    const tried = createTried()
    const durations = createDurations()
    return function* (moment) {
      const stuck = stuckReplicas(moment)
      tried.note(moment.now, stuck)
      const movable = stuck.filter(
        (each) => !mustStay(moment, each) && hasOtherNode(moment, each, tried, cluster),
      )
      for (const { each, ms } of overdue(moment, movable, durations))
        yield {
          subject: showPlaced(each),
          message: `has waited for ${ms} ms on ${each.machine.name}, which cannot create it, and another node accepts it`,
        }
    }
  },
}

export const creationExplained: Invariant = {
  name: 'creation-explained',
  start({ cluster }) {
    const tried = createTried()
    const durations = createDurations()
    return function* (moment) {
      const stuck = stuckReplicas(moment)
      tried.note(moment.now, stuck)
      const staying = stuck.filter(
        (each) => !mustStay(moment, each) && !hasOtherNode(moment, each, tried, cluster),
      )
      for (const { each } of overdue(moment, staying, durations)) yield* unexplained(moment, each)
    }
  },
}

function overdue(moment: Moment, stuck: readonly Stuck[], durations: ReturnType<typeof createDurations>) {
  const since = durations(moment.now, stuck)
  return stuck
    .map((each) => ({ each, ms: moment.now - (since.get(each.assignment.id) ?? moment.now) }))
    .filter(({ ms }) => ms > MOVED_WITHIN_MS)
}

function* unexplained(moment: Moment, stuck: Stuck): Generator<Broken> {
  const { tenant, placement, machine, stored } = stuck
  const subject = showPlaced(stuck)
  if (placement.shortfall === undefined)
    yield { subject, message: `stays on ${machine.name} without a reason in its status` }
  const event = moment.events.all.findLast(
    ({ record: { type, subject: of, data } }) =>
      of.uid === stored.uid && REFUSALS.has(type) && fieldsOf(data)['candidates'] !== undefined,
  )
  const named = candidatesOf(fieldsOf(event?.record.data)['candidates'])
  for (const { record: node } of moment.nodes.all.filter((kept) => kept.tenant === tenant)) {
    const filters = named.get(node.id) ?? []
    if (filters.length === 0) yield { subject, message: `stays, and no event explains ${node.name}` }
    if (node.id === machine.nodeId && !filters.includes('creation'))
      yield { subject, message: `stays, and no event says that ${node.name} cannot create it` }
  }
}

const REFUSALS: ReadonlySet<string> = new Set(['deployment.stalled', 'deployment.unschedulable'])

/** The filters that refused, by node. */
function candidatesOf(candidates: unknown): Map<string, string[]> {
  const listed = Array.isArray(candidates) ? candidates.map(fieldsOf) : []
  return new Map(
    listed.map(({ nodeId, refusals }) => [
      String(nodeId),
      (Array.isArray(refusals) ? refusals.map(fieldsOf) : []).map(({ filter }) => String(filter)),
    ]),
  )
}
