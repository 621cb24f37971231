// How soon does a route serve? Measured for a new deployment through the full product, and for one change among a
// thousand routes of a node through the agent's router and a real Caddy. bench/README.md explains how to run and read it.

import { parseArgs } from 'node:util'
import { measureFirstAnswers } from './lib/route-first-answers.ts'
import { measureManyRoutes } from './lib/route-many.ts'
import { median, percentile } from './lib/stats.ts'

const { values } = parseArgs({
  options: {
    deployments: { type: 'string', default: '5' },
    routes: { type: 'string', default: '1000' },
    changes: { type: 'string', default: '200' },
    check: { type: 'boolean', default: false },
  },
})
/** Limits of the time from ready to the first response, and of the time of one change among all routes. */
const MOST_AFTER_READY_MS = 1000
const MOST_P99_MS = 100
let reached = true

const ms = (value: number): string => `${value.toFixed(0)} ms`.padStart(9)
const line = (about: string, ...rest: readonly string[]): void =>
  console.log(`  ${about.padEnd(34)} ${rest.join('  ')}`)

const many = await measureManyRoutes(Number(values.routes), Number(values.changes))
console.log(
  `${values.routes} routes on one node, ${values.changes} changes of each kind, until Caddy serves them`,
)
line('initial configuration', ms(many.first))
for (const { about, served } of many.kinds) {
  const p99 = percentile(served, 0.99)
  reached &&= p99 <= MOST_P99_MS
  line(about, `p50 ${ms(median(served))}`, `p99 ${ms(p99)}`, `most ${ms(Math.max(...served))}`)
}
console.log(
  `${values.deployments} routed deployments of a pulled image on each engine, POST to the first 200, medians`,
)
for (const { about, toReady, toAnswer } of await measureFirstAnswers(Number(values.deployments))) {
  const after = toAnswer.map((answered, at) => answered - (toReady[at] ?? Number.NaN))
  reached &&= Math.max(...after) <= MOST_AFTER_READY_MS
  const rest = [`to ready ${ms(median(toReady))}`, `to 200 ${ms(median(toAnswer))}`]
  line(about, ...rest, `after ready ${ms(median(after))}`, `most ${ms(Math.max(...after))}`)
}
const wanted = `a change at most ${MOST_P99_MS} ms (p99), the first response at most ${MOST_AFTER_READY_MS} ms after ready`
console.log(reached ? `all targets reached: ${wanted}` : `NOT ALL TARGETS REACHED: ${wanted}`)
if (values.check && !reached) process.exitCode = 1
// Exits explicitly, because the shared engines would keep the process alive.
process.exit()
