// A consumer of volumes stops on a node that is drained or released only if its volumes can leave the node: those with
// copies can be handed over to one node that accepts the consumer, and those without are created again elsewhere. See
// docs/design/volumes.md#mounts-and-writers

import type { Assignment, NodeId } from '@holdfast/contract'
import type { NodeDisposition } from '../rollout/desired-replicas.ts'
import type { MountedVolume, Placing } from '../scheduling/index.ts'
import { commonNodes } from '../volumes/common-nodes.ts'
import { placeWithout } from './keep-serving.ts'
import type { PlacementSnapshot, VolumeAt } from './snapshot.ts'

export interface DrainedNode {
  readonly nodeId: NodeId
  readonly disposition: NodeDisposition
  /** Why no other node can run the replica, if its volumes cannot leave the node. */
  readonly nowhere: Placing | undefined
}

interface Consumer {
  /** The running assignments of the deployment. */
  readonly running: readonly Assignment[]
  readonly stateful: boolean
  /** True while a dependency is not ready, so that no replica can be created. */
  readonly gated: boolean
}

/** The drained node that holds the primaries of the consumer's volumes; undefined if there is none, or it stays there. */
export function findDrained(
  snapshot: PlacementSnapshot,
  { running, stateful, gated }: Consumer,
): DrainedNode | undefined {
  const { workload, volumeOf, scheduling } = snapshot
  const held = workload.volumes ?? []
  const here = running.find(({ nodeId }) => held.length > 0 && snapshot.dispositionOf(nodeId) === 'leaving')
  if (here === undefined || !held.every(({ primary }) => primary === here.nodeId)) return undefined
  const known = held.map(({ id }) => volumeOf(id))
  const isCopied = known.some((volume) => volume?.class === 'replicated')
  // A reader follows volumes that are handed over, and does not prevent the handover.
  if (!stateful && isCopied) return undefined
  const { nodeId } = here
  if (!gated && canLeave(snapshot, known, here)) return { nodeId, disposition: 'barred', nowhere: undefined }
  return { nodeId, disposition: 'stranded', nowhere: placeWithout(scheduling, workload, [here]) }
}

function canLeave(
  snapshot: PlacementSnapshot,
  volumes: readonly (VolumeAt | undefined)[],
  here: Assignment,
): boolean {
  const known = volumes.filter((volume) => volume !== undefined)
  if (known.length < volumes.length) return false
  const copied = known.filter((volume) => volume.class === 'replicated')
  if (known.some((volume) => volume.class !== 'replicated' && volume.isAnchored())) return false
  if (copied.some(({ phase }) => phase !== 'Ready')) return false
  if (copied.length === 0) return true
  return commonNodes(copied.map(currentOn)).some((target) => accepts(snapshot, target, here))
}

const currentOn = ({ replicas }: VolumeAt): NodeId[] =>
  replicas.filter(({ state }) => state === 'current').map(({ nodeId }) => nodeId)

/** Whether the node would run the consumer if it held the primaries. */
function accepts({ scheduling, workload, volumeOf }: PlacementSnapshot, target: NodeId, here: Assignment) {
  const volumes = (workload.volumes ?? [])
    .filter(({ id }) => volumeOf(id)?.class === 'replicated')
    .map((volume): MountedVolume => ({ ...volume, primary: target, isMoving: false }))
  return placeWithout(scheduling, { ...workload, volumes }, [here]).unplaced === 0
}
