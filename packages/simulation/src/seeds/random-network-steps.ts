// Generates scripts with networks: they are created, named by deployments and jobs, and deleted, while engines lose them, other
// programs use their names, and nodes, agents and servers fail. Every fault ends.

import type { ScriptCluster, Step, StepAction } from '../script/script.ts'
import type { Random } from '../time/random.ts'
import { between, chance, oneOf, weighted } from './choose.ts'
import { CAPABILITIES } from './random-job-steps.ts'
import { healedAt, newBuilder, type ScriptBuilder, troubleNode, troubleServer } from './random-steps.ts'

const TENANT = 't1'
const NETWORKS = ['front', 'back', 'data'] as const
const DEPLOYMENTS = ['web', 'api'] as const
const LEAST_TURNS = 8
const MOST_TURNS = 14
const UPGRADED_AT_MS = 500
/** The capabilities of agents that know networks, and of those before. */
const OLDER = CAPABILITIES
const NEWER = [...CAPABILITIES, 'networks']

interface NetworkBuilder extends ScriptBuilder {
  /** The node on which each network was last created. */
  readonly on: Map<string, string>
  /** Nodes whose agent is too old for networks, and those that were removed. */
  readonly older: Set<string>
  readonly removed: Set<string>
  jobs: number
}

export const randomNetworkCluster = (random: Random): ScriptCluster => ({
  servers: ['a', 'b'],
  tenants: [{ name: TENANT, ...(chance(random, 25) ? { quotas: { networks: 2 } } : {}) }],
  nodes: Array.from({ length: between(random, 1, 3) }, (_, index) => ({
    name: `n${index + 1}`,
    tenant: TENANT,
  })),
})

export function randomNetworkSteps(random: Random, cluster: ScriptCluster): Step[] {
  const builder: NetworkBuilder = {
    ...newBuilder(random, cluster),
    ...{ on: new Map(), older: new Set(), removed: new Set(), jobs: 0 },
  }
  const steps: Step[] = cluster.nodes.map(({ name: node }) => upgraded(UPGRADED_AT_MS, node))
  let at = 2_000
  for (const name of NETWORKS.slice(0, between(random, 1, 2))) {
    steps.push({ at, ...create(builder, name) })
    at += between(random, 0, 2_000)
  }
  for (let left = between(random, LEAST_TURNS, MOST_TURNS); left > 0; left -= 1) {
    for (const action of nextActions(builder)) {
      steps.push({ at, ...action })
      at += between(random, 0, 300)
    }
    at += pauseMs(random)
  }
  return [...steps, ...endAt(builder, at)].sort((one, other) => one.at - other.at)
}

const upgraded = (at: number, node: string): Step => ({ at, do: 'agent-version', node, capabilities: NEWER })

/** Ends every fault, and enrolls the machines that were removed. */
function endAt(builder: NetworkBuilder, at: number): Step[] {
  const healed = healedAt(builder, at)
  const late = Math.max(at, ...healed.map((step) => step.at)) + 1_000
  return [
    ...healed,
    ...[...builder.older].map((node) => upgraded(late, node)),
    ...[...builder.removed].map((node): Step => ({ at: late, do: 're-enroll', node })),
  ]
}

const pauseMs = (random: Random): number =>
  weighted(random, [
    [50, between(random, 0, 500)],
    [35, between(random, 500, 6_000)],
    [13, between(random, 6_000, 20_000)],
    [2, between(random, 125_000, 140_000)],
  ])

function nextActions(builder: NetworkBuilder): StepAction[] {
  const make = weighted<(builder: NetworkBuilder) => StepAction[]>(builder.random, [
    [22, apply],
    [8, job],
    [12, (each) => [create(each, oneOf(each.random, NETWORKS))]],
    [10, remove],
    [8, race],
    [10, lose],
    [6, takeName],
    [14, troubleAgent],
    [8, (each) => [troubleServer(each)]],
    [8, changeNode],
  ])
  return make(builder)
}

function create({ random, cluster, on }: NetworkBuilder, network: string): StepAction {
  const { name: node } = oneOf(random, cluster.nodes)
  on.set(network, node)
  const spec = chance(random, 40) ? { internal: true } : {}
  return { do: 'network', tenant: TENANT, network, on: node, spec }
}

/** Mostly names that are on one node. */
function namedNetworks({ random, on }: NetworkBuilder): string[] {
  const first = oneOf(random, NETWORKS)
  const beside = NETWORKS.filter((name) => name !== first && on.get(name) === on.get(first))
  return [first, ...(beside.length > 0 && chance(random, 45) ? [oneOf(random, beside)] : [])]
}

function apply(builder: NetworkBuilder): StepAction[] {
  const { random } = builder
  const deployment = oneOf(random, DEPLOYMENTS)
  if (chance(random, 12)) return [{ do: 'delete', tenant: TENANT, deployment }]
  builder.marks += 1
  const spec = {
    replicas: between(random, 1, 3),
    environment: { MARK: String(builder.marks) },
    networks: chance(random, 80) ? namedNetworks(builder) : [],
    update: { failureAction: chance(random, 50) ? 'rollback' : 'pause', progressDeadline: '40s' },
  }
  return [{ do: 'apply', tenant: TENANT, deployment, spec }]
}

function job(builder: NetworkBuilder): StepAction[] {
  const { random } = builder
  builder.jobs += 1
  const spec = { retries: between(random, 0, 2), stopGracePeriod: '1s', networks: namedNetworks(builder) }
  const runMs = between(random, 200, 12_000)
  return [
    { do: 'job', tenant: TENANT, job: `j${builder.jobs}`, runMs, exitCode: chance(random, 70) ? 0 : 1, spec },
  ]
}

const remove = ({ random }: NetworkBuilder): StepAction[] => [
  { do: 'network-delete', tenant: TENANT, network: oneOf(random, NETWORKS) },
]

/** Two requests of which one must be rejected reach servers whose caches are late. */
function race(builder: NetworkBuilder): StepAction[] {
  const { random, cluster } = builder
  const network = oneOf(random, NETWORKS)
  const late = { forMs: 4_000, delayMs: between(random, 200, 1_000) }
  const slow = (cluster.servers ?? []).map((server): StepAction => ({ do: 'store-slow', server, ...late }))
  builder.marks += 1
  const spec = { environment: { MARK: String(builder.marks) }, networks: [network] }
  const using: StepAction = chance(random, 65)
    ? { do: 'apply', tenant: TENANT, deployment: oneOf(random, DEPLOYMENTS), spec }
    : { do: 'job', tenant: TENANT, job: `r${builder.marks}`, runMs: 3_000, spec: { networks: [network] } }
  const deleting: StepAction = { do: 'network-delete', tenant: TENANT, network }
  return [...slow, ...(chance(random, 50) ? [using, deleting] : [deleting, using])]
}

/** The engine loses a network, often while its agent is about to die. */
function lose({ random, on, cluster }: NetworkBuilder): StepAction[] {
  const network = oneOf(random, NETWORKS)
  const node = on.get(network) ?? oneOf(random, cluster.nodes).name
  const lost: StepAction = { do: 'network-lost', node, network }
  if (chance(random, 50)) return [lost]
  const killed: StepAction = { do: 'agent-killed', node, forMs: between(random, 200, 5_000) }
  return chance(random, 50) ? [lost, killed] : [{ do: 'agent-restart', node }, lost, killed]
}

function takeName({ random, on, cluster }: NetworkBuilder): StepAction[] {
  const network = oneOf(random, NETWORKS)
  const node = on.get(network) ?? oneOf(random, cluster.nodes).name
  const taken: StepAction = { do: 'network-taken', node, network, forMs: between(random, 1_000, 25_000) }
  return chance(random, 50) ? [{ do: 'network-lost', node, network }, taken] : [taken]
}

function troubleAgent(builder: NetworkBuilder): StepAction[] {
  const { random, cluster, older, off } = builder
  const { name: node } = oneOf(random, cluster.nodes)
  const kind = random.below(4)
  if (kind === 0) return [troubleNode(builder)]
  if (kind === 1) return [{ do: 'engine-stopped', node, forMs: between(random, 500, 9_000) }]
  if (kind === 2 && !off.has(node)) {
    if (older.delete(node)) return [{ do: 'agent-version', node, capabilities: NEWER }]
    older.add(node)
    return [{ do: 'agent-version', node, capabilities: OLDER }]
  }
  return [{ do: 'agent-killed', node, forMs: between(random, 200, 10_000) }]
}

function changeNode({ random, cluster, removed }: NetworkBuilder): StepAction[] {
  const { name: node } = oneOf(random, cluster.nodes)
  const kind = weighted<'cordon' | 'uncordon' | 'drain' | 'remove'>(random, [
    [25, 'cordon'],
    [35, 'uncordon'],
    [15, 'drain'],
    [25, 'remove'],
  ])
  if (kind !== 'remove') return [{ do: kind, node }]
  if (removed.delete(node)) return [{ do: 're-enroll', node }]
  removed.add(node)
  return [{ do: 'node-removed', node, force: chance(random, 50) }]
}
