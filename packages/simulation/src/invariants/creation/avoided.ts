// Invariants: a node that could not create a replica gets no further one of its deployment for ten minutes, and is avoided for
// no longer than that and for no other cause. No replica runs twice because it moved.

import { deploymentUidOf, type NodeId, type Owner } from '@holdfast/contract'
import type { SimulatedMachine } from '../../cluster/snapshot.ts'
import type { Broken, Invariant } from '../invariant.ts'
import type { Moment } from '../moment.ts'
import { deploymentOf, newAssignments, showPlaced } from '../placement/assigned.ts'
import { AVOIDED_FOR_MS, createTried, fieldsOf, MOVED_WITHIN_MS, stuckReplicas, type Tried } from './stuck.ts'

export const creationAvoided: Invariant = {
  name: 'creation-avoided',
  start() {
    const tried = createTried()
    const announced = new Map<string, number>()
    return function* (moment) {
      tried.note(moment.now, stuckReplicas(moment))
      yield* returned(moment, announced)
      yield* avoidedForLong(moment, tried)
      noteAnnounced(moment, announced)
    }
  },
}

function* returned(moment: Moment, announced: ReadonlyMap<string, number>): Generator<Broken> {
  for (const placed of newAssignments(moment)) {
    const stored = deploymentOf(moment, placed)
    const until = announced.get(`${stored?.uid}/${placed.assignment.nodeId}`)
    if (until !== undefined && moment.now < until)
      yield {
        subject: showPlaced(placed),
        message: `is placed on ${placed.assignment.nodeId}, which is avoided for ${until - moment.now} ms more`,
      }
  }
}

/** An event says until when the node gets no further replica, unless it has created one that serves. */
function noteAnnounced({ events, observations }: Moment, announced: Map<string, number>): void {
  for (const { was, is } of observations.changed)
    if (is?.state === 'ready' && is.reason === '' && was?.state !== 'ready')
      announced.delete(`${deploymentUidOf(is.owner)}/${is.nodeId}`)
  for (const { is } of events.changed)
    if (is?.reason === 'creation_failed' && is.type === 'deployment.displaced')
      announced.set(
        `${is.subject.uid}/${fieldsOf(is.data)['nodeId']}`,
        Date.parse(String(fieldsOf(is.data)['until'])),
      )
}

function* avoidedForLong({ placements, nodes, now }: Moment, tried: Tried): Generator<Broken> {
  for (const { tenant, is } of placements.changed)
    for (const { nodeId, until } of is?.avoided ?? []) {
      const name = nodes.is(tenant, nodeId)?.name
      if (is === undefined || name === undefined || Date.parse(until) <= now) continue
      const latest = tried.lastOn(is.owner, name) + AVOIDED_FOR_MS + MOVED_WITHIN_MS
      if (Date.parse(until) > latest)
        yield { subject: is.name, message: `avoids ${name} until ${until}, which was able to create it` }
    }
}

export const oneReplica: Invariant = {
  name: 'one-replica',
  start() {
    let since = new Map<string, number>()
    return function* (moment) {
      const twice = runningTwice(moment)
      since = new Map(twice.map((key) => [key, since.get(key) ?? moment.now]))
      for (const [subject, from] of since)
        if (moment.now - from > MOVED_WITHIN_MS) yield { subject, message: 'has run twice for too long' }
    }
  },
}

/** Replicas that have two containers that run, on machines that the servers reach, after one of their nodes was avoided. */
function runningTwice({ placements, world }: Moment): string[] {
  const onNode = new Map<NodeId, SimulatedMachine>(world.machines.map((each) => [each.nodeId, each]))
  return placements.all.flatMap(({ record: { owner, avoided, assignments } }) => {
    if (avoided === undefined) return []
    const running = assignments.filter(({ id, nodeId }) => runs(onNode.get(nodeId), id))
    const keys = running.map(({ replica, templateHash }) => keyOf(owner, replica, templateHash))
    return [...new Set(keys.filter((key, index) => keys.indexOf(key) !== index))]
  })
}

const keyOf = (owner: Owner, replica: number, templateHash: string): string =>
  `${owner}, replica ${replica} of ${templateHash}`

const runs = (machine: SimulatedMachine | undefined, id: string): boolean =>
  machine?.isHeard === true &&
  machine.connected &&
  machine.containers.some(
    ({ assignmentId, state }) => assignmentId === id && state !== 'exited' && state !== 'starting',
  )
