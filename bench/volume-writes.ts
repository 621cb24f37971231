// How fast is a database on a volume, with and without replication, compared with a subvolume and a container made by
// hand? bench/README.md explains how to run and read it.

import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { runCommand } from '@holdfast/testkit/run-command'
import { startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { coresWhileIdle } from './lib/cpu.ts'
import { median } from './lib/stats.ts'
import { type Database, startByHand, startOnVolume } from './lib/volumes/databases.ts'
import { agentPid, nodeIds } from './lib/volumes/lab-volumes.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '10' },
    check: { type: 'boolean', default: false },
  },
})
const ROUNDS = Number(values.rounds)
const SECONDS = Number(values.seconds)
/** Least transactions per second, as shares of those by hand. */
const LEAST = { volume: 0.97, replicated: 0.85 }

const cluster = await startLabPlatform({
  nodesPerTenant: { acme: 2, globex: 0 },
  engine: 'new',
  poolSize: '6Gi',
  settings: { volumes: { enabled: true } },
})
const node = cluster.node('acme-1')
const { reference: image } = await cluster.lab.registry.pushPostgresImage('acme/postgres', '15')
const nodeId = (await nodeIds(cluster)).get(node.name) ?? ''
const place = { cluster, node, nodeId, image }
const pin = (pid: number, core: number) =>
  runCommand('taskset', ['-a', '-c', '-p', String(core), String(pid)])
// The sending agent competes with the database, as on a real node; the receiving one is another machine there.
pin(agentPid(node), 0)
pin(agentPid(cluster.node('acme-2')), availableParallelism() > 1 ? 1 : 0)

const volume = await startOnVolume(place, 'plain', 0)
const replicated = await startOnVolume(place, 'copied', 1)
const byHand = await startByHand(place)
const idle = await coresWhileIdle()

const sides = [byHand, volume, replicated]
const rates = new Map<Database, number[]>(sides.map((side) => [side, []]))
for (const side of sides) await side.run(2)
for (let round = 0; round < ROUNDS; round += 1) {
  // Each side is first, second and last in turn, so that drift of the machine cancels.
  const order = sides.map((_, at) => sides[(at + round) % sides.length])
  for (const side of order) if (side !== undefined) rates.get(side)?.push(await side.run(SECONDS))
}
await cluster.stop()

const ofSide = (side: Database): number[] => rates.get(side) ?? []
const ratio = (side: Database): number =>
  median(ofSide(side).map((rate, round) => rate / (ofSide(byHand)[round] ?? Number.NaN)))
console.log(
  `pgbench, 4 clients, ${ROUNDS} rounds of ${SECONDS} s, medians; cores busy while idle ${idle.toFixed(2)}`,
)
console.log('  side          transactions/s   of by hand   at least')
let reached = true
for (const side of sides) {
  const least = side === volume ? LEAST.volume : side === replicated ? LEAST.replicated : undefined
  if (least !== undefined) reached &&= ratio(side) >= least
  const cells = [median(ofSide(side)).toFixed(0).padStart(14), ratio(side).toFixed(2).padStart(12)]
  console.log(`  ${side.about.padEnd(12)} ${cells.join(' ')} ${(least ?? '').toString().padStart(10)}`)
}
console.log(reached ? 'all targets reached' : 'NOT ALL TARGETS REACHED')
if (values.check && !reached) process.exitCode = 1
// Exits explicitly, because the shared engines would keep the process alive.
process.exit()
