// Generates scripts of failures around replicated volumes with writers: machines, agents, fencers, engines, networks, clocks
// and servers fail, mostly several at once, while volumes are promoted, handed over and updated. Every failure ends.

import type { ScriptCluster, Step, StepAction } from '../script/script.ts'
import type { Random } from '../time/random.ts'
import { between, chance, oneOf, weighted } from './choose.ts'

const TENANT = 't1'
const SERVERS = ['a', 'b'] as const
const MIB = 1024 ** 2
const LEAST_TURNS = 30
const MOST_TURNS = 110

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
  marks: number
}

/** The actions of a turn, with their times from its start. */
type Turn = readonly (readonly [number, StepAction])[]

export function randomFailureSteps(random: Random, cluster: ScriptCluster): Step[] {
  const volumes = chance(random, 45) ? ['data', 'wal'] : ['data']
  const builder: FailureBuilder = { random, nodes: cluster.nodes.map(({ name }) => name), volumes, marks: 0 }
  const steps: Step[] = opening(builder)
  let at = 25_000
  for (let left = between(random, LEAST_TURNS, MOST_TURNS); left > 0; left -= 1) {
    for (const [afterMs, action] of nextTurn(builder)) steps.push({ at: at + afterMs, ...action })
    at += pauseMs(random)
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

function nextTurn(builder: FailureBuilder): Turn {
  const make = weighted<(builder: FailureBuilder) => Turn>(builder.random, [
    [14, losePower],
    [10, (one) => [[0, failed(one, 'agent-killed', 100, 25_000)]]],
    [5, (one) => [[0, failed(one, 'fencer-killed', 50, 1_500)]]],
    [9, (one) => [[0, failed(one, 'node-frozen', 300, 40_000)]]],
    [7, (one) => [[0, failed(one, 'engine-stopped', 500, 30_000)]]],
    [9, (one) => [[0, failed(one, 'servers-cut', 500, 40_000)]]],
    [13, (one) => [[0, cutPeers(one)]]],
    [9, loseNetwork],
    [4, changeClock],
    [7, loseControlPlane],
    [9, troubleServer],
    [7, handOver],
    [6, update],
  ])
  return make(builder)
}

const nodeOf = ({ random, nodes }: FailureBuilder): string => oneOf(random, nodes)

/** Most failures are short; the others outlast leases and promises. */
const lasting = (random: Random, least: number, most: number): number =>
  chance(random, 40)
    ? between(random, least, Math.max(least, Math.floor(most / 8)))
    : between(random, least, most)

function failed(
  builder: FailureBuilder,
  kind: 'agent-killed' | 'fencer-killed' | 'node-frozen' | 'engine-stopped' | 'servers-cut',
  least: number,
  most: number,
): StepAction {
  return { do: kind, node: nodeOf(builder), forMs: lasting(builder.random, least, most) }
}

function losePower(builder: FailureBuilder): Turn {
  const node = nodeOf(builder)
  const forMs = lasting(builder.random, 500, 60_000)
  return [
    [0, { do: 'node-lost', node }],
    [forMs, { do: 'node-back', node }],
  ]
}

function loseNetwork(builder: FailureBuilder): Turn {
  const node = nodeOf(builder)
  return [
    [0, { do: 'node-cut', node }],
    [lasting(builder.random, 500, 45_000), { do: 'node-healed', node }],
  ]
}

function cutPeers(builder: FailureBuilder): StepAction {
  const { random, nodes } = builder
  const node = nodeOf(builder)
  const to = oneOf(
    random,
    nodes.filter((name) => name !== node),
  )
  return { do: 'peer-cut', node, to, oneWay: chance(random, 50), forMs: lasting(random, 500, 40_000) }
}

function changeClock(builder: FailureBuilder): Turn {
  return [[0, { do: 'clock-rate', node: nodeOf(builder), percent: between(builder.random, 95, 105) }]]
}

/** No server reaches the store; sometimes a machine fails while nothing can be decided. */
function loseControlPlane(builder: FailureBuilder): Turn {
  const { random } = builder
  const forMs = lasting(random, 1_000, 35_000)
  const away = SERVERS.map((server): Turn[number] => [0, { do: 'store-cut', server, forMs }])
  return chance(random, 60) ? [...away, ...losePower(builder)] : away
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
  const { random } = builder
  const node = nodeOf(builder)
  const begun: Turn = [
    [0, { do: 'drain', node }],
    [between(random, 1_000, 25_000), { do: 'uncordon', node }],
  ]
  if (chance(random, 35)) return begun
  const afterMs = between(random, 300, 9_000)
  return [...begun, ...losePower(builder).map(([ms, action]) => [ms + afterMs, action] as const)]
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
