// Volumes whose data depends on a credential. A copy from before the cutover may know the old version only, so the old
// version is destroyed only after every copy that can be promoted has a checkpoint from after the cutover.
// See docs/design/secrets.md#anchored-volumes

import {
  CHECKPOINTS,
  capabilitiesOf,
  type Measurement,
  type NodeId,
  type NodeStatus,
  type StatedAgent,
  type VolumeId,
} from '@holdfast/contract'
import { compareCheckpoints } from '../node/copies/checkpoint-order.ts'

interface NamedNode {
  readonly nodeId: NodeId
  readonly name: string
}

export interface AnchoredVolume {
  readonly id: VolumeId
  readonly name: string
  readonly primary: AnchoredPrimary | null
  /** The nodes of the copies that can be promoted. */
  readonly promotable: readonly NamedNode[]
}

interface AnchoredPrimary extends NamedNode {
  readonly epoch: number
  /** Undefined if the node was removed. */
  readonly status: NodeStatus | undefined
  readonly agent: StatedAgent | undefined
}

/** A checkpoint that was taken after every consumer had the new version, and the nodes that have it. */
export interface RotationCheckpoint {
  readonly volume: VolumeId
  readonly epoch: number
  readonly number: number
  readonly acknowledged: readonly NodeId[]
}

type Recorded = readonly RotationCheckpoint[] | undefined

/** The recorded checkpoint of a volume. One of an earlier epoch proves nothing about the copies of the new primary. */
export const checkpointOf = (volume: AnchoredVolume, recorded: Recorded): RotationCheckpoint | undefined =>
  recorded?.find((one) => one.volume === volume.id && one.epoch === volume.primary?.epoch)

/** The copies that can be promoted and may not have the change. */
function staleCopies(volume: AnchoredVolume, recorded: Recorded): readonly NamedNode[] {
  const acknowledged = checkpointOf(volume, recorded)?.acknowledged ?? []
  return volume.promotable.filter(({ nodeId }) => !acknowledged.includes(nodeId))
}

/** Why the copies of a volume block the end of a rotation, as sentences. */
export function volumeBlockers(volume: AnchoredVolume, recorded: Recorded): string[] {
  const { name, primary } = volume
  const stale = staleCopies(volume, recorded)
  if (stale.length === 0) return []
  if (primary === null) return [`volume ${name} has no primary that could take a checkpoint`]
  const taken = checkpointOf(volume, recorded)
  const obstacle = obstacleOf(primary)
  const why = obstacle === undefined ? '' : `; ${obstacle}`
  if (taken === undefined)
    return [`volume ${name} needs a checkpoint of its primary on ${primary.name}${why}`]
  const nodes = stale.map((node) => node.name).join(', ')
  return [`volume ${name} needs checkpoint ${taken.number} of ${primary.name} on ${nodes}${why}`]
}

/** Why the agent of a primary cannot be asked; undefined if it can. */
function obstacleOf({ name, status, agent }: AnchoredPrimary): string | undefined {
  if (status === undefined) return `node ${name} was removed`
  if (status !== 'ready') return `node ${name} is ${status}`
  if (capabilitiesOf(agent).includes(CHECKPOINTS)) return undefined
  return `its agent ${agent?.version ?? ''} takes no checkpoints on request, so update the agent of ${name}`
}

/** The volumes whose primaries must be asked, because a copy may not have the change. */
export const volumesToAsk = (volumes: readonly AnchoredVolume[], recorded: Recorded): AnchoredVolume[] =>
  volumes.filter(
    (volume) =>
      volume.primary !== null &&
      obstacleOf(volume.primary) === undefined &&
      staleCopies(volume, recorded).length > 0,
  )

/**
 * The recorded checkpoint after an answer of the primary; undefined if none is known. The first answer with a checkpoint
 * decides which one the copies need, so that a volume that is written all the time does not move the goal.
 */
export function nextCheckpoint(
  volume: AnchoredVolume,
  recorded: Recorded,
  { checkpoint, replicas = [] }: Pick<Measurement, 'checkpoint' | 'replicas'>,
): RotationCheckpoint | undefined {
  const before = checkpointOf(volume, recorded)
  const needed = before ?? (checkpoint?.epoch === volume.primary?.epoch ? checkpoint : undefined)
  if (needed === undefined) return undefined
  const holders = replicas.filter((replica) => isAtLeast(replica.checkpoint, needed))
  const nodes = new Set([...(before?.acknowledged ?? []), ...holders.map(({ nodeId }) => nodeId)])
  const acknowledged = volume.promotable.map(({ nodeId }) => nodeId).filter((nodeId) => nodes.has(nodeId))
  return { volume: volume.id, epoch: needed.epoch, number: needed.number, acknowledged }
}

type Checkpoint = NonNullable<Measurement['checkpoint']>

const isAtLeast = (held: Checkpoint | undefined, needed: Checkpoint): boolean =>
  held !== undefined && compareCheckpoints(held, needed) >= 0
