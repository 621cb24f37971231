// Is the dashboard fast enough, on a slow machine and with many records? bench/README.md explains how to run and read it.

import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { coresWhileIdle } from './lib/cpu.ts'
import { launchChromium, signIn } from './lib/dashboard/browser.ts'
import { type Bench, PARTS } from './lib/dashboard/parts.ts'
import { isMissed, printRow, type Row } from './lib/dashboard/results.ts'
import { startDashboardWorld } from './lib/dashboard/world.ts'

const { values } = parseArgs({
  options: {
    deployments: { type: 'string', default: '10000' },
    nodes: { type: 'string', default: '1000' },
    minutes: { type: 'string', default: '2' },
    ui: { type: 'string' },
    only: { type: 'string', default: Object.keys(PARTS).join(',') },
    check: { type: 'boolean', default: false },
  },
})
const deployments = Number(values.deployments)
const nodes = Number(values.nodes)

const rows: Row[] = []
const began = performance.now()
const world = await startDashboardWorld({ deployments, nodes, ui: values.ui })
const seconds = ((performance.now() - began) / 1000).toFixed(0)
console.log(`dashboard with ${deployments} deployments on ${nodes} nodes, filled in ${seconds} s`)
const browser = await launchChromium()
try {
  const signedIn = await signIn(browser, world)
  const bench: Bench = { browser, world, signedIn, minutes: Number(values.minutes) }
  for (const name of values.only.split(',')) rows.push(...(await measure(name, bench)))
} finally {
  await browser.close()
  await world.stop()
}
const missed = rows.filter(isMissed)
console.log(missed.length === 0 ? 'all targets reached' : `${missed.length} targets not reached`)
if (values.check && missed.length > 0) process.exitCode = 1

async function measure(name: string, bench: Bench): Promise<Row[]> {
  const part = PARTS[name]
  if (part === undefined) throw new Error(`no part ${name}; there are ${Object.keys(PARTS).join(', ')}`)
  const [load = 0] = loadavg()
  const idle = await coresWhileIdle()
  console.log(`${name} (cores busy while idle ${idle.toFixed(2)}, load of the machine ${load.toFixed(1)})`)
  const measured = await part(bench)
  for (const row of measured) printRow(row)
  return measured
}
