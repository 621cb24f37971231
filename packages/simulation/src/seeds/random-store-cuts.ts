// Generates scripts in which servers lose the store for up to 20 minutes: one of them, several, or all at once. No machine
// fails, so every node that is declared failed had a server that reached both the store and the node.

import type { ScriptCluster, Step, StepAction } from '../script/script.ts'
import type { Random } from '../time/random.ts'
import { between, chance, oneOf, weighted } from './choose.ts'
import { apply, newBuilder, remove, type ScriptBuilder } from './random-steps.ts'

const SERVERS = ['a', 'b', 'c', 'd'] as const
const FIRST_CUT_MS = 20_000
const LONGEST_CUT_MS = 20 * 60_000
/** Time between two changes during the cuts. */
const CHANGES_MS = [15_000, 150_000] as const

export const storeCutCluster = (random: Random): ScriptCluster => {
  const tenants = ['t1', 't2'].slice(0, between(random, 1, 2)).map((name) => ({ name }))
  return {
    servers: SERVERS.slice(0, between(random, 2, SERVERS.length)),
    tenants,
    nodes: tenants.flatMap(({ name: tenant }) =>
      Array.from({ length: between(random, 2, 4) }, (_, index) => ({
        name: `${tenant}n${index + 1}`,
        tenant,
        labels: {},
      })),
    ),
  }
}

export function storeCutSteps(random: Random, cluster: ScriptCluster): Step[] {
  const builder = newBuilder(random, cluster)
  const first = cluster.tenants.map((): Step => ({ at: 2_000, ...apply(builder) }))
  const cuts = Array.from({ length: between(random, 1, 3) }, () => randomCut(builder)).flat()
  const healedAt = Math.max(...cuts.map(endOf))
  // The last step ends the run no earlier than the last cut.
  const last: Step = { at: healedAt + 1_000, do: 'store-compacted' }
  const changes = randomChanges(builder, healedAt)
  return [...first, ...cuts, ...changes, last].sort((one, other) => one.at - other.at)
}

const endOf = (step: Step): number => step.at + ('forMs' in step ? step.forMs : 0)

function randomCut({ random, cluster }: ScriptBuilder): Step[] {
  const { servers = [] } = cluster
  const at = between(random, FIRST_CUT_MS, 10 * 60_000)
  const one = oneOf(random, servers)
  const cut = weighted<readonly string[]>(random, [
    [60, [one]],
    [20, servers.filter((server) => server !== one)],
    [20, servers],
  ])
  const forMs = chance(random, 40)
    ? between(random, 10_000, 120_000)
    : between(random, 120_000, LONGEST_CUT_MS)
  // The servers may lose the store, and reach it again, some seconds apart.
  return cut.map((server): Step => {
    const lateMs = between(random, 0, 15_000)
    return {
      at: at + lateMs,
      do: 'store-cut',
      server,
      forMs: Math.min(LONGEST_CUT_MS, forMs) - between(random, 0, 5_000),
    }
  })
}

function randomChanges(builder: ScriptBuilder, until: number): Step[] {
  const { random } = builder
  const steps: Step[] = []
  for (let at = between(random, ...CHANGES_MS); at < until; at += between(random, ...CHANGES_MS))
    steps.push({ at, ...randomChange(builder) })
  return steps
}

function randomChange(builder: ScriptBuilder): StepAction {
  const { random, cluster } = builder
  const { name: node } = oneOf(random, cluster.nodes)
  return weighted<(builder: ScriptBuilder) => StepAction>(random, [
    [45, apply],
    [5, remove],
    [20, () => ({ do: 'agent-restart', node })],
    [8, () => ({ do: 'cordon', node })],
    [12, () => ({ do: 'uncordon', node })],
    [10, () => ({ do: 'store-compacted' })],
  ])(builder)
}
