// Chooses the nodes of a volume: the scheduler's filters decide which nodes qualify, and the node with the most free bytes
// in its storage pool is the best. See docs/adr/0060-volumes-in-the-server.md

import {
  type NodeId,
  type ResidencyRules,
  VOLUMES,
  type VolumeCopy,
  type VolumeSpec,
} from '@holdfast/contract'
import { checkCandidates, firstRefusal } from '../scheduling/check-candidates.ts'
import { type Explanation, explainCandidates } from '../scheduling/explain.ts'
import { explainNodes } from '../scheduling/explain-nodes.ts'
import type { NodeFacts, TenantFacts, Workload } from '../scheduling/facts.ts'
import { RESIDENCY_FILTERS } from '../scheduling/filters/index.ts'
import { freePoolBytes } from '../scheduling/filters/storage.ts'
import { desiredResidency } from '../scheduling/residency.ts'
import { claimedBytes } from './claimed-bytes.ts'

export interface VolumeDemand {
  readonly spec: VolumeSpec
  readonly rules: ResidencyRules
  /** Whether the volume belongs to the platform, which may use control-plane nodes. */
  readonly ofPlatform: boolean
}

/** A copy of a volume as a workload of the scheduler. Only the primary follows the `nodeId` of the volume. */
function copyWorkload({ spec, rules, ofPlatform }: VolumeDemand, role: VolumeCopy['role']): Workload {
  return {
    name: spec.name,
    resources: { cpuMillis: 0, memoryBytes: 0 },
    placement: undefined,
    nodeId: role === 'primary' ? spec.nodeId : undefined,
    residency: desiredResidency(spec.residency, rules),
    ofPlatform,
    needs: [VOLUMES],
    storageBytes: claimedBytes(spec.sizeBytes),
  }
}

/**
 * The copies of a volume after the missing ones were placed. Copies that exist stay where they are; copies beyond the
 * desired number are dropped, the newest first. Without a primary there are no copies.
 */
export function placeCopies(
  demand: VolumeDemand,
  existing: readonly VolumeCopy[],
  facts: TenantFacts,
): VolumeCopy[] {
  const { class: kind, replicas } = demand.spec
  if (kind === 'object') return []
  const primary = existing.find(({ role }) => role === 'primary') ?? newCopy(demand, 'primary', [], facts)
  if (primary === undefined) return []
  const copies = [primary, ...existing.filter(({ role }) => role === 'replica').slice(0, replicas)]
  while (copies.length < 1 + replicas) {
    const copy = newCopy(demand, 'replica', copies, facts)
    if (copy === undefined) break
    copies.push(copy)
  }
  return copies
}

function newCopy(
  demand: VolumeDemand,
  role: VolumeCopy['role'],
  others: readonly VolumeCopy[],
  facts: TenantFacts,
): VolumeCopy | undefined {
  const taken = new Set(others.map(({ nodeId }) => nodeId))
  const accepting = new Set(
    checkCandidates(copyWorkload(demand, role), facts)
      .filter(({ nodeId, refusals }) => refusals.length === 0 && !taken.has(nodeId))
      .map(({ nodeId }) => nodeId),
  )
  const [best] = facts.nodes.filter(({ id }) => accepting.has(id)).sort(compareByFreePool)
  return best && { nodeId: best.id, role, state: 'seeding' }
}

function compareByFreePool(left: NodeFacts, right: NodeFacts): number {
  const [leftFree, rightFree] = [left, right].map(({ pool }) => (pool ? freePoolBytes(pool) : 0))
  return (rightFree ?? 0) - (leftFree ?? 0) || (left.id < right.id ? -1 : 1)
}

/** The nodes on which the primary may be, of those that already hold a copy and therefore need no further storage. */
export function acceptedPrimaries(
  demand: VolumeDemand,
  holders: readonly NodeId[],
  facts: TenantFacts,
): NodeId[] {
  const { nodeId: _named, ...workload } = copyWorkload(demand, 'replica')
  const nodes = facts.nodes.filter(({ id }) => holders.includes(id))
  return checkCandidates({ ...workload, nodeId: undefined, storageBytes: 0 }, { ...facts, nodes })
    .filter(({ refusals }) => refusals.length === 0)
    .map(({ nodeId }) => nodeId)
}

/** Whether the location of the node satisfies the residency of the volume, whatever else speaks against the node. */
export function isResident(demand: VolumeDemand, node: NodeFacts): boolean {
  const facts = { nodes: [node], containers: { used: 0, limit: 0 } }
  return firstRefusal(RESIDENCY_FILTERS, copyWorkload(demand, 'replica'), node, facts) === undefined
}

/** Why one node cannot hold a further copy, in words; undefined if it can. */
export function refusalOfNode(
  demand: VolumeDemand,
  existing: readonly VolumeCopy[],
  nodeId: NodeId,
  facts: TenantFacts,
): string | undefined {
  if (existing.some((copy) => copy.nodeId === nodeId)) return 'it already holds a copy'
  const found = explainCandidates(explainNodes(copyWorkload(demand, 'replica'), facts)).candidates.find(
    (candidate) => candidate.nodeId === nodeId,
  )
  if (found === undefined) return 'this tenant has no such node'
  if (found.refusals.length === 0) return undefined
  return found.refusals.map(({ code }) => code).join(', ')
}

/** Explains for every node why it cannot hold the primary, or a further copy if there is a primary. */
export function explainVolume(
  demand: VolumeDemand,
  existing: readonly VolumeCopy[],
  facts: TenantFacts,
): Explanation {
  const role = existing.length === 0 ? 'primary' : 'replica'
  const taken = new Set(existing.map(({ nodeId }) => nodeId))
  const others = facts.nodes.filter(({ id }) => !taken.has(id))
  return explainCandidates(explainNodes(copyWorkload(demand, role), { ...facts, nodes: others }))
}

/** The names of the nodes with a copy whose storage pool has less than `extraBytes` free. */
export function nodesWithoutRoom(
  copies: readonly VolumeCopy[],
  extraBytes: number,
  { nodes }: TenantFacts,
): string[] {
  const holders = new Set(copies.map(({ nodeId }) => nodeId))
  return nodes
    .filter(({ id, pool }) => holders.has(id) && (pool === undefined || freePoolBytes(pool) < extraBytes))
    .map(({ name }) => name)
    .sort()
}
