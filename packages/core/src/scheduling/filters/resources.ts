// Requires that the resource request fits into the free capacity of the node: the capacity that the node reported, less
// the requests of the replicas assigned to it. A request is never split over nodes, and a request of 0 always fits.

import type { Capacity } from '@holdfast/contract'
import type { NodeFacts } from '../facts.ts'
import type { Filter } from '../refusal.ts'

/** The least free capacity that a request fits into. A request of 0 fits even on an overcommitted node. */
export const leastFree = (request: number): number => (request === 0 ? Number.NEGATIVE_INFINITY : request)

export const freeOn = (node: NodeFacts, kind: keyof Capacity): number =>
  node.capacity[kind] - node.requested[kind]

type Kinds = readonly (keyof Capacity)[]
const NOTHING: Kinds = []
const CPU: Kinds = ['cpuMillis']
const MEMORY: Kinds = ['memoryBytes']
const BOTH: Kinds = ['cpuMillis', 'memoryBytes']

export const resources: Filter = {
  name: 'resources',
  retryOn: ['placements', 'node_capacity', 'deployment'],
  phrases: {
    insufficient_cpu: 'with insufficient CPU',
    insufficient_memory: 'with insufficient memory',
    insufficient_resources: 'with insufficient CPU and memory',
  },
  reportsRecordFact: false,
  refuse({ resources: request }, node) {
    const short = shortOn(node, request)
    if (short.length === 0) return undefined
    const free = { cpuMillis: freeOn(node, 'cpuMillis'), memoryBytes: freeOn(node, 'memoryBytes') }
    return {
      code: codeOf(short),
      required: pick(short, request),
      reported: { free: pick(short, free), capacity: pick(short, node.capacity) },
    }
  },
}

/** The kinds of resource of which the node has less free capacity than requested. */
export function shortOn(node: NodeFacts, request: Capacity): Kinds {
  const lacksCpu = freeOn(node, 'cpuMillis') < leastFree(request.cpuMillis)
  const lacksMemory = freeOn(node, 'memoryBytes') < leastFree(request.memoryBytes)
  if (lacksCpu) return lacksMemory ? BOTH : CPU
  return lacksMemory ? MEMORY : NOTHING
}

function codeOf(short: Kinds): string {
  if (short === BOTH) return 'insufficient_resources'
  return short === CPU ? 'insufficient_cpu' : 'insufficient_memory'
}

function pick(short: Kinds, { cpuMillis, memoryBytes }: Capacity): { [kind: string]: number } {
  if (short === BOTH) return { cpuMillis, memoryBytes }
  return short === CPU ? { cpuMillis } : { memoryBytes }
}
