// The time from a node's request to the sealed environment of a container with one secret, with a cached store token,
// compared with a bare KV v2 read of the same document. The server also looks up the assignment, composes the environment
// and seals it.
// Usage: node bench/resolve.ts [--rounds 5] [--reads 1000] [--check]

import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { openRealStore, type RealStore } from '@holdfast/server/adapters/secrets-store/real-store.fixture'
import { startEtcd } from '@holdfast/testkit'
import {
  aNodeOf,
  type DispatchWorld,
  openDispatchWorld,
  secretEntry,
} from '@holdfast/testkit/secrets/dispatch-world'
import { percentile } from './lib/stats.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    reads: { type: 'string', default: '1000' },
    check: { type: 'boolean', default: false },
  },
})
const ROUNDS = Number(values.rounds)
const READS = Number(values.reads)
const MOST = 1.5

const real = await openRealStore()
// Uses a separate etcd, because each read waits for the newest revision, and writes of other tests would raise it.
const etcd = await startEtcd()
const world = await openDispatchWorld({ real, endpoints: etcd.endpoints })
const sides = await prepare(real, world)
const times = { bare: [] as number[], resolve: [] as number[] }
for (const side of [sides.bare, sides.resolve]) await measure(side, 200)
for (let round = 0; round < ROUNDS; round += 1) {
  const order = round % 2 === 0 ? (['bare', 'resolve'] as const) : (['resolve', 'bare'] as const)
  for (const side of order) times[side].push(...(await measure(sides[side], READS)))
}
sides.agent.destroy()
world.close()
await etcd.stop()
real.close()
report()

async function prepare(store: RealStore, { tenant: newTenant, put, place, broker }: DispatchWorld) {
  const tenant = await newTenant()
  await put(tenant, 'db', { user: 'app', password: 'a password of the usual length' })
  const node = await aNodeOf(world, tenant)
  const ask = await place(node, { environment: { MODE: 'bench' }, secrets: [secretEntry('DB', 'db')] })
  let attempt = 0
  const agent = new Agent({ keepAlive: true })
  const headers = { 'x-vault-token': store.store.rootToken }
  const url = new URL(`/v1/kv-${tenant}/data/deployments/db?version=1`, store.store.address)
  return {
    agent,
    async bare(): Promise<void> {
      const sent = request(url, { agent, headers }).end()
      const [answer] = await once(sent, 'response')
      JSON.parse(await text(answer))
    },
    async resolve(): Promise<void> {
      attempt += 1
      const { sealed } = await broker.sealEnvironment({ ...ask, attempt: `a-${attempt}` })
      if (sealed === undefined) throw new Error('nothing was sealed')
    },
  }
}

async function measure(once: () => Promise<void>, count: number): Promise<number[]> {
  const measured: number[] = []
  for (let each = 0; each < count; each += 1) {
    const started = performance.now()
    await once()
    measured.push(performance.now() - started)
  }
  return measured
}

function report(): void {
  const line = (name: string, all: number[]) =>
    `${name.padEnd(8)} p50 ${percentile(all, 0.5).toFixed(2)} ms  p99 ${percentile(all, 0.99).toFixed(2)} ms  (${all.length})`
  const ratio = percentile(times.resolve, 0.99) / percentile(times.bare, 0.99)
  console.log(line('bare', times.bare))
  console.log(line('resolve', times.resolve))
  console.log(`resolve to bare, p99: ${ratio.toFixed(2)} (at most ${MOST})`)
  if (values.check && ratio > MOST) process.exitCode = 1
}
