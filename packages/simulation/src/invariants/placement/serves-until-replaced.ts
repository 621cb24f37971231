// Invariant: with start-first, a serving replica is removed only when another replica with the same number serves. A full
// quota, a drain or a changed label removes no replica without a replacement. Replicas of a canary and those of the deployment
// do not replace each other. Not checked for stop-first, self anti-affinity, scaling down, deletion and a canary that is over.

import { type Assignment, deploymentUidOf, type TenantId } from '@holdfast/contract'
import type { StoredDeployment, StoredObservation, StoredPlacement } from '@holdfast/server/store/records'
import type { Invariant } from '../invariant.ts'
import type { Moment } from '../moment.ts'
import { isFailed } from '../nodes/is-failed.ts'
import { createRecentLimits } from '../records/recent-limit.ts'
import { volumesForbid, writes } from '../volumes/consumers.ts'
import {
  activeCanary,
  deploymentOf,
  isMarked,
  keptAssignments,
  type Placed,
  showPlaced,
  specOf,
} from './assigned.ts'
import { replicasOf } from './replicas-of.ts'
import { type Cluster, constraintsForbid, residencyForbids } from './where-allowed.ts'

export const servesUntilReplaced: Invariant = {
  name: 'serves-until-replaced',
  start({ cluster }) {
    const limits = createRecentLimits('containers')
    return function* (moment) {
      limits.note(moment)
      for (const moved of keptAssignments(moment)) {
        const { tenant, placement, assignment, was } = moved
        const stored = deploymentOf(moment, moved)
        if (was.desired !== 'running' || assignment.desired === 'running' || stored === undefined) continue
        if (isMarked(assignment) && activeCanary(stored) === undefined) continue
        // If the quota leaves no room for a successor, the old replica may stop first; an event announces this.
        const isFull = containersOf(moment, tenant) >= limits.lowest(tenant, moment.now)
        if (mayStopFirst(stored, moved) || isFull || isAnnouncedFull(moment, placement)) continue
        if (!serves(moment, tenant, was) || mayNotStay(moment, tenant, stored, was, cluster)) continue
        const others = placement.assignments.filter(
          (each) =>
            each.replica === was.replica && each.id !== was.id && isMarked(each) === isMarked(assignment),
        )
        if (!others.some((each) => each.desired === 'running' && isServing(moment, tenant, each)))
          yield {
            subject: showPlaced(moved),
            message: `served, and is ${assignment.desired} with no other that serves`,
          }
      }
    }
  },
}

/** True if the rollout or an event reports a full quota, because reserved containers are not yet in any record. */
const isAnnouncedFull = ({ events }: Moment, { owner, rollout }: StoredPlacement): boolean =>
  rollout?.quotaReached === true ||
  events.changed.some(({ is }) => is?.type === 'quota.reached' && is.subject.uid === deploymentUidOf(owner))

/** Number of the tenant's containers before or after this moment, whichever is higher; just removed ones count. */
const containersOf = ({ placements }: Moment, tenant: TenantId): number =>
  placements.all
    .filter((each) => each.tenant === tenant)
    .reduce((sum, { id, record }) => {
      const before = placements.was(tenant, id)?.assignments.length ?? 0
      return sum + Math.max(before, record.assignments.length)
    }, 0)

function mayStopFirst(
  stored: StoredDeployment,
  { placement, assignment }: Pick<Placed, 'placement' | 'assignment'>,
): boolean {
  const { spec, deleting } = stored
  // Also the update that drops the mount stops the writer first, because a rollback would return to it.
  const mounts = Object.values(placement.templates).map((template) => ({ volumes: template.mounts ?? [] }))
  const alone = spec.placement?.antiAffinity?.includes(spec.name) === true
  const replicas = isMarked(assignment) ? activeCanary(stored)?.replicas : replicasOf(stored)
  const isSurplus = assignment.replica > (replicas ?? 0)
  return deleting || isSurplus || writes(spec, ...mounts) || alone || spec.update.order === 'stop-first'
}

/** True if the newest report says that the replica is ready, including a report stored at this same moment. */
function isServing({ observations }: Moment, tenant: TenantId, { id }: Assignment): boolean {
  const seen = observations.is(tenant, id)
  return seen !== undefined && isReady(seen)
}

/** Time until every controller has certainly seen a report: longer than the cache lag of any server replica. */
const HEARD_AFTER_MS = 10_000

/** True if the replica was ready in the last report, that report is old enough to be seen, and the node is not failed. */
function serves({ observations, nodes, now }: Moment, tenant: TenantId, { id, nodeId }: Assignment): boolean {
  const seen = observations.was(tenant, id)
  const node = nodes.was(tenant, nodeId)
  const isKnown = seen !== undefined && now - Date.parse(seen.at) >= HEARD_AFTER_MS
  return isKnown && isReady(seen) && node !== undefined && !isFailed(node)
}

const isReady = ({ state, reason }: StoredObservation): boolean => state === 'ready' && reason === ''

/** True if residency or a constraint forbids the node: the replica must then leave, even without a successor. */
function mayNotStay(
  moment: Moment,
  tenant: TenantId,
  stored: StoredDeployment,
  assignment: Assignment,
  cluster: Cluster,
): boolean {
  const { nodeId } = assignment
  const spec = specOf(stored, assignment)
  const node = moment.nodes.is(tenant, nodeId)
  const volumeOf = (id: string) => moment.volumes.is(tenant, id)
  const mounts = spec.volumes?.map(({ volume }) => volumeOf(volume)) ?? []
  // A reader of a volume that is created again elsewhere ends with the copy that it reads.
  const isEphemeral = mounts.some((volume) => volume?.spec.class === 'ephemeral')
  if (isEphemeral && node?.schedulable === false) return true
  return (
    node !== undefined &&
    (volumesForbid(spec, nodeId, volumeOf) ??
      residencyForbids(spec, node, cluster) ??
      constraintsForbid(spec, node)) !== undefined
  )
}
