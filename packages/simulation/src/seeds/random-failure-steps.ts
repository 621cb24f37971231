// Generates scripts of failures around replicated volumes with writers: machines, agents, fencers, engines, networks, clocks
// and servers fail, mostly several at once, while volumes are promoted, handed over and updated. Every failure ends.

import { PRIMARY_OF, type ScriptCluster, type Step, type StepAction } from '../script/script.ts'
import type { Random } from '../time/random.ts'
import { between, chance, oneOf, weighted } from './choose.ts'

const TENANT = 't1'
const SERVERS = ['a', 'b'] as const
const MIB = 1024 ** 2
const LEAST_TURNS = 20
const MOST_TURNS = 100
const MOST_STORM_TURNS = 500

/** A cluster in which every node accepts every copy. */
export const randomFailureCluster = (random: Random): ScriptCluster => ({
  servers: SERVERS,
  tenants: [{ name: TENANT }],
  nodes: Array.from({ length: between(random, 3, 4) }, (_, index) => ({
    name: `n${index + 1}`,
    tenant: TENANT,
    poolBytes: 1024 * MIB,
  })),
})

interface FailureBuilder {
  readonly random: Random
  readonly nodes: readonly string[]
  readonly volumes: readonly string[]
  /** Whether failures follow each other closely and are short. */
  readonly isStorm: boolean
  marks: number
}

/** The actions of a turn, with their times from its start. */
type Turn = readonly (readonly [number, StepAction])[]

export function randomFailureSteps(random: Random, cluster: ScriptCluster): Step[] {
  const volumes = chance(random, 45) ? ['data', 'wal'] : ['data']
  const isStorm = chance(random, 60)
  const nodes = cluster.nodes.map(({ name }) => name)
  const builder: FailureBuilder = { random, nodes, volumes, isStorm, marks: 0 }
  const steps: Step[] = opening(builder)
  let at = 25_000
  const turns = between(random, LEAST_TURNS, isStorm ? MOST_STORM_TURNS : MOST_TURNS)
  for (let left = turns; left > 0; left -= 1) {
    for (const [afterMs, action] of nextTurns(builder)) steps.push({ at: at + afterMs, ...action })
    at += isStorm ? stormPauseMs(random) : pauseMs(random)
  }
  const last = Math.max(...steps.map((step) => step.at))
  const open = builder.nodes.map((node): Step => ({ at: last + 1_000, do: 'uncordon', node }))
  return [...steps, ...open].sort((one, other) => one.at - other.at)
}

/** Failures overlap most of the time. In a longer pause, copies become current and promotable again. */
const pauseMs = (random: Random): number =>
  weighted(random, [
    [32, between(random, 0, 300)],
    [32, between(random, 300, 3_000)],
    [22, between(random, 3_000, 12_000)],
    [14, between(random, 20_000, 50_000)],
  ])

/** In a storm there is mostly no time to recover, and now and then a calm. */
const stormPauseMs = (random: Random): number =>
  weighted(random, [
    [70, between(random, 0, 400)],
    [27, between(random, 400, 4_000)],
    [3, between(random, 25_000, 45_000)],
  ])

function opening({ random, nodes, volumes }: FailureBuilder): Step[] {
  const on = oneOf(random, nodes)
  const replicas = chance(random, 60) ? 1 : 2
  const spec = { class: 'replicated', sizeBytes: 32 * MIB, replicas }
  const created = volumes.map(
    (volume): Step => ({ at: 1_000, do: 'volume', tenant: TENANT, volume, on, spec }),
  )
  return [
    ...created,
    { at: 3_000, do: 'apply', tenant: TENANT, deployment: 'db', spec: { volumes: volumes.map(mount) } },
  ]
}

const mount = (volume: string, index: number) => ({
  volume,
  target: `/data${index}`,
  type: 'volume',
  readOnly: false,
})

/** One failure, or several within moments. */
function nextTurns(builder: FailureBuilder): Turn {
  const { random } = builder
  const count = weighted(random, [
    [40, 1],
    [25, 2],
    [20, 3],
    [15, 5],
  ])
  return Array.from({ length: count }, () => {
    const afterMs = between(random, 0, 1_500)
    return nextTurn(builder).map(([ms, action]) => [ms + afterMs, action] as const)
  }).flat()
}

function nextTurn(builder: FailureBuilder): Turn {
  const make = weighted<(builder: FailureBuilder) => Turn>(builder.random, [
    [14, (one) => [[0, failed(one, 'power-cut', 500, 60_000)]]],
    [10, (one) => [[0, failed(one, 'agent-killed', 100, 25_000)]]],
    [5, (one) => [[0, failed(one, 'fencer-killed', 50, 1_500)]]],
    [9, (one) => [[0, failed(one, 'node-frozen', 300, 40_000)]]],
    [7, (one) => [[0, failed(one, 'engine-stopped', 500, 30_000)]]],
    [9, (one) => [[0, failed(one, 'servers-cut', 500, 40_000)]]],
    [13, (one) => [[0, cutPeers(one)]]],
    [9, (one) => [[0, failed(one, 'network-cut', 500, 45_000)]]],
    [4, changeClock],
    [7, loseControlPlane],
    [9, troubleServer],
    [7, handOver],
    [6, update],
  ])
  return make(builder)
}

/** A node, often the one with the primary. */
const nodeOf = ({ random, nodes, volumes }: FailureBuilder): string =>
  chance(random, 40) ? `${PRIMARY_OF}${oneOf(random, volumes)}` : oneOf(random, nodes)

/** Many failures are short; the others outlast leases and promises. */
const lasting = ({ random, isStorm }: FailureBuilder, least: number, most: number): number =>
  chance(random, isStorm ? 85 : 40)
    ? between(random, least, Math.max(least, Math.floor(most / 10)))
    : between(random, least, most)

function failed(
  builder: FailureBuilder,
  kind: Exclude<
    Extract<StepAction, { node: string; forMs: number }>['do'],
    'peer-cut' | 'wall-step' | 'network-taken' | 'cannot-create'
  >,
  least: number,
  most: number,
): StepAction {
  return { do: kind, node: nodeOf(builder), forMs: lasting(builder, least, most) }
}

function cutPeers(builder: FailureBuilder): StepAction {
  const { random, nodes } = builder
  const node = nodeOf(builder)
  const to = oneOf(
    random,
    nodes.filter((name) => name !== node),
  )
  return { do: 'peer-cut', node, to, oneWay: chance(random, 50), forMs: lasting(builder, 500, 40_000) }
}

function changeClock(builder: FailureBuilder): Turn {
  return [[0, { do: 'clock-rate', node: nodeOf(builder), percent: between(builder.random, 95, 105) }]]
}

/** No server reaches the store; sometimes a machine fails while nothing can be decided. */
function loseControlPlane(builder: FailureBuilder): Turn {
  const { random } = builder
  const forMs = lasting(builder, 1_000, 35_000)
  const away = SERVERS.map((server): Turn[number] => [0, { do: 'store-cut', server, forMs }])
  return chance(random, 60) ? [...away, [0, failed(builder, 'power-cut', 500, 60_000)]] : away
}

function troubleServer({ random }: FailureBuilder): Turn {
  const server = oneOf(random, SERVERS)
  const forMs = between(random, 500, 25_000)
  const kind = random.below(4)
  if (kind === 0)
    return [
      [0, { do: 'server-killed', server }],
      [forMs, { do: 'server-started', server }],
    ]
  if (kind === 1) return [[0, { do: 'server-paused', server, forMs }]]
  if (kind === 2) return [[0, { do: 'store-flaky', server, forMs }]]
  return [[0, { do: 'store-slow', server, forMs, delayMs: between(random, 20, 1_500) }]]
}

/** A drain, mostly with a failure while the volumes are handed over, and its end. */
function handOver(builder: FailureBuilder): Turn {
  const { random, nodes } = builder
  const node = oneOf(random, nodes)
  const begun: Turn = [
    [0, { do: 'drain', node }],
    [between(random, 1_000, 25_000), { do: 'uncordon', node }],
  ]
  if (chance(random, 35)) return begun
  const afterMs = between(random, 300, 9_000)
  return [...begun, [afterMs, failed(builder, 'power-cut', 500, 60_000)]]
}

/** A new revision of the writer, now and then without or with other volumes, or other copies. */
function update(builder: FailureBuilder): Turn {
  const { random, volumes } = builder
  builder.marks += 1
  if (chance(random, 25)) {
    const volume = oneOf(random, volumes)
    return [[0, { do: 'volume-replicas', tenant: TENANT, volume, replicas: between(random, 1, 2) }]]
  }
  const mounted = chance(random, 75) ? volumes : volumes.slice(0, 1)
  const spec = { environment: { MARK: String(builder.marks) }, volumes: mounted.map(mount) }
  return [[0, { do: 'apply', tenant: TENANT, deployment: 'db', spec }]]
}
