// How many creates per second does the full HTTP path reach, compared with the same keys and bytes written directly to
// etcd, by one transaction per request and by group commit, in the same run? bench/README.md explains how to run and read
// it.

import { parseArgs } from 'node:util'
import type { KeyValueEngine } from '@holdfast/server/ports/key-value'
import { createApiClient } from '@holdfast/testkit/platform/api-client'
import { bareCreates, captureCreate, groupedCreates, transactionOf } from './lib/bare-load.ts'
import { clearStore } from './lib/clear-store.ts'
import { closedLoop, type Measured } from './lib/closed-loop.ts'
import { bodyOf, nameOf } from './lib/create-body.ts'
import { connectEtcdForBench } from './lib/etcd.ts'
import { openHttpLoad } from './lib/http-load.ts'
import { type BenchPlatform, startBenchPlatform } from './lib/platform.ts'
import { median, percentile } from './lib/stats.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    tenants: { type: 'string', default: '100' },
    check: { type: 'boolean', default: false },
  },
})
const ROUNDS = Number(values.rounds)
const SECONDS = Number(values.seconds)
const MANY_TENANTS = Number(values.tenants)

type Side = 'bare' | 'grouped' | 'http'
interface Cell {
  readonly callers: number
  readonly tenants: number
}

async function measureCell(
  platform: BenchPlatform,
  engine: KeyValueEngine,
  { callers, tenants }: Cell,
): Promise<{ [side in Side]: Measured[] }> {
  const used = platform.tenants.slice(0, tenants)
  const [first] = used
  if (first === undefined) throw new Error('a cell needs a tenant')
  const template = await captured(platform, engine, first)
  const make = (index: number) =>
    transactionOf(template, used[index % used.length]?.id ?? '', first.id, index)
  const load = await openHttpLoad(platform.port, callers)
  const post = async (index: number): Promise<boolean> => {
    const tenant = used[index % used.length]
    return (
      tenant !== undefined && (await load.post(tenant.token, bodyOf(platform.image, nameOf(index)))) === 201
    )
  }
  const sides = { bare: bareCreates(engine, make), grouped: groupedCreates(engine, make), http: post }
  const measured: { [side in Side]: Measured[] } = { bare: [], grouped: [], http: [] }
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const side of rotated(round)) {
      const groups = {
        client: [process.pid],
        server: side === 'http' ? [platform.serverPid] : [],
        etcd: platform.etcdPids,
      }
      measured[side].push(await closedLoop(sides[side], { callers, seconds: SECONDS, groups }))
      await clearStore(
        engine,
        platform,
        used.map(({ id }) => id),
      )
    }
  }
  load.close()
  return measured
}

const SIDES: readonly Side[] = ['bare', 'grouped', 'http']
const rotated = (round: number): Side[] =>
  SIDES.map((_side, index) => SIDES[(index + round) % SIDES.length] ?? 'bare')

async function captured(
  platform: BenchPlatform,
  engine: KeyValueEngine,
  tenant: { id: string; token: string },
) {
  const api = createApiClient(`http://127.0.0.1:${platform.port}`, tenant.token)
  const name = nameOf(0)
  const { status, text } = await api.post('/api/v1/deployments', bodyOf(platform.image, name))
  if (status !== 201) throw new Error(`the sample was rejected: ${text}`)
  const template = await captureCreate(engine, tenant.id, name)
  await clearStore(engine, platform, [tenant.id])
  return template
}

function report(cell: Cell, measured: { [side in Side]: Measured[] }): { toBare: number; toGrouped: number } {
  const rate = (side: Side) => median(measured[side].map(({ perSecond }) => perSecond))
  console.log(`\n${cell.callers} callers, ${cell.tenants} tenant${cell.tenants === 1 ? '' : 's'}`)
  for (const side of SIDES) {
    const all = measured[side].flatMap(({ latenciesMs }) => [...latenciesMs])
    const cost = (group: string) =>
      median(measured[side].map(({ microsPerOperation }) => microsPerOperation[group] ?? 0)).toFixed(0)
    const others = median(measured[side].map(({ otherCores }) => otherCores)).toFixed(2)
    const failed = measured[side].reduce((sum, each) => sum + each.failed, 0)
    console.log(
      `  ${side.padEnd(8)} ${rate(side).toFixed(0).padStart(6)}/s  p50 ${percentile(all, 0.5).toFixed(1)} ms  p99 ${percentile(all, 0.99).toFixed(1)} ms  ` +
        `CPU us/op: client ${cost('client')}, server ${cost('server')}, etcd ${cost('etcd')}  failed ${failed}  other cores ${others}`,
    )
  }
  const ratios = (side: Side) =>
    median(
      measured.http.map(
        ({ perSecond }, round) => perSecond / (measured[side][round]?.perSecond ?? Number.NaN),
      ),
    )
  const result = { toBare: ratios('bare'), toGrouped: ratios('grouped') }
  console.log(
    `  ratio to bare ${result.toBare.toFixed(2)}, to bare group commit ${result.toGrouped.toFixed(2)}`,
  )
  return result
}

/** Measures the p99 latency of creates at a constant rate, half of the highest rate that was reached. */
async function halfLoad(platform: BenchPlatform, engine: KeyValueEngine, perSecond: number): Promise<number> {
  const load = await openHttpLoad(platform.port, 2000)
  const [tenant] = platform.tenants
  const latencies: number[] = []
  const pending: Promise<void>[] = []
  const gapMs = 1000 / perSecond
  const began = performance.now()
  for (let sent = 0; performance.now() - began < SECONDS * 2000; ) {
    for (; sent < (performance.now() - began) / gapMs; sent += 1) {
      const due = began + sent * gapMs
      const body = bodyOf(platform.image, `half-load-${String(sent).padStart(9, '0')}`)
      pending.push(
        load.post(tenant?.token ?? '', body).then(() => void latencies.push(performance.now() - due)),
      )
    }
    // Sleeps instead of busy-waiting, because a busy load generator would use one of the two cores that the server needs.
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await Promise.all(pending)
  load.close()
  await clearStore(
    engine,
    platform,
    platform.tenants.map(({ id }) => id),
  )
  return percentile(latencies, 0.99)
}

const platform = await startBenchPlatform(MANY_TENANTS)
const engine = connectEtcdForBench(platform.endpoints)
try {
  console.log(`creates per second, etcd with three members, ${ROUNDS} rounds of ${SECONDS} s, medians`)
  const cells = [64, 256].flatMap((callers) => [1, MANY_TENANTS].map((tenants) => ({ callers, tenants })))
  await measureCell(platform, engine, { callers: 16, tenants: 1 })
  const ratios = []
  let best = 0
  for (const cell of cells) {
    const measured = await measureCell(platform, engine, cell)
    best = Math.max(best, median(measured.http.map(({ perSecond }) => perSecond)))
    ratios.push(report(cell, measured))
  }
  const lone = await measureCell(platform, engine, { callers: 1, tenants: 1 })
  report({ callers: 1, tenants: 1 }, lone)
  const p50 = (side: Side) => median(lone[side].flatMap(({ latenciesMs }) => [...latenciesMs]))
  const loneRatio = p50('http') / p50('bare')
  const p99 = await halfLoad(platform, engine, best / 2)
  console.log(
    `\nlone caller: p50 ${p50('http').toFixed(2)} ms, bare ${p50('bare').toFixed(2)} ms, ratio ${loneRatio.toFixed(2)} (at most 1.5)`,
  )
  console.log(`half load (${(best / 2).toFixed(0)}/s): p99 ${p99.toFixed(1)} ms (at most 100)`)
  const reached =
    ratios.every(({ toBare, toGrouped }) => toBare >= 1.3 && toGrouped >= 0.75) &&
    loneRatio <= 1.5 &&
    p99 <= 100
  console.log(reached ? 'all targets reached' : 'not all targets reached')
  if (values.check && !reached) process.exitCode = 1
} finally {
  engine.close()
  await platform.stop()
}
