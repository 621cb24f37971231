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
import type { AskedNode, NodeUsage, ReadUsage } from '../../ports/usage.ts'
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
  nodes: list(object({ nodeId: branded<NodeId>(), assignments: optional(list(branded<AssignmentId>())) })),
})
export type UsageQuestion = Infer<typeof usageQuestionShape>

/** Answers a question from the memory of this server replica. Nodes without samples are left out. */
export const answerUsage = (
  memory: UsageMemory,
  tenant: TenantId,
  { slots, nodes }: UsageQuestion,
): NodeUsage[] =>
  nodes.flatMap(({ nodeId, assignments }) => {
    const wanted = assignments && new Set(assignments)
    return memory.read({ tenant, nodeId }, slots, wanted) ?? []
  })

/** Sends a question to the server replica that holds the node; undefined if it does not answer. */
type AskHolder = (node: NodeAddress, question: UsageQuestion) => Promise<readonly NodeUsage[] | undefined>

/** The most assignments of one question without slots. */
const MAX_ASKED = 5000

export function createReadUsage(context: GatewayContext, memory: UsageMemory, ask: AskHolder): ReadUsage {
  return async (tenant, nodes, slots) => {
    const found = new Map<NodeId, NodeUsage>()
    const unreachable = new Set<NodeId>()
    const add = (usage: NodeUsage): void => {
      const known = found.get(usage.nodeId)
      const series = [...(known?.series ?? []), ...usage.series]
      found.set(usage.nodeId, { ...usage, series })
    }
    const askAll = async (held: readonly AskedNode[]): Promise<void> => {
      for (const part of inParts(held, slots)) {
        const [first] = part
        if (first === undefined) continue
        const answer = await ask({ tenant, nodeId: first.nodeId }, questionOf(part, slots))
        if (answer === undefined) for (const { nodeId } of part) unreachable.add(nodeId)
        else for (const usage of answer) add(usage)
      }
    }
    const byHolder = Map.groupBy(nodes, ({ nodeId }) =>
      memory.has({ tenant, nodeId }) ? undefined : findHolder(context, { tenant, nodeId }),
    )
    // A node that no other server replica holds is here, or has no session: then it has no samples.
    for (const usage of answerUsage(memory, tenant, questionOf(byHolder.get(undefined) ?? [], slots)))
      add(usage)
    byHolder.delete(undefined)
    await Promise.all([...byHolder.values()].map(askAll))
    return { nodes: found, unreachable: [...unreachable] }
  }
}

const questionOf = (nodes: readonly AskedNode[], slots: number): UsageQuestion => ({
  slots,
  nodes: nodes.map(({ nodeId, assignments }) => ({
    nodeId,
    ...defined({ assignments: assignments && [...assignments] }),
  })),
})

/** Splits a question so that no answer is too long. A node without named assignments is asked alone. */
function inParts(nodes: readonly AskedNode[], slots: number): AskedNode[][] {
  const most = slots === 0 ? MAX_ASKED : MAX_ANSWERED_SERIES
  const parts: AskedNode[][] = []
  let room = 0
  for (const { nodeId, assignments } of nodes)
    for (const some of assignments === undefined ? [undefined] : chunks(assignments, most)) {
      const size = some?.length ?? most
      if (size > room) {
        parts.push([])
        room = most
      }
      parts.at(-1)?.push({ nodeId, ...defined({ assignments: some }) })
      room -= size
    }
  return parts
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  const found: T[][] = []
  for (let from = 0; from < items.length; from += size) found.push(items.slice(from, from + size))
  return found
}
