// How many placement decisions per second for a tenant of 1,000 nodes with every filter in use, residency included,
// compared with a naive filter chain; what do other tenants' nodes add to the cost; and how many for 10,000 tenants of 10
// nodes, each decision for another tenant? bench/README.md explains how to run and read it.

import { parseArgs } from 'node:util'
import { createSchedulingView } from '@holdfast/core/scheduling/index'
import { aWorkload, naivePick } from '@holdfast/core/scheduling/scheduling.fixture'
import { busyMicros, cpuMicros } from './lib/cpu.ts'
import { createLoad, smallWorkloadAt, tenantOf, workloadAt } from './lib/scheduling-load.ts'
import { median, percentile } from './lib/stats.ts'
import { measureThread, type Slice } from './lib/thread-slice.ts'

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '1000' },
    tenants: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '3' },
    milliseconds: { type: 'string', default: '100' },
    check: { type: 'boolean', default: false },
  },
})
const NODES = Number(values.nodes)
const TENANTS = Number(values.tenants)
const ROUNDS = Number(values.rounds)
const SLICE_MS = Number(values.milliseconds)
/** Numbers of nodes of other tenants: the benchmark compares decisions beside FEW and beside MANY such nodes. */
const FEW = 1000
const MANY = 100_000
const NODES_OF_SMALL = 10
const HELD_OF_SMALL = 6

const measure = (act: (index: number) => void, beside?: (index: number) => void): Slice =>
  measureThread(SLICE_MS, act, beside)

/** Returns a function that makes decisions for other tenants of 1,000 nodes each, in turn, to keep their data in use. */
function foreignLoads(nodes: number): (index: number) => void {
  const loads = Array.from({ length: Math.ceil(nodes / NODES) }, () =>
    createLoad(createSchedulingView(tenantOf(NODES))),
  )
  return (index) => loads[index % loads.length]?.(Math.floor(index / loads.length))
}

/** Returns a function that decides for the small tenants in turn, so that no CPU cache holds the next tenant's data. */
function smallLoads(): (index: number) => void {
  const facts = tenantOf(NODES_OF_SMALL)
  const loads = Array.from({ length: TENANTS }, () =>
    createLoad(createSchedulingView(facts), HELD_OF_SMALL, smallWorkloadAt),
  )
  let turn = 0
  return () => {
    loads[turn % TENANTS]?.(Math.floor(turn / TENANTS))
    turn += 1
  }
}

interface Round {
  readonly few: Slice
  readonly many: Slice
  readonly small: Slice
  readonly naive: Slice
  readonly explained: Slice
}

const facts = tenantOf(NODES)
const decide = createLoad(createSchedulingView(facts))
const decideForSmall = smallLoads()
const nowhere = aWorkload({ resources: { cpuMillis: 1_000_000, memoryBytes: 0 } })
const idle = createSchedulingView(facts)

/** Measures decisions beside nodes of other tenants. The first one is discarded: it includes the setup's garbage. */
function besideOthers(nodes: number): Slice {
  const beside = foreignLoads(nodes)
  measure(decide, beside)
  return measure(decide, beside)
}

function round(): Round {
  return {
    few: besideOthers(FEW),
    many: besideOthers(MANY),
    small: measure(decideForSmall),
    naive: measure((index) => naivePick(workloadAt(index), facts)),
    explained: measure(() => idle.place(nowhere, 1)),
  }
}

// Warm-up without measurement: one placement decision for each deployment of each small tenant.
for (let decision = 0; decision < TENANTS * HELD_OF_SMALL; decision += 1) decideForSmall(decision)
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
  ['few', `with ${FEW} nodes of other tenants`],
  ['many', `with ${MANY} nodes of other tenants`],
  ['small', `${TENANTS} tenants of ${NODES_OF_SMALL} nodes, in turn`],
  ['naive', 'naive chain'],
  ['explained', 'no candidate: full matrix'],
] as const)
  console.log(
    `  ${about.padEnd(36)} ${rate(side).toFixed(0).padStart(8)}/s  p50 ${percentile(all(side), 0.5).toFixed(1)} us  p99 ${percentile(all(side), 0.99).toFixed(1)} us`,
  )
console.log(`  ratio to the naive chain ${(rate('few') / rate('naive')).toFixed(0)}`)
console.log(
  `  cost when other tenants grow from ${FEW} to ${MANY} nodes: x ${growth.toFixed(2)} (at most 1.2)`,
)
console.log(`  other cores ${Math.max(0, others).toFixed(2)}`)
const reached = Math.min(rate('few'), rate('many')) >= 20_000 && rate('small') >= 15_000 && growth <= 1.2
console.log(
  reached ? 'all targets reached' : 'not all targets reached (at least 20000/s, 15000/s for small tenants)',
)
if (values.check && !reached) process.exitCode = 1
