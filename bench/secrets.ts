// How many creates per second with one generated secret, compared with creates without a secret, in the same run? A
// secret adds a version in the secrets store, an intent record and a credential. bench/README.md explains how to run and
// read it.
// Usage: node bench/secrets.ts [--rounds 5] [--seconds 4] [--callers 64]

import { parseArgs } from 'node:util'
import type { KeyValueEngine } from '@holdfast/server/ports/key-value'
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
    callers: { type: 'string', default: '64' },
  },
})
const ROUNDS = Number(values.rounds)
const SECONDS = Number(values.seconds)
const CALLERS = Number(values.callers)

const SIDES = ['without', 'generated'] as const
type Side = (typeof SIDES)[number]

/** The secrets of one deployment. Each has its own path, because an existing secret would not be generated again. */
const secretsOf = (name: string): object => ({
  secrets: [
    { name: 'DB', vault_path: `deployments/${name}`, anchor: 'process', generate: { keys: ['password'] } },
  ],
})

async function measureSides(
  platform: BenchPlatform,
  engine: KeyValueEngine,
): Promise<{ [side in Side]: Measured[] }> {
  const [tenant] = platform.tenants
  if (tenant === undefined) throw new Error('the benchmark needs a tenant')
  const load = await openHttpLoad(platform.port, CALLERS)
  const create = (side: Side) => async (index: number) => {
    const name = nameOf(index)
    const more = side === 'generated' ? secretsOf(name) : {}
    return (await load.post(tenant.token, bodyOf(platform.image, name, more))) === 201
  }
  const groups = {
    client: [process.pid],
    server: [platform.serverPid],
    etcd: platform.etcdPids,
    store: [platform.secretsStorePid],
  }
  const measured: { [side in Side]: Measured[] } = { without: [], generated: [] }
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const side of round % 2 === 0 ? SIDES : SIDES.toReversed()) {
      measured[side].push(await closedLoop(create(side), { callers: CALLERS, seconds: SECONDS, groups }))
      await clearStore(engine, platform, [tenant.id])
    }
  }
  load.close()
  return measured
}

function lineOf(side: Side, all: readonly Measured[]): string {
  const latencies = all.flatMap(({ latenciesMs }) => [...latenciesMs])
  const middle = (of: (one: Measured) => number) => median(all.map(of))
  const cost = (group: string) =>
    middle(({ microsPerOperation }) => microsPerOperation[group] ?? 0).toFixed(0)
  const groups = ['client', 'server', 'etcd', 'store'].map((group) => `${group} ${cost(group)}`)
  const failed = all.reduce((sum, one) => sum + one.failed, 0)
  return [
    `  ${side.padEnd(9)} ${middle(({ perSecond }) => perSecond)
      .toFixed(0)
      .padStart(6)}/s`,
    `p50 ${percentile(latencies, 0.5).toFixed(1)} ms`,
    `p99 ${percentile(latencies, 0.99).toFixed(1)} ms`,
    `CPU us/op: ${groups.join(', ')}`,
    `failed ${failed}`,
    `other cores ${middle(({ otherCores }) => otherCores).toFixed(2)}`,
  ].join('  ')
}

const platform = await startBenchPlatform(1)
const engine = connectEtcdForBench(platform.endpoints)
try {
  console.log(`creates per second, ${CALLERS} callers, ${ROUNDS} rounds of ${SECONDS} s, medians`)
  const measured = await measureSides(platform, engine)
  for (const side of SIDES) console.log(lineOf(side, measured[side]))
  const ratios = measured.generated.map(
    ({ perSecond }, round) => perSecond / (measured.without[round]?.perSecond ?? Number.NaN),
  )
  console.log(`generated to without: ${median(ratios).toFixed(2)}`)
  if (SIDES.some((side) => measured[side].some(({ failed }) => failed > 0))) process.exitCode = 1
} finally {
  engine.close()
  await platform.stop()
}
