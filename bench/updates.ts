// How long does an update of many replicas on one node take, compared with the same starts and stops sent directly to the
// same engine, in the same order and with the same concurrency? bench/README.md explains how to run and read it.

import { parseArgs } from 'node:util'
import { createDockerEngine } from '@holdfast/agent/adapters/docker/docker-engine'
import { startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { coresWhileIdle } from './lib/cpu.ts'
import { WORKERS_PER_NODE } from './lib/rollouts/rollout-bare.ts'
import { createBareUpdates } from './lib/rollouts/update-bare.ts'
import { createProductUpdates, type UpdateFigures } from './lib/rollouts/update-product.ts'
import { openStepBook, type StepBook } from './lib/rollouts/update-steps.ts'
import { sentItem } from './lib/sent-item.ts'
import { median } from './lib/stats.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '1' },
    replicas: { type: 'string', default: '20' },
    parallelism: { type: 'string', default: '1,5' },
    engines: { type: 'string', default: 'old,new' },
    routed: { type: 'boolean', default: true },
    check: { type: 'boolean', default: false },
  },
  allowNegative: true,
})
const ROUNDS = Number(values.rounds)
const REPLICAS = Number(values.replicas)
const PARALLELISMS = values.parallelism.split(',').map(Number)
const MOST_RATIO = 1.1
/** Two nodes: the first has the older Docker Engine, the second the newer one. */
const NODES = [
  { line: 'old', node: 'acme-1' },
  { line: 'new', node: 'acme-2' },
].filter(({ line }) => values.engines.includes(line))

const cluster = await startLabPlatform({ nodesPerTenant: { acme: 2, globex: 0 } })
const images = await Promise.all(['one', 'two'].map(push))
let reached = true

console.log(
  `updates of ${REPLICAS} replicas on one node, start-first, ${WORKERS_PER_NODE} calls at once, ${ROUNDS} rounds, medians`,
)
console.log(`  cores busy while idle ${(await coresWhileIdle()).toFixed(2)}`)
for (const { line, node } of NODES) await measureNode(line, node)
await cluster.stop()
const wanted = `every ratio at most ${MOST_RATIO.toFixed(2)}`
console.log(reached ? `all targets reached: ${wanted}` : `NOT ALL TARGETS REACHED: ${wanted}`)
if (values.check && !reached) process.exitCode = 1
// Exits explicitly, because the shared engines would keep the process alive.
process.exit()

async function push(page: string): Promise<string> {
  const { digest } = await cluster.lab.registry.pushBusyboxImage('acme/updated', page, { page })
  return `${cluster.lab.registry.host}/acme/updated@${digest}`
}

async function measureNode(line: string, node: string): Promise<void> {
  const book = await openStepBook(cluster.node(node).socketPath)
  const sides = await openSides(node, book)
  for (const parallelism of PARALLELISMS) {
    const plain: UpdateFigures[] = []
    const routed: UpdateFigures[] = []
    const bare: UpdateFigures[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      if (round % 2 === 1) bare.push(await sides.bare(parallelism))
      plain.push(await sides.product(parallelism))
      if (round % 2 === 0) bare.push(await sides.bare(parallelism))
      if (values.routed) routed.push(await sides.routed(parallelism))
    }
    console.log(`  ${line} engine, ${parallelism} at once`)
    const base = median(bare.map(({ ms }) => ms))
    printRatio('bare', bare, base, book)
    printRatio('product', plain, base, book)
    if (values.routed) printRatio('product, routed', routed, base, book)
  }
  await sides.clear()
  book.close()
}

/** Opens both variants: updates through the product, and direct engine calls. Both alternate between two images. */
async function openSides(node: string, book: StepBook) {
  const engine = createDockerEngine(cluster.node(node).socketPath)
  const [one = '', two = ''] = images
  const product = await createProductUpdates(cluster, node, REPLICAS, one, book)
  const itemOne = await sentItem(cluster, node, product.name, one)
  await product.update({ image: two, parallelism: WORKERS_PER_NODE })
  const itemTwo = await sentItem(cluster, node, product.name, two)
  const bare = await createBareUpdates(engine, cluster.platform.globex.id, REPLICAS, itemTwo, book)
  let turns = { product: 0, bare: 0 }
  const update = (parallelism: number): Promise<UpdateFigures> => {
    turns = { ...turns, product: turns.product + 1 }
    return product.update({ image: turns.product % 2 === 1 ? one : two, parallelism })
  }
  return {
    product: update,
    async routed(parallelism: number): Promise<UpdateFigures> {
      await product.setRouted(true)
      const figures = await update(parallelism)
      await product.setRouted(false)
      return figures
    },
    bare(parallelism: number): Promise<UpdateFigures> {
      turns = { ...turns, bare: turns.bare + 1 }
      return bare.update(turns.bare % 2 === 1 ? itemOne : itemTwo, parallelism)
    },
    async clear(): Promise<void> {
      await Promise.all([product.clear(), bare.clear()])
    },
  }
}

function printRatio(about: string, rounds: readonly UpdateFigures[], base: number, book: StepBook): void {
  const ms = median(rounds.map((round) => round.ms))
  const ratio = ms / base
  reached &&= ratio <= MOST_RATIO
  console.log(`    ${about.padEnd(16)} ${ms.toFixed(0).padStart(6)} ms  ratio ${ratio.toFixed(2)}`)
  console.log(`      ms: ${book.describe(rounds.flatMap(({ successions }) => successions))}`)
}
