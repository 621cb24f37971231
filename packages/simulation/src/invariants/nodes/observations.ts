// Invariant: a container report is accepted only for the node's own assignments, from its current session, and never
// backward. A removed container stays removed, and a replica is stored as ready only if a machine runs its container.

import { type AssignmentId, asDeploymentUid, ownerOf } from '@holdfast/contract'
import type { StoredObservation } from '@holdfast/server/store/records'
import type { Broken, Invariant } from '../invariant.ts'
import type { Changed, Moment } from '../moment.ts'
import { ownAssignments } from '../placement/assigned.ts'
import { replicasOf } from '../placement/replicas-of.ts'

export const observations: Invariant = {
  name: 'observations',
  start() {
    const epochs = new Map<string, number>()
    return function* (moment) {
      for (const change of moment.observations.changed) {
        const { tenant, id, is } = change
        const epoch = is && moment.nodes.is(tenant, is.nodeId)?.session.epoch
        yield* notForward(change, epochs.get(id) === epoch)
        yield* notItsOwn(moment, change)
        if (epoch !== undefined) epochs.set(id, epoch)
      }
    }
  },
}

function* notForward({ id, was, is }: Changed<StoredObservation>, sameSession: boolean): Generator<Broken> {
  if (was === undefined || is === undefined) return
  if (is.generation < was.generation || (was.gone && !is.gone))
    yield { subject: id, message: `is ${showState(is)} after ${showState(was)}` }
  else if (sameSession && is.generation === was.generation && is.seq <= was.seq)
    yield { subject: id, message: `report ${is.seq} was stored after ${was.seq} of the same session` }
}

const showState = ({ state, generation, gone }: StoredObservation): string =>
  `${state} of generation ${generation}${gone ? ', gone' : ''}`

/** Finds reports from a node to which the assignment does not belong, now or before a deletion at the same moment. */
function* notItsOwn(moment: Moment, { tenant, id, is }: Changed<StoredObservation>): Generator<Broken> {
  if (is === undefined) return
  const placements = [moment.placements.is(tenant, is.owner), moment.placements.was(tenant, is.owner)]
  const own = placements.flatMap((each) => each?.assignments.filter((one) => one.id === id) ?? [])
  if (!own.some(({ nodeId }) => nodeId === is.nodeId))
    yield { subject: id, message: `was reported by ${is.nodeId}, which it is not assigned to` }
  if (is.gone && !own.some(({ desired }) => desired === 'removed'))
    yield { subject: id, message: 'is called gone, and was not to be removed' }
}

/** Longest time from a container's ready state to the storage of the agent's report about it. */
const ON_ITS_WAY_MS = 60_000

export const readyIsTrue: Invariant = {
  name: 'ready-is-true',
  start() {
    const readyAt = new Map<AssignmentId, number>()
    return function* (moment) {
      for (const { containers } of moment.machinesChanged ? moment.world.machines : [])
        for (const { assignmentId, state } of containers)
          if (state === 'ready') readyAt.set(assignmentId, moment.now)
      for (const { is, was } of moment.observations.changed) {
        if (is?.state !== 'ready' || is.reason !== '' || was?.state === 'ready') continue
        const since = moment.now - (readyAt.get(is.assignmentId) ?? Number.NEGATIVE_INFINITY)
        if (since > ON_ITS_WAY_MS && !runsReady(moment, is.assignmentId))
          yield { subject: is.assignmentId, message: 'is stored as ready, and no machine runs it so' }
      }
      yield* claimedRunning(moment)
    }
  },
}

const runsReady = ({ world }: Moment, id: AssignmentId): boolean =>
  world.machines.some(({ containers }) =>
    containers.some(({ assignmentId, state }) => assignmentId === id && state === 'ready'),
  )

/** Finds `deployment.running` events for deployments without a ready report for each desired replica. */
function* claimedRunning(moment: Moment): Generator<Broken> {
  for (const { tenant, was, is } of moment.events.changed) {
    if (was !== undefined || is?.type !== 'deployment.running') continue
    const owner = ownerOf('deployment', asDeploymentUid(is.subject.uid))
    const placement = moment.placements.is(tenant, owner)
    const stored = moment.deployments.is(tenant, is.subject.name)
    if (placement === undefined || stored?.uid !== is.subject.uid || stored.revision !== placement.revision)
      continue
    const ready = ownAssignments(placement).filter(
      ({ id, desired }) => desired === 'running' && moment.observations.is(tenant, id)?.state === 'ready',
    )
    const numbers = new Set(ready.map(({ replica }) => replica)).size
    const replicas = replicasOf(stored)
    if (numbers < replicas)
      yield {
        subject: is.subject.name,
        message: `is showState to run with ${numbers} of ${replicas} ready`,
      }
  }
}
