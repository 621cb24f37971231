// Which nodes keep data of a volume that its lineage does not have, as their last reports state. A node that could not be
// observed is listed apart, because it may keep data too. See docs/design/endings.md#quarantine

import type {
  Divergence,
  DivergenceObstacle,
  NodeId,
  OfferedCopy,
  QuarantinedCopy,
  Unobserved,
  VolumeId,
} from '@holdfast/contract'
import { QUARANTINE_MS } from '../node/copies/offers.ts'

/** The volume, as far as its divergences need it. */
export interface DivergedVolume {
  readonly id: VolumeId
  readonly epoch: number
  /** The nodes that hold copies now, and those whose data a promotion left behind. */
  readonly suspects: readonly NodeId[]
}

export interface KeepingNode {
  readonly id: NodeId
  readonly name: string
  /** Whether the server hears the node. */
  readonly isHeard: boolean
  /** Whether its agent can send and delete quarantined data. */
  readonly canSend: boolean
  /** The last report about its pool; undefined if there is none. Members are absent if the pool could not be read. */
  readonly pool:
    | {
        readonly copies?: readonly Pick<OfferedCopy, 'volume' | 'epoch' | 'role'>[] | undefined
        readonly quarantined?: readonly QuarantinedCopy[] | undefined
      }
    | undefined
}

export interface FoundDivergences {
  /** Sorted by epoch, the newest first, then by the name of the node. */
  readonly items: Divergence[]
  readonly unobserved: Unobserved[]
}

export function listDivergences(volume: DivergedVolume, nodes: readonly KeepingNode[]): FoundDivergences {
  const known = new Set(nodes.map(({ id }) => id))
  const removed = [...new Set(volume.suspects)].filter((id) => !known.has(id))
  const items = nodes.flatMap((node) => keptBy(volume, node))
  return {
    items: items.toSorted((a, b) => b.epoch - a.epoch || (a.nodeName < b.nodeName ? -1 : 1)),
    unobserved: [
      ...nodes.flatMap((node) => {
        const reason = unobservedReason(volume, node)
        return reason === undefined ? [] : [unobserved(node, reason)]
      }),
      ...removed.map((id) => unobserved({ id, name: id }, 'node_removed')),
    ],
  }
}

/** The data of several states of one epoch on one node is one divergence. */
function keptBy({ id }: DivergedVolume, node: KeepingNode): Divergence[] {
  const own = node.pool?.quarantined?.filter((copy) => copy.volume === id) ?? []
  const reason = node.isHeard ? (node.canSend ? undefined : 'agent_outdated') : 'node_unreachable'
  return [...Map.groupBy(own, ({ epoch }) => epoch)].map(([epoch, states]) => {
    const keptSince = states.map(({ since }) => since).toSorted()[0] ?? ''
    return {
      ...{ epoch, nodeId: node.id, nodeName: node.name },
      bytes: sumOf(states.map(({ usedBytes }) => usedBytes)),
      keptSince,
      keptUntil: new Date(Date.parse(keptSince) + QUARANTINE_MS).toISOString(),
      unavailable: reason === undefined ? null : { reason, message: messageOf(node.name, reason) },
      revision: Math.max(...states.map(({ since }) => Date.parse(since))),
    }
  })
}

function sumOf(bytes: readonly (number | undefined)[]): number | null {
  return bytes.reduce<number | null>((sum, one) => (sum === null || one === undefined ? null : sum + one), 0)
}

function unobservedReason(
  { id, epoch, suspects }: DivergedVolume,
  { id: nodeId, isHeard, pool }: KeepingNode,
): DivergenceObstacle | undefined {
  // An earlier primary whose data was neither handed over nor set aside yet.
  const isLeftBehind = pool?.copies?.some(
    (copy) => copy.volume === id && copy.role === 'primary' && copy.epoch < epoch,
  )
  if (isLeftBehind === true) return isHeard ? 'not_set_aside' : 'node_unreachable'
  if (pool?.quarantined !== undefined || !suspects.includes(nodeId)) return undefined
  return isHeard ? 'pool_unreadable' : 'node_unreachable'
}

const unobserved = (
  { id, name }: Pick<KeepingNode, 'id' | 'name'>,
  reason: DivergenceObstacle,
): Unobserved => ({
  nodeId: id,
  nodeName: name,
  reason,
  message: messageOf(name, reason),
})

function messageOf(name: string, reason: DivergenceObstacle): string {
  switch (reason) {
    case 'node_unreachable':
      return `Node ${name} sends no heartbeats, so its data can be neither checked nor read; start it again.`
    case 'node_removed':
      return `Node ${name} was removed; its data is on the machine only, which can be enrolled again.`
    case 'pool_unreadable':
      return `Node ${name} has not reported what its storage pool keeps; check the pool of its agent.`
    case 'not_set_aside':
      return `Node ${name} is back and has not set its former data aside yet; repeat the request in some seconds.`
    case 'agent_outdated':
      return `The agent of node ${name} is too old to send its data; upgrade it.`
  }
}
