// Reads the usage of nodes from the server replicas that hold their sessions, with few calls for many nodes.

import {
  type AssignmentId,
  branded,
  defined,
  type Infer,
  integer,
  list,
  type NodeId,
  nullable,
  object,
  optional,
  type TenantId,
} from '@holdfast/contract'
import type { NodeUsage, OwnedNode, ReadUsage, ReadUsageOfAll } from '../../ports/usage.ts'
import type { GatewayContext, NodeAddress } from '../deps.ts'
import { findHolder } from '../peers/find-holder.ts'
import { MAX_ANSWERED_SERIES } from './node-usage.ts'
import type { UsageMemory } from './usage-memory.ts'

const values = () => list(nullable(integer()))
const lastMinuteShape = object({ cpuMillis: optional(integer()), memoryBytes: optional(integer()) })

/** The usage of one node as one server replica answers another. */
export const nodeUsageShape = object({
  nodeId: branded<NodeId>(),
  cpuMillis: values(),
  memoryBytes: values(),
  loadMillis: values(),
  diskUsedBytes: values(),
  diskBytes: optional(integer()),
  lastMinute: lastMinuteShape,
  unread: integer(),
  omitted: integer(),
  series: list(
    object({
      id: branded<AssignmentId>(),
      cpuMillis: values(),
      memoryBytes: values(),
      rx: values(),
      tx: values(),
      lastMinute: lastMinuteShape,
      throttledPercent: optional(integer()),
      pids: optional(integer()),
    }),
  ),
})

export const usageQuestionShape = object({
  slots: integer(),
  nodes: list(
    object({
      nodeId: branded<NodeId>(),
      /** The tenant of the node; absent if it is the tenant of the call. */
      tenant: optional(branded<TenantId>()),
      assignments: optional(list(branded<AssignmentId>())),
    }),
  ),
})
export type UsageQuestion = Infer<typeof usageQuestionShape>

/** Answers a question from the memory of this server replica. Nodes without samples are left out. */
export const answerUsage = (
  memory: UsageMemory,
  tenant: TenantId,
  { slots, nodes }: UsageQuestion,
): NodeUsage[] =>
  nodes.flatMap(({ nodeId, tenant: own = tenant, assignments }) => {
    const wanted = assignments && new Set(assignments)
    return memory.read({ tenant: own, nodeId }, slots, wanted) ?? []
  })

/** Sends a question to the server replica that holds the node; undefined if it does not answer. */
type AskHolder = (node: NodeAddress, question: UsageQuestion) => Promise<readonly NodeUsage[] | undefined>

/** The most assignments of one question without slots. */
const MAX_ASKED = 5000

export function createReadUsage(context: GatewayContext, memory: UsageMemory, ask: AskHolder): ReadUsage {
  const readAll = createReadUsageOfAll(context, memory, ask)
  return (tenant, nodes, slots) =>
    readAll(
      nodes.map((node) => ({ ...node, tenant })),
      slots,
    )
}

/** Reads the usage of nodes of several tenants, with one call to each server replica that holds some of them. */
export function createReadUsageOfAll(
  context: GatewayContext,
  memory: UsageMemory,
  ask: AskHolder,
): ReadUsageOfAll {
  return async (nodes, slots) => {
    const found = new Map<NodeId, NodeUsage>()
    const unreachable = new Set<NodeId>()
    const add = (usage: NodeUsage): void => {
      const known = found.get(usage.nodeId)
      const series = [...(known?.series ?? []), ...usage.series]
      found.set(usage.nodeId, { ...usage, series })
    }
    const askAll = async (held: readonly OwnedNode[]): Promise<void> => {
      for (const part of inParts(held, slots)) {
        const [first] = part
        if (first === undefined) continue
        const answer = await ask(first, questionOf(part, slots))
        if (answer === undefined) for (const { nodeId } of part) unreachable.add(nodeId)
        else for (const usage of answer) add(usage)
      }
    }
    const byHolder = Map.groupBy(nodes, (node) => (memory.has(node) ? undefined : findHolder(context, node)))
    // A node that no other server replica holds is here, or has no session: then it has no samples.
    for (const [tenant, own] of Map.groupBy(byHolder.get(undefined) ?? [], (node) => node.tenant))
      for (const usage of answerUsage(memory, tenant, questionOf(own, slots))) add(usage)
    byHolder.delete(undefined)
    await Promise.all([...byHolder.values()].map(askAll))
    return { nodes: found, unreachable: [...unreachable] }
  }
}

const questionOf = (nodes: readonly OwnedNode[], slots: number): UsageQuestion => ({
  slots,
  nodes: nodes.map(({ nodeId, tenant, assignments }) => ({
    nodeId,
    tenant,
    ...defined({ assignments: assignments && [...assignments] }),
  })),
})

/** Splits a question so that no answer is too long. A node without named assignments is asked alone. */
function inParts(nodes: readonly OwnedNode[], slots: number): OwnedNode[][] {
  const most = slots === 0 ? MAX_ASKED : MAX_ANSWERED_SERIES
  const parts: OwnedNode[][] = []
  let room = 0
  for (const { nodeId, tenant, assignments } of nodes)
    for (const some of assignments === undefined ? [undefined] : chunks(assignments, most)) {
      const size = some?.length ?? most
      if (size > room) {
        parts.push([])
        room = most
      }
      parts.at(-1)?.push({ nodeId, tenant, ...defined({ assignments: some }) })
      room -= size
    }
  return parts
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  const found: T[][] = []
  for (let from = 0; from < items.length; from += size) found.push(items.slice(from, from + size))
  return found
}
