// Decides which nodes without heartbeats may be declared failed now. When many nodes of several tenants stop sending
// heartbeats at the same time, the network or the control plane is the likely cause, so no node is declared failed for a
// while. See docs/design/liveness.md#mass-failures

import type { NodeId, TenantId } from '@holdfast/contract'

/** A node that has sent at least one heartbeat and is not declared failed yet. Other nodes are not evaluated. */
export interface CellNode {
  readonly id: NodeId
  readonly tenant: TenantId
  /** A control-plane node may be declared failed like any other node, but does not count towards a mass failure. */
  readonly controlPlane: boolean
  /** Time when the node's heartbeats stopped, on the caller's clock. Undefined while heartbeats arrive. */
  readonly silentSince: number | undefined
}

export interface MassTimes {
  /** Milliseconds without a heartbeat after which a node may be declared failed. */
  readonly failedMs: number
  /** Nodes whose heartbeats stop within this many milliseconds of each other belong to one mass failure. */
  readonly massWindowMs: number
  /** The longest extra time, on top of `failedMs`, by which a mass failure delays declaring a node failed. */
  readonly massHoldMs: number
}

export interface MassFailureFacts {
  /** All nodes of all tenants that have sent a heartbeat and are not declared failed. */
  readonly nodes: Iterable<CellNode>
  readonly now: number
  /**
   * Time when the control plane last recovered from an outage of its own. Missing heartbeats before this time are
   * ignored.
   */
  readonly countedFrom: number
  /** Time when a mass failure was last detected, from the previous evaluation. */
  readonly massSeenAt: number | undefined
}

export interface MassFailureVerdict {
  readonly massSeenAt: number | undefined
  /** True while a mass failure delays declaring nodes failed. */
  readonly holding: boolean
  readonly mayFail: ReadonlySet<NodeId>
}

const LEAST_NODES = 3
const LEAST_TENANTS = 2
/** Whether `silent` nodes are more than 30 percent of all nodes. */
const isLargeShare = (silent: number, all: number): boolean => silent * 10 > all * 3

interface Silent {
  readonly node: CellNode
  readonly since: number
}

export function detectMassFailure(
  { nodes, now, countedFrom, massSeenAt }: MassFailureFacts,
  times: MassTimes,
): MassFailureVerdict {
  const silent: Silent[] = []
  const tenants = new Set<TenantId>()
  let counted = 0
  for (const node of nodes) {
    if (!node.controlPlane) tenants.add(node.tenant)
    counted += node.controlPlane ? 0 : 1
    if (node.silentSince !== undefined) silent.push({ node, since: node.silentSince })
  }
  const dueAt = ({ since }: Silent) => Math.max(since, countedFrom) + times.failedMs
  // A node whose delay by a mass failure has ended no longer counts as part of a mass failure.
  const members = silent.filter((each) => !each.node.controlPlane && now < dueAt(each) + times.massHoldMs)
  const seenAt = isMass(members, counted, tenants.size, times.massWindowMs) ? now : massSeenAt
  // After a mass failure nodes return one after another, so the delay lasts until `failedMs` after the last detection.
  const holding = seenAt !== undefined && now - seenAt < times.failedMs
  const isDue = (each: Silent) => now >= dueAt(each) + (holding ? times.massHoldMs : 0)
  return { massSeenAt: seenAt, holding, mayFail: new Set(silent.filter(isDue).map(({ node }) => node.id)) }
}

/** Whether the heartbeats of enough nodes stopped within one mass-failure window. */
function isMass(members: readonly Silent[], counted: number, tenants: number, windowMs: number): boolean {
  const inOrder = members.toSorted((left, right) => left.since - right.since)
  const within = new Map<TenantId, number>()
  let first = 0
  return inOrder.some(({ node: { tenant }, since }, last) => {
    within.set(tenant, (within.get(tenant) ?? 0) + 1)
    for (; since - (inOrder[first]?.since ?? since) > windowMs; first += 1) leave(within, inOrder[first])
    const many = last - first + 1
    const ofEnough = within.size >= Math.min(LEAST_TENANTS, tenants)
    return many >= LEAST_NODES && ofEnough && isLargeShare(many, counted)
  })
}

function leave(within: Map<TenantId, number>, gone: Silent | undefined): void {
  if (gone === undefined) return
  const left = (within.get(gone.node.tenant) ?? 0) - 1
  if (left > 0) within.set(gone.node.tenant, left)
  else within.delete(gone.node.tenant)
}
