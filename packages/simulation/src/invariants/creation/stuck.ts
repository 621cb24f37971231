// The replicas that wait on a machine that can create no container, and whether another node would accept them. A second
// implementation of docs/design/nodes-that-fail.md, which reads machines instead of what agents report about them.

import type { AssignmentId, Owner } from '@holdfast/contract'
import type { StoredDeployment } from '@holdfast/server/store/records'
import type { SimulatedMachine } from '../../cluster/snapshot.ts'
import type { Moment } from '../moment.ts'
import { deploymentOf, isMarked, type Placed } from '../placement/assigned.ts'
import { isMet } from '../placement/dependency-met.ts'
import { placesFor } from '../placement/places-for.ts'
import { replicasOf } from '../placement/replicas-of.ts'
import type { Cluster } from '../placement/where-allowed.ts'

/** Three attempts of an agent, and the longest takeover of a server that fails in that time. */
export const MOVED_WITHIN_MS = 45_000
/** How long a node that could not create a container is avoided. */
export const AVOIDED_FOR_MS = 600_000

export interface Stuck extends Placed {
  readonly stored: StoredDeployment
  readonly machine: SimulatedMachine
}

/** The replicas of deployments whose machine tried to create them, still cannot for a cause of its own, and can be reached. */
export function stuckReplicas(moment: Moment): Stuck[] {
  const broken = moment.world.machines.filter(
    ({ notCreated, powered, connected, isHeard }) => notCreated.size > 0 && powered && connected && isHeard,
  )
  if (broken.length === 0) return []
  return moment.placements.all.flatMap(({ tenant, record: placement }) =>
    placement.assignments.flatMap((assignment) => {
      const machine = broken.find(
        ({ nodeId, notCreated }) => nodeId === assignment.nodeId && notCreated.has(assignment.id),
      )
      if (tenant === undefined || machine === undefined || assignment.desired !== 'running') return []
      const placed = { tenant, placement, assignment }
      const stored = deploymentOf(moment, placed)
      const isMade = machine.containers.some(({ assignmentId }) => assignmentId === assignment.id)
      if (stored === undefined || stored.deleting || isMade || isMarked(assignment)) return []
      return assignment.replica > replicasOf(stored) ? [] : [{ ...placed, stored, machine }]
    }),
  )
}

/** The last moment at which a replica of an owner was stuck on a node. */
export interface Tried {
  note(now: number, stuck: readonly Stuck[]): void
  lastOn(owner: Owner, nodeName: string): number
}

export function createTried(): Tried {
  const last = new Map<string, number>()
  return {
    note(now, stuck) {
      for (const { placement, machine } of stuck) last.set(`${placement.owner}/${machine.name}`, now)
    },
    lastOn: (owner, name) => last.get(`${owner}/${name}`) ?? Number.NEGATIVE_INFINITY,
  }
}

/** Whether a node accepts the replica that could not create a container of this deployment within the last ten minutes. */
export function hasOtherNode(moment: Moment, stuck: Stuck, tried: Tried, cluster: Cluster): boolean {
  const { tenant, placement, stored, machine } = stuck
  return placesFor(withoutStuck(moment, stuck), tenant, stored, cluster).some(
    (name) => name !== machine.name && moment.now - tried.lastOn(placement.owner, name) > AVOIDED_FOR_MS,
  )
}

/** The moment without the replica, which leaves its place before it gets another. */
function withoutStuck(moment: Moment, { placement, assignment }: Placed): Moment {
  const all = moment.placements.all.map((kept) =>
    kept.record.owner === placement.owner
      ? {
          ...kept,
          record: { ...kept.record, assignments: withoutOne(kept.record.assignments, assignment.id) },
        }
      : kept,
  )
  return { ...moment, placements: { ...moment.placements, all } }
}

const withoutOne = <T extends { readonly id: AssignmentId }>(all: readonly T[], id: AssignmentId): T[] =>
  all.filter((each) => each.id !== id)

/** Whether the replica stays until something else happens: a dependency is not ready, or its update is paused. */
export function mustStay(moment: Moment, { tenant, placement, stored }: Stuck): boolean {
  const { dependsOn = {} } = stored.spec
  return (
    placement.rollout?.state === 'paused' ||
    Object.entries(dependsOn).some(([name, condition]) => !isMet(moment, tenant, name, condition))
  )
}

/** Remembers since when each of the replicas that are stuck now has been so without interruption. */
export function createDurations(): (now: number, stuck: readonly Stuck[]) => Map<AssignmentId, number> {
  let since = new Map<AssignmentId, number>()
  return (now, stuck) => {
    since = new Map(stuck.map(({ assignment: { id } }) => [id, since.get(id) ?? now]))
    return since
  }
}

/** The fields of an object in the data of an event; of anything else, none. */
export const fieldsOf = (value: unknown): { readonly [name: string]: unknown } =>
  typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {}
