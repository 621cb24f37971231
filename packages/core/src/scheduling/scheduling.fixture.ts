// For tests and benches only: default facts, and a slow reference scheduler to compare the real scheduler with.

import { isNodeId, type NodeId } from '@holdfast/contract'
import { checkCandidates } from './check-candidates.ts'
import type { NodeFacts, TenantFacts, Workload } from './facts.ts'
import { freeShare, holdNode } from './held-node.ts'
import { labelOf } from './labels.ts'

const CROCKFORD_DIGITS = 26

/** The id of the node with a given number. Node ids sort in the order of their numbers. */
export function nodeIdOf(number: number): NodeId {
  const id = `node_${String(number).padStart(CROCKFORD_DIGITS, '0')}`
  if (!isNodeId(id)) throw new Error(`not a node id: ${id}`)
  return id
}

/** A node with 4 cores and 8 GiB of memory that accepts every workload that fits. */
export function aNode(number: number, parts: Partial<NodeFacts> = {}): NodeFacts {
  return {
    id: nodeIdOf(number),
    name: `node-${number}`,
    status: 'ready',
    schedulable: true,
    controlPlane: false,
    labels: {},
    attested: {},
    claim: 'sole',
    capacity: { cpuMillis: 4000, memoryBytes: 8 * 1024 ** 3 },
    requested: { cpuMillis: 0, memoryBytes: 0 },
    replicas: new Map(),
    ...parts,
  }
}

export function aWorkload(parts: Partial<Workload> = {}): Workload {
  return {
    name: 'web',
    resources: { cpuMillis: 0, memoryBytes: 0 },
    placement: undefined,
    nodeId: undefined,
    residency: undefined,
    ofPlatform: false,
    needs: [],
    ...parts,
  }
}

export function someFacts(nodes: readonly NodeFacts[], used = 0, limit = 500): TenantFacts {
  return { nodes, containers: { used, limit } }
}

/**
 * The reference scheduler: runs every filter on every node and sorts the accepting nodes by rank. It is simple and slow.
 */
export function naivePick(workload: Workload, facts: TenantFacts): NodeId | undefined {
  const accepting = new Set(
    checkCandidates(workload, facts)
      .filter(({ refusals }) => refusals.length === 0)
      .map(({ nodeId }) => nodeId),
  )
  const ownOn = ({ replicas }: NodeFacts): number => replicas.get(workload.name) ?? 0
  const spread = workload.placement?.spread
  const groupOf = ({ id, labels }: NodeFacts): string | undefined =>
    spread === undefined ? id : labelOf(spread, labels)
  const inGroup = new Map<string | undefined, number>()
  for (const node of facts.nodes) inGroup.set(groupOf(node), (inGroup.get(groupOf(node)) ?? 0) + ownOn(node))
  const ranked = facts.nodes
    .filter(({ id }) => accepting.has(id))
    .map((node) => ({
      id: node.id,
      keys: [inGroup.get(groupOf(node)) ?? 0, ownOn(node), -freeShare(holdNode(node, 0))],
    }))
    .sort((left, right) => {
      const differing = left.keys.findIndex((key, index) => key !== right.keys[index])
      if (differing < 0) return left.id < right.id ? -1 : 1
      return (left.keys[differing] ?? 0) < (right.keys[differing] ?? 0) ? -1 : 1
    })
  return ranked[0]?.id
}
