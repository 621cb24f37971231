// The faults for which a ready node is degraded: the faults that its agent reports in the current session, and that of its
// storage pool. See docs/design/liveness.md#faults-of-a-node

import { NODE_FAULTS, type NodeFault, type NodeFaultReason, type NodeStatus } from '@holdfast/contract'

/** The members of a node's record that decide whether it is degraded. */
export interface FaultyNode {
  readonly status: NodeStatus
  readonly statusSince: string
  readonly session: { readonly epoch: number }
  /** The fault of the storage pool. */
  readonly degraded?: NodeFault | undefined
  readonly health?: NodeHealth | undefined
}

interface NodeHealth {
  /** The session in which the faults were reported or carried over. */
  readonly epoch: number
  readonly faults: NodeFault[]
}

const NONE: readonly NodeFault[] = []

/** The faults of a node, the most severe first. Empty for a node that is not ready: its status is worse. */
export function faultsOf({ status, session, degraded, health }: FaultyNode): readonly NodeFault[] {
  if (status !== 'ready' || (degraded === undefined && health === undefined)) return NONE
  const reported = health?.epoch === session.epoch ? health.faults : NONE
  return inOrder(degraded === undefined ? reported : [...reported, degraded])
}

const engineFault = (node: FaultyNode): NodeFault | undefined =>
  faultsOf(node).find(({ reason }) => reason === 'engine_silent')

/** Whether the engine of the node does not answer. */
export const hasSilentEngine = (node: FaultyNode): boolean => engineFault(node) !== undefined

/** Whether the disk of the node's engine is nearly full. */
export const isDiskPressed = (node: FaultyNode): boolean =>
  faultsOf(node).some(({ reason }) => reason === 'disk_pressure')

/** Whether the engine was silent for so long that the node counts as failed for its replicas. */
export const hasFailedEngine = (node: FaultyNode): boolean =>
  node.health !== undefined && engineFault(node)?.failed === true

/** Since when the node has its status. */
export const nodeSince = (node: FaultyNode): string =>
  faultsOf(node)
    .map(({ since }) => since)
    .sort()[0] ?? node.statusSince

/**
 * The health of a node in the current session after its agent reported one kind of fault, or its end (undefined). Other
 * faults stay as they are. Returns undefined if no fault is left.
 */
export function nextHealth(
  { session: { epoch }, health }: Pick<FaultyNode, 'session' | 'health'>,
  reason: NodeFaultReason,
  fault: Omit<NodeFault, 'reason'> | undefined,
): NodeHealth | undefined {
  const before = health?.epoch === epoch ? health.faults : NONE
  const known = before.find((each) => each.reason === reason)
  const others = before.filter((each) => each.reason !== reason)
  const faults = fault === undefined ? others : inOrder([...others, { ...known, ...fault, reason }])
  return faults.length === 0 ? undefined : { ...health, epoch, faults: [...faults] }
}

/**
 * The health of a node at the start of a new session: the faults of the session before, until the agent reports about
 * them. Faults that the agent does not report about end with the session before.
 */
export function carriedHealth(
  { session, health }: Pick<FaultyNode, 'session' | 'health'>,
  isReported: (reason: string) => boolean,
): NodeHealth | undefined {
  if (health?.epoch !== session.epoch) return undefined
  const faults = health.faults.filter(({ reason }) => isReported(reason))
  return faults.length === 0 ? undefined : { ...health, epoch: session.epoch + 1, faults }
}

const REASONS: readonly string[] = NODE_FAULTS

/** A reason that only newer servers know comes last. */
const rankOf = ({ reason }: NodeFault): number =>
  REASONS.includes(reason) ? REASONS.indexOf(reason) : REASONS.length

const inOrder = (faults: readonly NodeFault[]): readonly NodeFault[] =>
  faults.toSorted((left, right) => rankOf(left) - rankOf(right))
