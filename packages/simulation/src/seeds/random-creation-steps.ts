// Generates scripts in which machines cannot create containers for a time, while deployments are created, changed and drained
// and one server at a time fails. Causes of the machine move replicas; an unreachable registry moves none.

import { CREATION_FAULTS, type ScriptCluster, type Step, type StepAction } from '../script/script.ts'
import type { Random } from '../time/random.ts'
import { between, chance, oneOf, weighted } from './choose.ts'
import { REGIONS } from './random-cluster.ts'
import { apply, newBuilder, remove, type ScriptBuilder } from './random-steps.ts'

const SERVERS = ['a', 'b'] as const
const TURNS = [12, 30] as const
/** A server that failed has taken its shards over, or lost them, before the next one fails. */
const SERVER_EVERY_MS = 60_000
const LONGEST_SERVER_FAULT_MS = 10_000
const LONGEST_FAULT_MS = 240_000
const FIRST_MS = 2_000

export const creationCluster = (random: Random): ScriptCluster => ({
  regions: REGIONS,
  servers: SERVERS,
  tenants: [{ name: 't1', quotas: chance(random, 20) ? { containers: between(random, 2, 6) } : {} }],
  nodes: Array.from({ length: between(random, 2, 4) }, (_, index) => ({
    name: `n${index + 1}`,
    tenant: 't1',
    labels: { zone: oneOf(random, ['a', 'b']), 'holdfast.io/country': 'DE' },
    attested: { country: 'DE' },
  })),
})

export function creationSteps(random: Random, cluster: ScriptCluster): Step[] {
  const builder = newBuilder(random, cluster)
  const steps: Step[] = [{ at: FIRST_MS, ...apply(builder) }]
  let at = FIRST_MS
  for (let left = between(random, ...TURNS); left > 0; left -= 1) {
    at += pauseMs(random)
    steps.push({ at, ...nextAction(builder) })
  }
  const end = at + LONGEST_FAULT_MS
  const opened = cluster.nodes.map(({ name: node }): Step => ({ at: end, do: 'uncordon', node }))
  return [...steps, ...serverFaults(random, at), ...opened].sort((one, other) => one.at - other.at)
}

const pauseMs = (random: Random): number =>
  weighted(random, [
    [40, between(random, 0, 2_000)],
    [40, between(random, 2_000, 20_000)],
    [20, between(random, 20_000, 90_000)],
  ])

function nextAction(builder: ScriptBuilder): StepAction {
  const { random, cluster } = builder
  const { name: node } = oneOf(random, cluster.nodes)
  return weighted<() => StepAction>(random, [
    [40, () => fault(random, node)],
    [35, () => apply(builder)],
    [4, () => remove(builder)],
    [5, () => ({ do: 'agent-restart', node })],
    [4, () => ({ do: 'cordon', node })],
    [3, () => ({ do: 'drain', node })],
    [9, () => ({ do: 'uncordon', node })],
  ])()
}

const fault = (random: Random, node: string): StepAction => ({
  ...{ do: 'cannot-create', node, cause: oneOf(random, CREATION_FAULTS) },
  forMs: chance(random, 30) ? between(random, 500, 10_000) : between(random, 10_000, LONGEST_FAULT_MS),
})

/** At most one server fails at a time. */
function serverFaults(random: Random, until: number): Step[] {
  const steps: Step[] = []
  for (let at = SERVER_EVERY_MS; at < until; at += SERVER_EVERY_MS) {
    const server = oneOf(random, SERVERS)
    const forMs = between(random, 500, LONGEST_SERVER_FAULT_MS)
    const kind = random.below(5)
    if (kind === 0)
      steps.push({ at, do: 'server-killed', server }, { at: at + forMs, do: 'server-started', server })
    if (kind === 1) steps.push({ at, do: 'server-paused', server, forMs })
    if (kind === 2) steps.push({ at, do: 'store-cut', server, forMs })
    if (kind === 3) steps.push({ at, do: 'store-slow', server, forMs, delayMs: between(random, 20, 1_500) })
  }
  return steps
}
