// Generates scripts with scaling policies: loads that rise, fall and stay within the tolerance, while servers and machines fail,
// nodes are drained, deployments are updated, stopped and started, and quotas and policies change. Every fault ends, and the
// last load stays until the policy must have reached its number.

import type { ScriptCluster, Step, StepAction } from '../script/script.ts'
import type { Random } from '../time/random.ts'
import { between, chance, oneOf, weighted } from './choose.ts'
import { healedAt, newBuilder, type ScriptBuilder, troubleNode, troubleServer } from './random-steps.ts'

const TENANT = 't1'
const NAMES = ['web', 'api'] as const
/** The request of each replica, and the targets in percent of it. */
const REQUEST = 200
const TARGETS = [40, 50, 80] as const
const LEAST_TURNS = 8
const MOST_TURNS = 16

interface Scaled {
  readonly name: string
  /** The number of replicas for which the last load was. */
  level: number
  readonly policy: { readonly min: number; readonly max: number; readonly targetPercent: number }
}

export const randomScalingCluster = (random: Random): ScriptCluster => ({
  servers: chance(random, 60) ? ['a', 'b'] : ['a', 'b', 'c'],
  tenants: [{ name: TENANT }],
  nodes: Array.from({ length: between(random, 2, 4) }, (_, index) => ({
    name: `n${index + 1}`,
    tenant: TENANT,
  })),
})

export function randomScalingSteps(random: Random, cluster: ScriptCluster): Step[] {
  const builder = newBuilder(random, cluster)
  const scaled = NAMES.slice(0, chance(random, 60) ? 1 : 2).map((name) => ({
    name,
    level: 1,
    policy: randomPolicy(random),
  }))
  const steps = scaled.flatMap((each) => opening(random, each))
  let at = 20_000
  for (let left = between(random, LEAST_TURNS, MOST_TURNS); left > 0; left -= 1) {
    for (const action of nextActions(builder, oneOf(random, scaled))) steps.push({ at, ...action })
    at += pauseMs(random)
  }
  const last = scaled.map((each): Step => ({ at, ...load(random, each) }))
  const open = cluster.nodes.map(({ name: node }): Step => ({ at, do: 'uncordon', node }))
  const room: Step = { at, do: 'quota', tenant: TENANT, kind: 'containers', limit: 100 }
  return [...steps, ...open, room, ...last, ...healedAt(builder, at)]
}

const randomPolicy = (random: Random): Scaled['policy'] => ({
  min: between(random, 1, 2),
  max: between(random, 3, 9),
  targetPercent: oneOf(random, TARGETS),
})

const opening = (random: Random, scaled: Scaled): Step[] => [
  {
    ...{ at: 1_000, do: 'apply', tenant: TENANT, deployment: scaled.name },
    spec: { replicas: between(random, 1, 3), resources: { cpuMillis: REQUEST, memoryBytes: 0 } },
  },
  {
    ...{ at: 4_000, do: 'scaling', tenant: TENANT, deployment: scaled.name },
    policy: { ...scaled.policy, metric: 'cpu', scaleDownDelay: `${oneOf(random, [0, 60, 120])}s` },
  },
  { at: 6_000, ...load(random, scaled) },
]

/** A load for some number of replicas, often for the same as before and within the tolerance of it. */
function load(random: Random, scaled: Scaled): StepAction {
  const { name: deployment, policy } = scaled
  const perReplica = (REQUEST * policy.targetPercent) / 100
  const percent = chance(random, 65) ? between(random, 92, 108) : between(random, 60, 140)
  if (chance(random, 55)) scaled.level = between(random, 1, policy.max + 1)
  return {
    ...{ do: 'load', tenant: TENANT, deployment },
    cpuMillis: Math.round((scaled.level * perReplica * percent) / 100),
  }
}

/** Long enough that policies act between two steps, and often shorter than the delay. */
const pauseMs = (random: Random): number =>
  weighted(random, [
    [20, between(random, 0, 2_000)],
    [50, between(random, 10_000, 60_000)],
    [30, between(random, 100_000, 200_000)],
  ])

function nextActions(builder: ScriptBuilder, scaled: Scaled): StepAction[] {
  const { random, cluster } = builder
  const { name: deployment } = scaled
  const of = { tenant: TENANT, deployment }
  const node = oneOf(random, cluster.nodes).name
  const kind = weighted(random, [
    [40, 'load'],
    [14, 'update'],
    [14, 'server'],
    [8, 'node'],
    [10, 'drain'],
    [6, 'stop'],
    [4, 'quota'],
    [4, 'policy'],
  ])
  switch (kind) {
    case 'update':
      builder.marks += 1
      return [
        { do: 'apply', ...of, spec: { environment: { MARK: String(builder.marks) } } },
        ...(chance(random, 60) ? [load(random, scaled)] : []),
      ]
    case 'server':
      return [troubleServer(builder)]
    case 'node':
      return [troubleNode(builder)]
    case 'drain':
      return [{ do: chance(random, 60) ? 'drain' : 'uncordon', node }]
    case 'stop':
      return [{ do: 'apply', ...of, spec: { replicas: chance(random, 50) ? 0 : between(random, 1, 3) } }]
    case 'quota':
      return [{ do: 'quota', tenant: TENANT, kind: 'containers', limit: between(random, 2, 20) }]
    case 'policy':
      return [{ do: 'scaling', ...of, policy: { max: between(random, 3, 9) } }]
    default:
      return [load(random, scaled)]
  }
}
