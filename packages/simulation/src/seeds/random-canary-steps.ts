// Generates scripts with canaries: each is started, often disturbed by drains, lost nodes, faults of servers, other deployments and
// quotas, and then promoted, aborted or superseded by an update, a restart or a rollback. Some canaries fail. Every fault ends.

import type { ScriptCluster, Step, StepAction } from '../script/script.ts'
import type { Random } from '../time/random.ts'
import { between, chance, oneOf, weighted } from './choose.ts'
import {
  healedAt,
  newBuilder,
  type ScriptBuilder,
  takeOver,
  troubleNode,
  troubleServer,
} from './random-steps.ts'

const TENANT = 't1'
const WEB = { tenant: TENANT, deployment: 'web' }
const OTHER = { tenant: TENANT, deployment: 'api' }
const LEAST_CANARIES = 3
const MOST_CANARIES = 5
const MOST_DISTURBANCES = 3
/** Percent of the canaries after which all faults end. */
const CALM_PERCENT = 75
/** Enough for the first rollout and its watch window, before which no canary can start. */
const FIRST_AT_MS = 30_000

interface CanaryBuilder extends ScriptBuilder {
  /** The replicas that the deployment was last asked to have. */
  replicas: number
  /** The change of the last canary. */
  change: { readonly [field: string]: unknown }
}

export const randomCanaryCluster = (random: Random): ScriptCluster => ({
  servers: chance(random, 60) ? ['a', 'b'] : ['a', 'b', 'c'],
  tenants: [
    { name: TENANT, ...(chance(random, 40) ? { quotas: { containers: between(random, 6, 12) } } : {}) },
  ],
  nodes: Array.from({ length: between(random, 2, 4) }, (_, index) => ({
    name: `n${index + 1}`,
    tenant: TENANT,
    capacity: { cpuMillis: between(random, 4, 9) * 250, memoryBytes: 2 ** 31 },
  })),
})

export function randomCanarySteps(random: Random, cluster: ScriptCluster): Step[] {
  const builder: CanaryBuilder = {
    ...newBuilder(random, cluster),
    replicas: between(random, 1, 4),
    change: {},
  }
  const steps: Step[] = opening(builder)
  let at = FIRST_AT_MS
  for (let left = between(random, LEAST_CANARIES, MOST_CANARIES); left > 0; left -= 1) {
    const observeMs = between(random, 1, 15) * 1_000
    steps.push({ at, ...canary(builder, observeMs) })
    for (let more = between(random, 0, MOST_DISTURBANCES); more > 0; more -= 1) {
      at += between(random, 0, 8_000)
      for (const action of disturb(builder)) steps.push({ at, ...action })
    }
    at += endAfterMs(random, observeMs)
    for (const action of end(builder)) steps.push({ at, ...action })
    if (chance(random, 20)) for (const action of disturb(builder)) steps.push({ at: at + 200, ...action })
    if (chance(random, CALM_PERCENT)) steps.push(...calm(builder, at))
    at += between(random, 28_000, 48_000)
  }
  return [...steps, ...calm(builder, at)].sort((one, other) => one.at - other.at)
}

/** Ends every fault and opens every node, so that a rollout can end and the next canary can start. */
function calm(builder: CanaryBuilder, at: number): Step[] {
  const { cluster, off, cut, downgraded, dead } = builder
  const healed = healedAt(builder, at)
  for (const each of [off, cut, downgraded, dead]) each.clear()
  const open = cluster.nodes.map(({ name: node }): Step => ({ at, do: 'uncordon', node }))
  return [{ at, do: 'quota', tenant: TENANT, kind: 'containers', limit: 20 }, ...open, ...healed]
}

function opening({ random, replicas }: CanaryBuilder): Step[] {
  const gate = chance(random, 40) ? { dependsOn: { web: 'started' } } : {}
  const other = { replicas: between(random, 1, 3), resources: resources(random), ...gate }
  return [
    { at: 1_000, do: 'apply', ...WEB, spec: { replicas, ...webSpec(random) } },
    ...(chance(random, 60) ? [{ at: 1_500, do: 'apply', ...OTHER, spec: other } as const] : []),
  ]
}

const resources = (random: Random) => ({ cpuMillis: between(random, 0, 3) * 125, memoryBytes: 0 })

const CHECK = { type: 'exec', command: ['true'], interval: '5s', timeout: '10s' } as const

const webSpec = (random: Random) => ({
  resources: resources(random),
  update: {
    order: chance(random, 60) ? 'start-first' : 'stop-first',
    parallelism: between(random, 1, 3),
    failureAction: chance(random, 50) ? 'rollback' : 'pause',
    progressDeadline: `${oneOf(random, [20, 40, 60])}s`,
  },
  ...(chance(random, 15) ? { healthCheck: CHECK } : {}),
  ...(chance(random, 8) ? { placement: { antiAffinity: [WEB.deployment] } } : {}),
})

function mark(builder: ScriptBuilder) {
  builder.marks += 1
  return { environment: { MARK: String(builder.marks) } }
}

function canary(builder: CanaryBuilder, observeMs: number): StepAction {
  const { random, replicas } = builder
  const change = {
    ...mark(builder),
    ...(chance(random, 45)
      ? { resources: { ...resources(random), cpuMillis: between(random, 0, 6) * 125 } }
      : {}),
    ...(chance(random, 10) ? { replicas: between(random, 1, 4) } : {}),
  }
  builder.change = change
  const behaviour = weighted(random, [
    [65, {}],
    [20, { crashAfterMs: between(random, 500, 30_000) }],
    [8, { unhealthy: true }],
    [7, { startMs: between(random, 100, 15_000) }],
  ])
  const own = Math.max(1, replicas)
  return {
    ...{ do: 'canary', ...WEB, change, ...behaviour },
    ...{ replicas: chance(random, 95) ? between(random, 1, own) : own + 1, observe: `${observeMs / 1_000}s` },
  }
}

/** Most canaries may become ready; some are ended early, and some only after a node was declared failed. */
const endAfterMs = (random: Random, observeMs: number): number =>
  weighted(random, [
    [60, 8_000 + observeMs + between(random, 0, 5_000)],
    [28, between(random, 0, 10_000)],
    [12, between(random, 125_000, 140_000)],
  ])

function end(builder: CanaryBuilder): StepAction[] {
  const { random } = builder
  const kind = weighted(random, [
    [40, 'promote'],
    [12, 'force'],
    [12, 'abort'],
    [12, 'update'],
    [5, 'scale'],
    [6, 'restart'],
    [6, 'rollback'],
    [4, 'delete'],
    [3, 'twice'],
    [6, 'same'],
  ])
  switch (kind) {
    case 'promote':
      return [{ do: 'canary-promoted', ...WEB }]
    case 'force':
      return [{ do: 'canary-promoted', ...WEB, force: true }]
    case 'abort':
      return [{ do: 'canary-aborted', ...WEB }]
    case 'restart':
      return [{ do: 'restart', ...WEB }]
    case 'rollback':
      return [{ do: 'rollback', ...WEB }]
    case 'delete':
      return [
        { do: 'delete', ...WEB },
        ...[{ do: 'apply', ...WEB, spec: { replicas: builder.replicas } } as const],
      ]
    case 'twice':
      // Two servers may decide about both at once.
      return [
        { do: 'canary-promoted', ...WEB, force: true },
        { do: 'canary-aborted', ...WEB },
        { do: 'apply', ...WEB, spec: mark(builder) },
      ]
    case 'same':
      // An update that is equal to the change of the canary supersedes it too.
      return [{ do: 'apply', ...WEB, spec: builder.change }]
    case 'scale':
      builder.replicas = chance(random, 15) ? 0 : between(random, 1, 4)
      return [{ do: 'apply', ...WEB, spec: { replicas: builder.replicas } }]
    default:
      return [{ do: 'apply', ...WEB, spec: { ...mark(builder), resources: resources(random) } }]
  }
}

function disturb(builder: CanaryBuilder): StepAction[] {
  const { random, cluster } = builder
  const node = oneOf(random, cluster.nodes).name
  const kind = weighted(random, [
    [20, 'drain'],
    [10, 'uncordon'],
    [22, 'node'],
    [18, 'server'],
    [8, 'agent'],
    [8, 'other'],
    [6, 'quota'],
    [5, 'late'],
    [3, 'take over'],
  ])
  switch (kind) {
    case 'drain':
      return [{ do: 'drain', node }]
    case 'uncordon':
      return [{ do: 'uncordon', node }]
    case 'node':
      return [troubleNode(builder)]
    case 'server':
      return [troubleServer(builder)]
    case 'agent':
      return [{ do: 'agent-killed', node, forMs: between(random, 500, 20_000) }]
    case 'other':
      return [{ do: 'apply', ...OTHER, spec: { ...mark(builder), replicas: between(random, 0, 3) } }]
    case 'quota':
      return [{ do: 'quota', tenant: TENANT, kind: 'containers', limit: between(random, 2, 14) }]
    case 'take over':
      return takeOver(builder).filter((action) => action.do !== 'apply')
    default:
      return (cluster.servers ?? []).map((server) => ({
        ...{ do: 'store-slow', server, forMs: 10_000, delayMs: between(random, 300, 1_500) },
      }))
  }
}
