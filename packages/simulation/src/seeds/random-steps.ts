// Generates the random steps of a script, often several within one second, so that faults overlap. Every fault is over at
// the end, so that the cluster must settle.

import { AGENT_CAPABILITIES } from '@holdfast/contract'
import { hasVolumes } from '../cluster/given-world.ts'
import type { ScriptCluster, Step, StepAction } from '../script/script.ts'
import type { Random } from '../time/random.ts'
import { between, chance, oneOf, weighted } from './choose.ts'
import { COUNTRIES, randomLabels } from './random-cluster.ts'
import { type Asked, randomDependencies } from './random-dependencies.ts'
import { randomSpec } from './random-spec.ts'

export const NAMES = ['web', 'db', 'job'] as const
const LEAST_TURNS = 6
const MOST_TURNS = 16
const HEALED_AFTER_MS = 5_000

export interface ScriptBuilder {
  readonly random: Random
  readonly cluster: ScriptCluster
  readonly off: Set<string>
  readonly cut: Set<string>
  /** Nodes whose agent lacks the capability for health checks. */
  readonly downgraded: Set<string>
  readonly dead: Set<string>
  /** Requested deployments by tenant. */
  readonly asked: Map<string, Asked>
  marks: number
}

export const newBuilder = (random: Random, cluster: ScriptCluster): ScriptBuilder => ({
  random,
  cluster,
  off: new Set(),
  cut: new Set(),
  downgraded: new Set(),
  dead: new Set(),
  asked: new Map(cluster.tenants.map(({ name }) => [name, new Map()])),
  marks: 0,
})

export function randomSteps(random: Random, cluster: ScriptCluster): Step[] {
  const builder = newBuilder(random, cluster)
  const steps: Step[] = []
  let at = 2_000
  for (let left = between(random, LEAST_TURNS, MOST_TURNS); left > 0; left -= 1) {
    for (const action of steps.length < 2 ? [apply(builder)] : nextActions(builder)) {
      steps.push({ at, ...action })
      at += between(random, 0, 300)
    }
    at += pauseMs(random)
  }
  return [...steps, ...healedAt(builder, at)]
}

/** The steps that end every fault, some time after the last other step. */
export const healedAt = (builder: ScriptBuilder, at: number): Step[] =>
  heal(builder).map((action): Step => ({ at: at + HEALED_AFTER_MS, ...action }))

const pauseMs = (random: Random): number =>
  weighted(random, [
    [45, 0],
    [35, between(random, 300, 6_000)],
    [17, between(random, 6_000, 30_000)],
    // A rare, long pause between two steps, after which an unreachable node is declared failed.
    [3, between(random, 125_000, 140_000)],
  ])

const serversOf = ({ cluster }: ScriptBuilder): readonly string[] => cluster.servers ?? ['a', 'b']

function nextActions(builder: ScriptBuilder): StepAction[] {
  const make = weighted<(builder: ScriptBuilder) => StepAction | undefined | StepAction[]>(builder.random, [
    [28, apply],
    [5, remove],
    [4, behave],
    [13, troubleNode],
    [12, changeNode],
    [16, troubleServer],
    [8, changeQuota],
    [9, decideBlindly],
    [4, takeOver],
    [3, missHistory],
  ])
  return [make(builder) ?? []].flat()
}

/** Delays every server's cache while one tenant sends many requests, so that controllers decide on outdated records. */
export function decideBlindly(builder: ScriptBuilder): StepAction[] {
  const { random } = builder
  const ofOne: ScriptBuilder = {
    ...builder,
    cluster: partOf(builder.cluster, oneOf(random, builder.cluster.tenants).name),
  }
  const late = { forMs: 10_000, delayMs: between(random, 300, 1_500) }
  const requests = Array.from({ length: between(random, 3, 6) }, () =>
    weighted(random, [
      [45, apply],
      [45, changeNode],
      [10, changeQuota],
    ])(ofOne),
  )
  builder.marks = ofOne.marks
  const slow = serversOf(builder).map((server): StepAction => ({ do: 'store-slow', server, ...late }))
  return [...slow, ...requests.flatMap((action) => action ?? [])]
}

const partOf = (cluster: ScriptCluster, tenant: string): ScriptCluster => ({
  ...cluster,
  tenants: cluster.tenants.filter(({ name }) => name === tenant),
  nodes: cluster.nodes.filter((node) => node.tenant === tenant),
})

/** Stops a server until its shards have moved to another, and restarts it while there is work. */
export function takeOver(builder: ScriptBuilder): StepAction[] {
  const { random } = builder
  const server = oneOf(random, serversOf(builder))
  const forMs = between(random, 11_500, 14_500)
  const away: StepAction = chance(random, 50)
    ? { do: 'server-paused', server, forMs }
    : { do: 'store-cut', server, forMs }
  return [apply(builder), away, apply(builder), apply(builder)]
}

/** Cuts a server off from the store until the history that it missed is compacted, so that it must list all records. */
export function missHistory(builder: ScriptBuilder): StepAction[] {
  const { random } = builder
  const server = oneOf(random, serversOf(builder))
  const away: StepAction = { do: 'store-cut', server, forMs: between(random, 1_000, 10_000) }
  const change = changeNode(builder) ?? remove(builder)
  return [away, apply(builder), change, { do: 'store-compacted' }]
}

export function apply(builder: ScriptBuilder): StepAction {
  const { random, cluster } = builder
  const deployment = oneOf(random, NAMES)
  const { name: tenant } = oneOf(random, cluster.tenants)
  builder.marks += 1
  const spec = randomSpec(random, NAMES, deployment, builder.marks)
  const asked: Asked = builder.asked.get(tenant) ?? new Map()
  const gates = randomDependencies(random, NAMES, deployment, asked)
  const isChecked = spec['healthCheck'] !== undefined || asked.get(deployment)?.isChecked === true
  asked.set(deployment, { isChecked })
  return { do: 'apply', tenant, deployment, spec: { ...spec, ...gates } }
}

export function remove({ random, cluster, asked }: ScriptBuilder): StepAction {
  const { name: tenant } = oneOf(random, cluster.tenants)
  const deployment = oneOf(random, NAMES)
  asked.get(tenant)?.delete(deployment)
  return { do: 'delete', tenant, deployment }
}

export function behave({ random, cluster }: ScriptBuilder): StepAction {
  const of = { tenant: oneOf(random, cluster.tenants).name, deployment: oneOf(random, NAMES) }
  const kind = random.below(3)
  if (kind === 0) return { do: 'behave', ...of, unhealthy: true }
  if (kind === 1) return { do: 'behave', ...of, crashAfterMs: between(random, 500, 20_000) }
  return { do: 'behave', ...of, startMs: between(random, 100, 15_000) }
}

/** Ends the current fault of a random node, or starts a fault. */
export function troubleNode({ random, cluster, off, cut }: ScriptBuilder): StepAction {
  const node = oneOf(random, cluster.nodes).name
  if (off.delete(node)) return { do: 'node-back', node }
  if (cut.delete(node)) return { do: 'node-healed', node }
  const kind = random.below(5)
  if (kind < 2) return { do: 'agent-restart', node }
  if (kind === 2) {
    off.add(node)
    return { do: 'node-lost', node }
  }
  cut.add(node)
  return { do: 'node-cut', node }
}

/** Upgrades the agent of a random node if it was downgraded; otherwise downgrades it. */
function changeAgent({ random, cluster, off, downgraded }: ScriptBuilder): StepAction | undefined {
  const node = oneOf(random, cluster.nodes).name
  if (off.has(node)) return undefined
  const all = hasVolumes({ cluster }) ? AGENT_CAPABILITIES : ['health_check', 'limits']
  if (downgraded.delete(node)) return { do: 'agent-version', node, capabilities: all }
  downgraded.add(node)
  return { do: 'agent-version', node, capabilities: all.filter((one) => one !== 'health_check') }
}

export function changeNode(builder: ScriptBuilder): StepAction | undefined {
  const { random, cluster, off, cut } = builder
  if (chance(random, 12)) return changeAgent(builder)
  const { name: node } = oneOf(random, cluster.nodes)
  const isThere = !off.has(node) && !cut.has(node)
  const country = oneOf(random, COUNTRIES)
  return weighted<StepAction | undefined>(random, [
    [40, isThere ? { do: 'labels', node, labels: randomLabels(random, country) } : undefined],
    [15, { do: 'cordon', node }],
    [20, { do: 'uncordon', node }],
    [15, { do: 'drain', node }],
    [12, { do: 'node-role', node, controlPlane: chance(random, 50) }],
    [10, isThere ? { do: 're-enroll', node, attested: { country } } : undefined],
  ])
}

export function troubleServer(builder: ScriptBuilder): StepAction {
  const { random, dead } = builder
  const server = oneOf(random, serversOf(builder))
  if (dead.delete(server)) return { do: 'server-started', server }
  const kind = weighted(random, [
    [15, 'killed'],
    [25, 'paused'],
    [15, 'cut'],
    [20, 'flaky'],
    [25, 'slow'],
  ])
  if (kind === 'killed' && dead.size + 1 < serversOf(builder).length) {
    dead.add(server)
    return { do: 'server-killed', server }
  }
  if (kind === 'paused') return { do: 'server-paused', server, forMs: between(random, 500, 30_000) }
  if (kind === 'cut') return { do: 'store-cut', server, forMs: between(random, 500, 25_000) }
  if (kind === 'slow')
    return {
      do: 'store-slow',
      server,
      forMs: between(random, 1_000, 30_000),
      delayMs: between(random, 20, 1_500),
    }
  return { do: 'store-flaky', server, forMs: between(random, 500, 20_000) }
}

function changeQuota({ random, cluster }: ScriptBuilder): StepAction {
  const { name: tenant } = oneOf(random, cluster.tenants)
  const kind = chance(random, 75) ? 'containers' : 'deployments'
  return { do: 'quota', tenant, kind, limit: between(random, 0, 9) }
}

const heal = ({ off, cut, downgraded, dead }: ScriptBuilder): StepAction[] => [
  ...[...downgraded].map((node): StepAction => ({ do: 'agent-version', node })),
  ...[...off].map((node): StepAction => ({ do: 'node-back', node })),
  ...[...cut].map((node): StepAction => ({ do: 'node-healed', node })),
  ...[...dead].map((server): StepAction => ({ do: 'server-started', server })),
]
