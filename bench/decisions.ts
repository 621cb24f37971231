// How many placement decisions per second for a tenant of 1,000 nodes with every filter at work, beside the naive chain in
// the same run, and what other tenants' nodes add to the cost. bench/README.md says how to run and read it.

import { parseArgs } from 'node:util'
import type { NodeFacts, SchedulingView, TenantFacts, Workload } from '../packages/core/src/index.ts'
import { createSchedulingView } from '../packages/core/src/index.ts'
import { aNode, aWorkload, naivePick, someFacts } from '../packages/core/src/scheduling/fixture.ts'
import { busyMicros, cpuMicros } from './lib/cpu.ts'
import { median, percentile } from './lib/stats.ts'

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '3' },
    milliseconds: { type: 'string', default: '100' },
    check: { type: 'boolean', default: false },
  },
})
const NODES = Number(values.nodes)
const ROUNDS = Number(values.rounds)
const SLICE_MS = Number(values.milliseconds)
const KINDS = 64
const ZONES = 12
/** Nodes of other tenants. */
const FEW = 1000
const MANY = 100_000

/** One node in twenty is refused by each filter on records; half are half full; ten deployments run here and there. */
function tenantOf(nodes: number): TenantFacts {
  return someFacts(
    Array.from({ length: nodes }, (_node, number) => nodeOf(number)),
    0,
    1_000_000,
  )
}

function nodeOf(number: number): NodeFacts {
  const busy = (Math.imul(number + 1, 2_654_435_761) >>> 8) % 100
  return aNode(number, {
    status: number % 20 === 1 ? 'unreachable' : 'ready',
    schedulable: number % 20 !== 2,
    controlPlane: number % 20 === 3,
    claim: number % 20 === 4 ? 'releasing' : 'sole',
    labels: { zone: `z${number % ZONES}`, disk: number % 20 === 5 ? 'hdd' : 'ssd', rack: `r${number % 40}` },
    ...(number === NAMED ? { capacity: { cpuMillis: 64_000, memoryBytes: 2 ** 37 } } : {}),
    requested: { cpuMillis: 40 * busy, memoryBytes: 80 * 2 ** 20 * ((busy * 31) % 100) },
    replicas: new Map([
      [`db-${number % 4}`, 1],
      [`batch-${number % 10}`, 2],
    ]),
  })
}

/** Every filter has something to refuse: constraints, affinity, anti-affinity, requests. One in sixteen names its node. */
function workloadOf(number: number): Workload {
  const names = number % 16 === 15
  return aWorkload({
    name: `app-${number}`,
    resources: { cpuMillis: 100 + number, memoryBytes: 2 ** 26 },
    placement: {
      constraints: [
        { label: 'disk', operator: 'in', values: ['ssd', 'nvme'] },
        { label: 'zone', operator: 'notIn', values: [`z${number % ZONES}`] },
      ],
      antiAffinity: names ? [] : [`batch-${number % 10}`, `app-${number}`],
      ...(number % 2 === 0 ? { affinity: [`db-${number % 4}`] } : {}),
      ...(number % 4 < 2 ? { spread: 'rack' } : {}),
    },
    nodeId: names ? aNode(NAMED).id : undefined,
  })
}

/** In a zone that no workload which names it shuns, and large enough for all of them. */
const NAMED = 20

const WORKLOADS = Array.from({ length: KINDS }, (_kind, number) => workloadOf(number))
const workloadAt = (index: number): Workload => WORKLOADS[index % KINDS] ?? aWorkload()

/** Decides and enters; once the tenant holds some hundreds, the oldest goes for each that comes. */
function createLoad(view: SchedulingView): (index: number) => void {
  const assigned: (() => void)[] = []
  return (index) => {
    const workload = workloadAt(index)
    const [nodeId] = view.place(workload, 1).placed
    if (nodeId === undefined) throw new Error(`no place for ${workload.name}`)
    view.applyAssigned(nodeId, workload.name, workload.resources)
    assigned.push(() => view.applyReleased(nodeId, workload.name, workload.resources))
    if (assigned.length > 500) assigned.shift()?.()
  }
}

interface Slice {
  readonly perSecond: number
  readonly micros: readonly number[]
}

const HANDFUL = 16

/** Only the decisions are measured, not what happens beside them: rates by the thread's own CPU time, each one by the clock. */
function measure(decide: (index: number) => void, beside: (index: number) => void = () => {}): Slice {
  const micros: number[] = []
  let spent = 0
  for (let handful = 0; spent < SLICE_MS * 1000; handful += 1) {
    beside(handful)
    const before = process.threadCpuUsage()
    for (let index = handful * HANDFUL; index < (handful + 1) * HANDFUL; index += 1) {
      const began = process.hrtime.bigint()
      decide(index)
      micros.push(Number(process.hrtime.bigint() - began) / 1000)
    }
    const { user, system } = process.threadCpuUsage(before)
    spent += user + system
  }
  return { perSecond: (micros.length * 1_000_000) / spent, micros }
}

/** Other tenants, of as many nodes each, who are decided for in turn so that they are not only there but in use. */
function foreignLoads(nodes: number): (index: number) => void {
  const loads = Array.from({ length: Math.ceil(nodes / NODES) }, () =>
    createLoad(createSchedulingView(tenantOf(NODES))),
  )
  return (index) => loads[index % loads.length]?.(Math.floor(index / loads.length))
}

interface Round {
  readonly few: Slice
  readonly many: Slice
  readonly naive: Slice
  readonly explained: Slice
}

const facts = tenantOf(NODES)
const decide = createLoad(createSchedulingView(facts))
const nowhere = aWorkload({ resources: { cpuMillis: 1_000_000, memoryBytes: 0 } })
const idle = createSchedulingView(facts)

/** The first slice is thrown away: the collector still works on what was just built. */
function besideOthers(nodes: number): Slice {
  const beside = foreignLoads(nodes)
  measure(decide, beside)
  return measure(decide, beside)
}

function round(): Round {
  return {
    few: besideOthers(FEW),
    many: besideOthers(MANY),
    naive: measure((index) => naivePick(workloadAt(index), facts)),
    explained: measure(() => idle.place(nowhere, 1)),
  }
}

round()
const began = { busy: busyMicros(), own: cpuMicros([process.pid]), at: performance.now() }
const rounds = Array.from({ length: ROUNDS }, round)
const elapsed = (performance.now() - began.at) * 1000
const others = (busyMicros() - began.busy - (cpuMicros([process.pid]) - began.own)) / elapsed
const rate = (side: keyof Round): number => median(rounds.map((each) => each[side].perSecond))
const all = (side: keyof Round): number[] => rounds.flatMap((each) => [...each[side].micros])
const growth = median(rounds.map(({ few, many }) => few.perSecond / many.perSecond))

console.log(`decisions for a tenant of ${NODES} nodes, all filters, one core, ${ROUNDS} rounds, medians`)
for (const [side, about] of [
  ['few', `beside ${FEW} nodes of others`],
  ['many', `beside ${MANY} nodes of others`],
  ['naive', 'naive chain'],
  ['explained', 'no place: whole matrix'],
] as const)
  console.log(
    `  ${about.padEnd(32)} ${rate(side).toFixed(0).padStart(8)}/s  p50 ${percentile(all(side), 0.5).toFixed(1)} us  p99 ${percentile(all(side), 0.99).toFixed(1)} us`,
  )
console.log(`  ratio to the naive chain ${(rate('few') / rate('naive')).toFixed(0)}`)
console.log(`  cost when others grow from ${FEW} to ${MANY} nodes: x ${growth.toFixed(2)} (at most 1.2)`)
console.log(`  other cores ${Math.max(0, others).toFixed(2)}`)
const reached = Math.min(rate('few'), rate('many')) >= 20_000 && growth <= 1.2
console.log(reached ? 'all figures reached' : 'not all figures reached (at least 20000/s)')
if (values.check && !reached) process.exitCode = 1
