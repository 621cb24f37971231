// Finds the nodes that no longer qualify for the replicas on them, because the labels of a node or the demands of the
// deployment changed, and whether another node accepts those replicas. For a node without heartbeats, the last known
// labels are used. See docs/design/residency.md#displaced-replicas

import type { Assignment, NodeId } from '@holdfast/contract'
import { hasValidReports, type NodeDisposition } from '../rollout/desired-replicas.ts'
import { displacedDisposition } from '../rollout/displaced-disposition.ts'
import { desiredReplicas } from '../scaling/desired-replicas.ts'
import { type NodeRefusal, type Placing, stillQualifies, type Workload } from '../scheduling/index.ts'
import { countedChanges } from './counted-changes.ts'
import { findDrained } from './leave-drained.ts'
import type { DeploymentRecord, PlacementSnapshot } from './snapshot.ts'
import { hasWriters } from './writer-claims.ts'

export interface Displacement {
  /** The hash of the deployment's demands on a node, by name or by labels; undefined if the deployment has no demands. */
  readonly demands: string | undefined
  /** Maps each node that no longer qualifies for its replicas to the reason. */
  readonly refusals: ReadonlyMap<NodeId, NodeRefusal>
  /** Maps each node that no longer qualifies to whether its replicas stay, leave or are stopped. */
  readonly dispositions: ReadonlyMap<NodeId, NodeDisposition>
  /** The refusals of all nodes, if no node accepts a displaced replica; otherwise undefined. */
  readonly nowhere: Placing | undefined
}

const NONE_DISPLACED = { refusals: new Map(), dispositions: new Map(), nowhere: undefined }

/**
 * The most displaced replicas that one plan stops or replaces, because the commit compares the node of each displaced
 * replica.
 */
export const DISPLACED_AT_ONCE = 25

interface Question {
  readonly snapshot: PlacementSnapshot
  readonly deployment: DeploymentRecord
  /** The assignments of the deployment whose container may still exist. */
  readonly current: readonly Assignment[]
  /** The assignments that this plan leaves alone; they use capacity as well. */
  readonly beside: readonly Assignment[]
  /** True while a dependency is not ready, so that no replica can be created. */
  readonly gated: boolean
}

export function findDisplaced(
  snapshot: PlacementSnapshot,
  deployment: DeploymentRecord,
  gated: boolean,
  beside: readonly Assignment[] = [],
): Displacement {
  const { workload } = snapshot
  if (deployment.deleting || demandsNothing(workload)) return { ...NONE_DISPLACED, demands: undefined }
  const demands = hashDemands(snapshot)
  const question: Question = { snapshot, deployment, gated, current: currentAssignments(snapshot), beside }
  const refusals = findRefusals(question)
  if (refusals.size === 0) return { ...leaveDrained(question), demands }
  const affected = findWithoutSuccessor(question, refusals)
  const placing = affected && placeElsewhere(question, affected)
  const open = placing === undefined || placing.unplaced === 0
  const dispositions = findDispositions(question, refusals, open)
  return { demands, refusals, dispositions, nowhere: open ? undefined : placing }
}

/** A consumer of volumes that qualifies for its node, but whose node is drained. */
function leaveDrained({ snapshot, deployment, current, gated }: Question): Omit<Displacement, 'demands'> {
  const stateful = hasWriters(snapshot, deployment)
  const drained = findDrained(snapshot, { running: current.filter(isRunning), stateful, gated })
  if (drained === undefined) return NONE_DISPLACED
  const dispositions = new Map([[drained.nodeId, drained.disposition]])
  return { ...NONE_DISPLACED, dispositions, nowhere: drained.nowhere }
}

const demandsNothing = ({ residency, placement, nodeId, volumes }: Workload): boolean =>
  residency === undefined &&
  placement?.constraints === undefined &&
  nodeId === undefined &&
  volumes === undefined

/**
 * Hashes the deployment's demands. The countries of a demanded region are included, because they are configuration and
 * may change as well.
 */
function hashDemands({ workload, sha256 }: PlacementSnapshot): string {
  const { residency, placement, nodeId, volumes } = workload
  const primaries = volumes?.map(({ id, primary }) => [id, primary])
  const parts = [residency ?? null, placement?.constraints ?? null, nodeId ?? null]
  const demands = JSON.stringify(primaries === undefined ? parts : [...parts, primaries])
  return sha256(demands).slice(0, 16)
}

function currentAssignments({ placement, seen, dispositionOf }: PlacementSnapshot): Assignment[] {
  const isOver = ({ id, nodeId }: Assignment) => seen(id)?.gone === true || dispositionOf(nodeId) === 'absent'
  return (placement?.assignments ?? []).filter((each) => !isOver(each))
}

function findDispositions(
  { snapshot, deployment, current, gated }: Question,
  refusals: Displacement['refusals'],
  open: boolean,
): Map<NodeId, NodeDisposition> {
  const dispositions = new Map<NodeId, NodeDisposition>()
  const way = { open, gated, stateful: hasWriters(snapshot, deployment) }
  const inUse = new Set(current.filter(isRunning).map(({ nodeId }) => nodeId))
  let barred = 0
  for (const [id, refusal] of refusals) {
    if (!hasValidReports(snapshot.dispositionOf(id))) continue
    const disposition = displacedDisposition(refusal, way)
    if (disposition === 'barred' && inUse.has(id)) barred += 1
    dispositions.set(id, barred > DISPLACED_AT_ONCE ? 'stranded' : disposition)
  }
  return dispositions
}

export const isRunning = ({ desired }: Pick<Assignment, 'desired'>): boolean => desired === 'running'

function findRefusals({ snapshot, current }: Question): Map<NodeId, NodeRefusal> {
  const refusals = new Map<NodeId, NodeRefusal>()
  for (const nodeId of new Set(current.map((each) => each.nodeId))) {
    const node = snapshot.nodeOf(nodeId)
    const refusal = node && stillQualifies(snapshot.workload, node)
    if (refusal !== undefined) refusals.set(nodeId, refusal)
  }
  return refusals
}

/**
 * The first displaced assignment whose replica number has no replica on a node that qualifies. An assignment that is
 * already being removed needs a successor as well.
 */
function findWithoutSuccessor(
  { snapshot, deployment, current }: Question,
  refusals: ReadonlyMap<NodeId, NodeRefusal>,
): Assignment | undefined {
  const isReporting = (nodeId: NodeId) => hasValidReports(snapshot.dispositionOf(nodeId))
  const isWellPlaced = (each: Assignment): boolean =>
    isRunning(each) && !refusals.has(each.nodeId) && isReporting(each.nodeId)
  const count = desiredReplicas(deployment)
  const wellPlaced = new Set(current.filter(isWellPlaced).map(({ replica }) => replica))
  return current.find(
    ({ replica, nodeId }) =>
      replica <= count && refusals.has(nodeId) && !wellPlaced.has(replica) && isReporting(nodeId),
  )
}

/** Finds a node for the successor of the displaced assignment `affected`, as if that assignment were gone. */
function placeElsewhere(
  { snapshot: { scheduling, workload, counted, requests }, current, beside }: Question,
  affected: Assignment,
): Placing {
  const others = [...current.filter((each) => each !== affected), ...beside]
  const changes = countedChanges(counted, { ...requests, assignments: others })
  return scheduling.hypothetically(changes, () => scheduling.place(workload, 1))
}
