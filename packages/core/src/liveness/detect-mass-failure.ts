// Which silent nodes may be called failed now? When many machines of several tenants fall silent at once it is more likely
// the network, or we ourselves, than all of them: then nobody is given up for a while. DECISIONS 5 (Node), SAFETY 4h.

import type { NodeId, TenantId } from '@holdfast/contract'

/** A node that has been heard once and is not given up yet: others are neither counted nor judged. */
export interface CellNode {
  readonly id: NodeId
  readonly tenant: TenantId
  /** Judged like the others, and never counted. */
  readonly controlPlane: boolean
  /** On the clock of whoever judges; undefined: there, as far as that one knows. In doubt a node is silent. */
  readonly silentSince: number | undefined
}

export interface MassTimes {
  /** Silence after which a node is failed. */
  readonly failedMs: number
  /** How close together nodes must fall silent to count as one event. */
  readonly massWindowMs: number
  /** How much longer than `failedMs` a node waits at the most. */
  readonly massHoldMs: number
}

export interface MassFailureFacts {
  /** Every such node of the cell. */
  readonly nodes: Iterable<CellNode>
  readonly now: number
  /** When the clocks last began anew, because the control plane itself had been away: older silence does not count. */
  readonly countedFrom: number
  /** From the last verdict: when so many were last seen to be silent at once. */
  readonly massSeenAt: number | undefined
}

export interface MassFailureVerdict {
  readonly massSeenAt: number | undefined
  /** Nobody is given up before its own hold is over. */
  readonly holding: boolean
  readonly mayFail: ReadonlySet<NodeId>
}

const LEAST_NODES = 3
const LEAST_TENANTS = 2
/** Over three in ten. */
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
  // One whose hold is over holds nobody else back either.
  const members = silent.filter((each) => !each.node.controlPlane && now < dueAt(each) + times.massHoldMs)
  const seenAt = isMass(members, counted, tenants.size, times.massWindowMs) ? now : massSeenAt
  // While they come back one after another the rest is given the time to do so, too.
  const holding = seenAt !== undefined && now - seenAt < times.failedMs
  const isDue = (each: Silent) => now >= dueAt(each) + (holding ? times.massHoldMs : 0)
  return { massSeenAt: seenAt, holding, mayFail: new Set(silent.filter(isDue).map(({ node }) => node.id)) }
}

/** Whether some stretch of the window's length holds enough of them. */
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
