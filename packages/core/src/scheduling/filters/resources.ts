// Does the request fit into what is free on this one node? Free is what it reported less the requests of the replicas
// assigned to it. A request is never split, and a request of nothing always fits. SPEC 3 rule 3, DECISIONS 4.

import type { Capacity } from '@holdfast/contract'
import type { NodeFacts } from '../facts.ts'
import type { Filter } from '../refusal.ts'

/** Also what the quick path compares with: there is one rule of what fits. */
export const leastFree = (request: number): number => (request === 0 ? Number.NEGATIVE_INFINITY : request)

export const freeOn = (node: NodeFacts, kind: keyof Capacity): number =>
  node.capacity[kind] - node.requested[kind]

const KINDS = ['cpuMillis', 'memoryBytes'] as const
const UNITS = { cpuMillis: 'millicores', memoryBytes: 'bytes of memory' } as const

export const resources: Filter = {
  name: 'resources',
  curedBy: ['placements', 'node_capacity', 'deployment'],
  phrases: {
    insufficient_cpu: 'without the CPU',
    insufficient_memory: 'without the memory',
    insufficient_resources: 'without the CPU and the memory',
  },
  refuse(workload, node) {
    const short = KINDS.filter((kind) => freeOn(node, kind) < leastFree(workload.resources[kind]))
    const [first, second] = short
    if (first === undefined) return undefined
    return {
      filter: 'resources',
      code: second === undefined ? CODES[first] : 'insufficient_resources',
      required: pick(short, (kind) => workload.resources[kind]),
      reported: {
        free: pick(short, (kind) => freeOn(node, kind)),
        capacity: pick(short, (kind) => node.capacity[kind]),
      },
      fix: fixOf(short, workload.resources, node),
    }
  },
}

const CODES = { cpuMillis: 'insufficient_cpu', memoryBytes: 'insufficient_memory' } as const

function pick(
  kinds: readonly (keyof Capacity)[],
  value: (kind: keyof Capacity) => number,
): { [kind: string]: number } {
  const amounts: { [kind: string]: number } = {}
  for (const kind of kinds) amounts[kind] = value(kind)
  return amounts
}

function fixOf(short: readonly (keyof Capacity)[], request: Capacity, node: NodeFacts): string {
  const lower = short.map((kind) => `resources.${kind} to ${Math.max(0, freeOn(node, kind))}`).join(' and ')
  if (short.some((kind) => request[kind] > node.capacity[kind]))
    return `Lower ${lower}: ${node.name} is too small for the request even with nothing else on it.`
  const missing = short.map((kind) => `${request[kind] - freeOn(node, kind)} ${UNITS[kind]}`).join(' and ')
  return `Free ${missing} on ${node.name}, or lower ${lower}.`
}
