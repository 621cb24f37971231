// Invariant: new replicas are placed only on a node that accepts them: ready, schedulable, outside the control plane,
// with the requested node id and labels, and with an agent that can create the container. Checked against the node's record at the time of the placement.

import { hasSilentEngine, isDiskPressed } from '@holdfast/core'
import type { StoredNode } from '@holdfast/server/store/records'
import type { Invariant } from '../invariant.ts'
import { isOfPlatform, type Moment } from '../moment.ts'
import { deploymentOf, isMarked, newAssignments, type Placed, showPlaced, specOf } from './assigned.ts'
import { constraintsForbid } from './where-allowed.ts'

export const takesWork: Invariant = {
  name: 'takes-work',
  start: () =>
    function* (moment) {
      for (const placed of newAssignments(moment)) {
        const node = moment.nodes.was(placed.tenant, placed.assignment.nodeId)
        const stored = deploymentOf(moment, placed)
        if (node === undefined || stored === undefined) continue
        const spec = specOf(stored, placed.assignment)
        const why = [
          node.status === 'ready' ? undefined : `is ${node.status}`,
          hasSilentEngine(node) ? 'has a silent engine' : undefined,
          isDiskPressed(node) ? 'has a nearly full disk' : undefined,
          node.schedulable && node.draining !== true ? undefined : 'takes no new work',
          isForeign(moment, placed, node) ? 'is the control plane’s' : undefined,
          spec.nodeId === undefined || spec.nodeId === node.id ? undefined : `is not ${spec.nodeId}`,
          constraintsForbid(spec, node),
          lacks(placed, node, 'healthCheck', 'health_check')
            ? 'has an agent without health checks'
            : undefined,
          lacks(placed, node, 'mounts', 'mounts') ? 'has an agent without mounts' : undefined,
          lacks(placed, node, 'networks', 'networks') ? 'has an agent without networks' : undefined,
        ].find((each) => each !== undefined)
        if (why !== undefined)
          yield { subject: showPlaced(placed), message: `is placed on ${node.name}, which ${why}` }
      }
    },
}

/** True if the replica is new on the node. Recreating a replica that is already there is no new placement. */
function isForeign(moment: Moment, { tenant, placement, assignment }: Placed, node: StoredNode): boolean {
  if (!node.controlPlane || isOfPlatform(moment, tenant)) return false
  const before = moment.placements.was(tenant, placement.owner)?.assignments ?? []
  return !before.some(
    (each) =>
      each.replica === assignment.replica &&
      each.nodeId === node.id &&
      isMarked(each) === isMarked(assignment),
  )
}

/** Whether the template has a part that the node's agent lacks. An agent that states nothing has health checks only. */
function lacks(
  { placement, assignment }: Placed,
  { agent }: StoredNode,
  part: 'healthCheck' | 'mounts' | 'networks',
  capability: string,
): boolean {
  if (placement.templates[assignment.templateHash]?.[part] === undefined) return false
  return !(agent?.capabilities ?? ['health_check']).includes(capability)
}
