// Which nodes without heartbeats may be declared failed now. When many nodes of several tenants stop sending heartbeats at
// once, the network or the control plane is the likely cause, so no node is declared failed for a while.
// See docs/design/liveness.md#mass-failures

import type { NodeId, TenantId } from '@holdfast/contract'

/** A node that has sent a heartbeat before and is not declared failed yet. Other nodes are left out. */
export interface CellNode {
  readonly id: NodeId
  readonly tenant: TenantId
  /** May be declared failed like the others, but does not count towards a mass failure. */
  readonly controlPlane: boolean
  /** When its heartbeats stopped, on the clock of the caller. Undefined while they arrive. */
  readonly silentSince: number | undefined
}

export interface MassTimes {
  /** A node is failed after so long without a heartbeat. */
  readonly failedMs: number
  /** Nodes that fall silent within this time belong to one mass failure. */
  readonly massWindowMs: number
  /** The most that a mass failure adds to `failedMs`. */
  readonly massHoldMs: number
}

export interface MassFailureFacts {
  /** Every such node of the cell, of all tenants. */
  readonly nodes: Iterable<CellNode>
  readonly now: number
  /** When the control plane last came back from an outage of its own. Silence before that is ignored. */
  readonly countedFrom: number
  /** From the last verdict: when a mass failure was last detected. */
  readonly massSeenAt: number | undefined
}

export interface MassFailureVerdict {
  readonly massSeenAt: number | undefined
  /** Whether a mass failure delays the verdict on each node. */
  readonly holding: boolean
  readonly mayFail: ReadonlySet<NodeId>
}

const LEAST_NODES = 3
const LEAST_TENANTS = 2
/** More than 30 percent. */
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
  // A node whose hold has ended no longer counts towards a mass failure.
  const members = silent.filter((each) => !each.node.controlPlane && now < dueAt(each) + times.massHoldMs)
  const seenAt = isMass(members, counted, tenants.size, times.massWindowMs) ? now : massSeenAt
  // Nodes return one after another, so the hold lasts for some time after the mass failure.
  const holding = seenAt !== undefined && now - seenAt < times.failedMs
  const isDue = (each: Silent) => now >= dueAt(each) + (holding ? times.massHoldMs : 0)
  return { massSeenAt: seenAt, holding, mayFail: new Set(silent.filter(isDue).map(({ node }) => node.id)) }
}

/** Whether enough nodes fell silent within some period of the window's length. */
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
