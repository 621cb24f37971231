// End-state invariant: when all faults are over, the cluster is as desired. Every container has an assignment and every
// assignment a container, observations are true, nothing waits for removal, and every unplaced replica fits on no node.

import { type AssignmentId, ownerOf, type TenantId } from '@holdfast/contract'
import type { StoredDeployment, StoredPlacement } from '@holdfast/server/store/records'
import type { SimulatedContainer } from '../../cluster/snapshot.ts'
import type { Script } from '../../script/script.ts'
import type { Broken, Invariant } from '../invariant.ts'
import type { Moment } from '../moment.ts'
import { ownAssignments } from './assigned.ts'
import { isMet } from './dependency-met.ts'
import { placesFor } from './places-for.ts'
import { replicasOf } from './replicas-of.ts'

export const settled: Invariant = {
  name: 'settled',
  atEnd: true,
  start: (script) =>
    function* (moment) {
      yield* strayContainers(moment)
      yield* silentNodes(moment)
      for (const { tenant, record } of moment.placements.all)
        if (tenant !== undefined) yield* unsettledPlacement(moment, tenant, record)
      for (const { tenant, record } of moment.deployments.all)
        if (tenant !== undefined) yield* unsettledDeployment(moment, tenant, record, script)
    },
}

function containersById({ world }: Moment): Map<AssignmentId, SimulatedContainer> {
  return new Map(
    world.machines.flatMap(({ containers }) => containers).map((each) => [each.assignmentId, each]),
  )
}

function* strayContainers(moment: Moment): Generator<Broken> {
  const desiredIds = new Set(
    moment.placements.all.flatMap(({ record }) => record.assignments).map(({ id }) => id),
  )
  // No server manages a machine that was removed by force.
  for (const { name, containers, tenant, nodeId } of moment.world.machines)
    for (const { assignmentId, state } of moment.nodes.is(tenant, nodeId) === undefined ? [] : containers)
      if (!desiredIds.has(assignmentId))
        yield { subject: name, message: `still has ${assignmentId}, ${state}, which no deployment desires` }
}

function* silentNodes({ nodes }: Moment): Generator<Broken> {
  for (const { record } of nodes.all)
    if (record.status !== 'ready')
      yield { subject: record.name, message: `is ${record.status}, and its machine is there` }
}

function* unsettledPlacement(
  moment: Moment,
  tenant: TenantId,
  { name, assignments }: StoredPlacement,
): Generator<Broken> {
  const containers = containersById(moment)
  for (const { id, desired } of assignments) {
    const state = containers.get(id)?.state
    const seen = moment.observations.is(tenant, id)
    if (desired !== 'running') yield { subject: name, message: `${id} is to be ${desired} and is not gone` }
    else if (state === undefined) yield { subject: name, message: `${id} has no container` }
    if (state !== undefined && (state === 'ready') !== (seen?.state === 'ready' && seen.reason === ''))
      yield { subject: name, message: `${id} is ${state}, and is stored as ${seen?.state} ${seen?.reason}` }
  }
}

function* unsettledDeployment(
  moment: Moment,
  tenant: TenantId,
  stored: StoredDeployment,
  script: Script,
): Generator<Broken> {
  const { name } = stored.spec
  const replicas = replicasOf(stored)
  const placement = moment.placements.is(tenant, ownerOf('deployment', stored.uid))
  const assignments = ownAssignments(placement)
  const numbers = new Set(assignments.map(({ replica }) => replica)).size
  if (stored.deleting) {
    if ((placement?.assignments ?? []).length === 0)
      yield { subject: name, message: 'is deleted, has nothing left and is not gone' }
    return
  }
  if (placement !== undefined && placement.revision !== stored.revision)
    yield { subject: name, message: `is placed for revision ${placement.revision} of ${stored.revision}` }
  // A deployment whose containers fail is skipped: it may be rolled back or paused, which other tests check.
  if (isIll(script, name) || placement?.rollout?.failure !== undefined) return
  // Two replicas may share a number only while no node fits a successor, because the old replica is then kept.
  if (assignments.length > numbers && placement?.shortfall === undefined)
    yield { subject: name, message: `has ${assignments.length} replicas of ${numbers} numbers` }
  if (numbers > replicas) yield { subject: name, message: `has ${numbers} replicas of ${replicas}` }
  if (numbers < replicas) yield* unplaced(moment, tenant, stored, placement, script)
}

const isIll = ({ steps }: Script, name: string): boolean =>
  steps.some((step) => step.do === 'behave' && step.deployment === name)

function* unplaced(
  moment: Moment,
  tenant: TenantId,
  stored: StoredDeployment,
  placement: StoredPlacement | undefined,
  script: Script,
): Generator<Broken> {
  const { name } = stored.spec
  const open = mustWait(moment, tenant, stored, script)
    ? []
    : placesFor(moment, tenant, stored, script.cluster)
  if (open.length > 0)
    yield { subject: name, message: `has an unplaced replica, and ${open.join(', ')} would accept it` }
  if (placement?.shortfall === undefined)
    yield { subject: name, message: 'has an unplaced replica without a reason' }
}

/** True if the deployment may wait for a dependency: it is not ready, or its containers fail in the script. */
function mustWait(moment: Moment, tenant: TenantId, { spec }: StoredDeployment, script: Script): boolean {
  return Object.entries(spec.dependsOn ?? {}).some(
    ([name, condition]) => isIll(script, name) || !isMet(moment, tenant, name, condition),
  )
}
