// How long does a rollout take from POST to running, compared with the same creates and starts sent directly to the same
// engines, and from POST to ready for an image that is healthy at once? bench/README.md explains how to run and read it.

import { parseArgs } from 'node:util'
import { createDockerEngine } from '@holdfast/agent/adapters/docker/docker-engine'
import type { DesiredItem } from '@holdfast/contract'
import { startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { coresWhileIdle } from './lib/cpu.ts'
import { createBareSide, WORKERS_PER_NODE } from './lib/rollouts/rollout-bare.ts'
import { createProductSide } from './lib/rollouts/rollout-product.ts'
import { countReports } from './lib/rollouts/rollout-reports.ts'
import { measureSwarm } from './lib/rollouts/rollout-swarm.ts'
import { watchStarts } from './lib/rollouts/rollout-watch.ts'
import { median } from './lib/stats.ts'

const { values } = parseArgs({
  options: {
    full: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    /** One replica on one node. */
    tiny: { type: 'boolean', default: false },
    swarm: { type: 'boolean', default: true },
    check: { type: 'boolean', default: false },
  },
  allowNegative: true,
})
const ROUNDS = Number(values.rounds ?? (values.full ? 5 : 1))
/** Limits of the measured times on this machine; bench/README.md explains the numbers. */
const MOST_RATIO = 1.15
const MOST_BEYOND_MS = 1500

/** Names of the nodes. They alternate between the older and the newer Docker Engine. */
const NODES = values.tiny ? ['acme-1'] : ['acme-1', 'acme-2', 'acme-3']
const OLD = NODES.slice(0, 1)
const NEW = NODES.slice(1, 2)

interface Cell {
  readonly about: string
  readonly replicas: number
  readonly nodes: readonly string[]
  readonly healthCheck: boolean
}

const healthCheck = false
const onOld = (replicas: number): Cell => ({
  about: `${replicas} on one node, old engine`,
  replicas,
  nodes: OLD,
  healthCheck,
})
const onNew = (replicas: number): Cell => ({
  about: `${replicas} on one node, new engine`,
  replicas,
  nodes: NEW,
  healthCheck,
})
const onThree = (replicas: number): Cell => ({
  about: `${replicas} over three nodes`,
  replicas,
  nodes: NODES,
  healthCheck,
})
const CELLS = values.tiny
  ? [onOld(1)]
  : values.full
    ? [onOld(1), onNew(1), onOld(20), onNew(20), onThree(60)]
    : [onOld(1), onOld(8), onThree(12)]
const READY_CELLS = (values.tiny ? [onOld(1)] : [onOld(1), onNew(1)]).map((cell) => ({
  ...cell,
  healthCheck: true,
}))
const SWARM_SIZES = values.full ? [1, 20] : [1, 8]

const cluster = await startLabPlatform({ nodesPerTenant: { acme: NODES.length, globex: 0 } })
const engineOf = new Map(NODES.map((name) => [name, createDockerEngine(cluster.node(name).socketPath)]))
const engines = [...engineOf.values()]
const watch = await watchStarts(engines)
const product = await createProductSide(cluster, engines)
const reports = countReports(cluster.platform.server.store)
const bare = await createBareSide(engines, cluster.platform.globex.id)
const items = { plain: await warmUp(false), checked: await warmUp(true) }

/** Pulls the image and creates the networks on all nodes. Returns the desired item from which containers are created. */
async function warmUp(healthCheck: boolean): Promise<DesiredItem> {
  await rollOut({ ...onThree(NODES.length), healthCheck })
  const item = await product.itemOn(NODES[0] ?? '')
  await product.clear()
  await bare.rollOut(engines, 1, item)
  await bare.clear()
  return item
}

interface Times {
  readonly running: number
  /** Number of stored status reports of the deployment's replicas until the last replica ran. */
  readonly reports: number
  /** Time from POST to ready; only measured for a deployment with a health check. */
  readonly ready: number
}

async function rollOut({ replicas, nodes, healthCheck }: Cell): Promise<Times> {
  const started = watch.untilStarted(replicas)
  const reportsBefore = reports.count()
  const began = performance.now()
  await product.rollOut({ replicas, node: nodes.length === 1 ? nodes[0] : undefined, healthCheck })
  if (healthCheck) await product.untilReady(replicas)
  const ready = performance.now() - began
  const startedAt = await started
  const times = { running: startedAt - began, ready, reports: reports.count() - reportsBefore }
  const running = await product.running()
  if (running !== replicas) throw new Error(`${running} of ${replicas} run`)
  return times
}

async function measureProduct(cell: Cell): Promise<Times> {
  const times = await rollOut(cell)
  await product.clear()
  return times
}

async function measureBare({ replicas, nodes, healthCheck }: Cell): Promise<number> {
  const chosen = nodes.flatMap((name) => engineOf.get(name) ?? [])
  const started = watch.untilStarted(replicas)
  const began = performance.now()
  await bare.rollOut(chosen, replicas / nodes.length, healthCheck ? items.checked : items.plain)
  const elapsed = (await started) - began
  await bare.clear()
  return elapsed
}

interface Figures extends Times {
  readonly bare: number
}

/** Measures a rollout through the product and one sent directly to the engines. Their order changes with each round. */
async function measure(cell: Cell): Promise<Figures> {
  const ours: Times[] = []
  const theirs: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    if (round % 2 === 1) theirs.push(await measureBare(cell))
    ours.push(await measureProduct(cell))
    if (round % 2 === 0) theirs.push(await measureBare(cell))
  }
  const of = (pick: (times: Times) => number): number => median(ours.map(pick))
  return {
    running: of(({ running }) => running),
    ready: of(({ ready }) => ready),
    reports: of(({ reports }) => reports),
    bare: median(theirs),
  }
}

const ms = (value: number): string => `${value.toFixed(0)} ms`.padStart(9)
const line = (about: string, ...rest: readonly string[]): void =>
  console.log(`  ${about.padEnd(30)} ${rest.join('  ')}`)
let reached = true

console.log(`rollouts, ${WORKERS_PER_NODE} creates and starts at once on a node, ${ROUNDS} rounds, medians`)
console.log(`  cores busy while idle ${(await coresWhileIdle()).toFixed(2)}`)
for (const cell of CELLS) {
  const { running, bare, reports } = await measure(cell)
  const ratio = running / bare
  reached &&= ratio <= MOST_RATIO
  const rest = [`bare ${ms(bare)}`, `ratio ${ratio.toFixed(2)}`, `${reports} reports`]
  line(cell.about, `POST to running ${ms(running)}`, ...rest)
}
for (const cell of READY_CELLS) {
  const { ready, bare } = await measure(cell)
  reached &&= ready - bare <= MOST_BEYOND_MS
  line(cell.about, `POST to ready   ${ms(ready)}`, `bare ${ms(bare)}`, `beyond it ${ms(ready - bare)}`)
}
watch.close()
reports.close()
await cluster.stop()
if (values.swarm) await compareSwarm()
const wanted = `ratio at most ${MOST_RATIO}, ready at most ${MOST_BEYOND_MS} ms after the bare start`
console.log(reached ? `all targets reached: ${wanted}` : `NOT ALL TARGETS REACHED: ${wanted}`)
if (values.check && !reached) process.exitCode = 1
// Exits explicitly, because the shared engines would keep the process alive.
process.exit()

/** Measures Docker Swarm for comparison, without a target. If Swarm cannot be started, the reason is printed. */
async function compareSwarm(): Promise<void> {
  try {
    for (const { replicas, swarm, bare } of await measureSwarm(SWARM_SIZES, ROUNDS)) {
      const rest = [`bare ${ms(bare)}`, `ratio ${(swarm / bare).toFixed(2)}`]
      line(`${replicas} by Docker Swarm`, `to running      ${ms(swarm)}`, ...rest)
    }
  } catch (error) {
    console.log(`  Docker Swarm could not be measured: ${String(error)}`)
  }
}
