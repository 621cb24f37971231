// Invariant: the resource request of a replica fits into the free capacity of one node. Requests are no reservations: a
// controller may not know yet that another deployment on the node has just raised its request.

import { type Assignment, type Capacity, type Owner, ownerOf, type TenantId } from '@holdfast/contract'
import type { Invariant } from '../invariant.ts'
import type { Moment } from '../moment.ts'
import { isMarked, newAssignments, showPlaced, specOf } from './assigned.ts'

const ON_ITS_WAY_MS = 15_000
const KINDS = ['cpuMillis', 'memoryBytes'] as const

export const fitsNode: Invariant = {
  name: 'fits-node',
  start() {
    const requests = createRequests()
    return function* (moment) {
      requests.note(moment)
      for (const placed of newAssignments(moment)) {
        const { tenant, placement, assignment } = placed
        const capacity = moment.nodes.was(tenant, assignment.nodeId)?.capacity
        if (capacity === undefined) continue
        for (const kind of KINDS) {
          const asked = requests.least(placement.owner, assignment, moment.now)[kind]
          const used = usedOn(
            moment,
            tenant,
            assignment.nodeId,
            (owner, each) => requests.least(owner, each, moment.now)[kind],
          )
          if (asked > 0 && used > capacity[kind])
            yield {
              subject: showPlaced(placed),
              message: `makes ${used} of ${capacity[kind]} ${kind} on ${assignment.nodeId}`,
            }
        }
      }
    }
  },
}

function usedOn(
  { placements }: Moment,
  tenant: TenantId,
  nodeId: string,
  requestOf: (owner: Owner, each: Assignment) => number,
): number {
  return placements.all
    .filter((kept) => kept.tenant === tenant)
    .reduce((sum, { record }) => {
      const here = record.assignments.filter((each) => each.nodeId === nodeId)
      return here.reduce((more, each) => more + requestOf(record.owner, each), sum)
    }, 0)
}

interface Request {
  readonly resources: Capacity
  until: number | undefined
}

const keyOf = (owner: Owner, replica: Pick<Assignment, 'canary'>): string =>
  isMarked(replica) ? `${owner}/canary` : owner

/** Tracks the lowest recent resource request of each deployment and of its canary, because a controller may still see an older request. */
function createRequests() {
  const known = new Map<string, Request[]>()
  const add = (key: string, resources: Capacity, now: number): void => {
    const before = known.get(key) ?? []
    const last = before.at(-1)
    if (last !== undefined) last.until = now + ON_ITS_WAY_MS
    known.set(key, [...before, { resources, until: undefined }])
  }
  return {
    note({ deployments, jobs, now }: Moment): void {
      for (const { is } of jobs.changed)
        if (is !== undefined)
          known.set(keyOf(ownerOf('job', is.id), {}), [{ resources: is.spec.resources, until: undefined }])
      for (const { is } of deployments.changed) {
        if (is === undefined) continue
        const owner = ownerOf('deployment', is.uid)
        for (const replica of [{}, { canary: true }])
          add(keyOf(owner, replica), specOf(is, replica).resources, now)
      }
    },
    least(owner: Owner, replica: Pick<Assignment, 'canary'>, now: number): Capacity {
      const valid = (known.get(keyOf(owner, replica)) ?? []).filter(
        ({ until }) => until === undefined || until > now,
      )
      const leastOf = (kind: keyof Capacity) =>
        valid.length === 0 ? 0 : Math.min(...valid.map(({ resources }) => resources[kind]))
      return { cpuMillis: leastOf('cpuMillis'), memoryBytes: leastOf('memoryBytes') }
    },
  }
}
