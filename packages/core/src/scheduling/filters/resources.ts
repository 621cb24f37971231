// Does the request fit into what is free on this one node? Free is what it reported less the requests of the replicas
// assigned to it. A request is never split, and a request of nothing always fits. SPEC 3 rule 3, DECISIONS 4.

import type { Capacity } from '@holdfast/contract'
import type { NodeFacts } from '../facts.ts'
import type { Filter } from '../refusal.ts'
import { rememberedBy, rememberedFor } from '../remembered.ts'

/** Also what the quick path compares with: there is one rule of what fits. */
export const leastFree = (request: number): number => (request === 0 ? Number.NEGATIVE_INFINITY : request)

export const freeOn = (node: NodeFacts, kind: keyof Capacity): number =>
  node.capacity[kind] - node.requested[kind]

type Kinds = readonly (keyof Capacity)[]
const NOTHING: Kinds = []
const CPU: Kinds = ['cpuMillis']
const MEMORY: Kinds = ['memoryBytes']
const BOTH: Kinds = ['cpuMillis', 'memoryBytes']
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
    const short = shortOn(node, workload.resources)
    if (short.length === 0) return undefined
    const free = { cpuMillis: freeOn(node, 'cpuMillis'), memoryBytes: freeOn(node, 'memoryBytes') }
    return {
      filter: 'resources',
      code: codeOf(short),
      required: requiredOf(workload.resources)(short),
      reported: { free: pick(short, free), capacity: pick(short, node.capacity) },
      fix: fixOf(short, workload.resources, node),
    }
  },
}

/** Of what the node has too little. */
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

const requiredOf = rememberedFor((request: Capacity) => rememberedBy((short: Kinds) => pick(short, request)))

function pick(short: Kinds, { cpuMillis, memoryBytes }: Capacity): { [kind: string]: number } {
  if (short === BOTH) return { cpuMillis, memoryBytes }
  return short === CPU ? { cpuMillis } : { memoryBytes }
}

function fixOf(short: Kinds, request: Capacity, node: NodeFacts): string {
  const lower = joined(short, (kind) => `resources.${kind} to ${Math.max(0, freeOn(node, kind))}`)
  if (short.some((kind) => request[kind] > node.capacity[kind]))
    return `Lower ${lower}: ${node.name} is too small for the request even with nothing else on it.`
  const missing = joined(short, (kind) => `${request[kind] - freeOn(node, kind)} ${UNITS[kind]}`)
  return `Free ${missing} on ${node.name}, or lower ${lower}.`
}

function joined(short: Kinds, textOf: (kind: keyof Capacity) => string): string {
  if (short === BOTH) return `${textOf('cpuMillis')} and ${textOf('memoryBytes')}`
  return textOf(short === CPU ? 'cpuMillis' : 'memoryBytes')
}
