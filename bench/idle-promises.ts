// Measures the cost of replicated volumes at rest: a server with many simulated agents and their volumes, and the promises
// between two nodes by the agent's own code. bench/README.md explains how to run and read it.

import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { PROMOTION_TIMINGS } from '@holdfast/core/promotion/timings'
import type { KeyValueEngine } from '@holdfast/server/ports/key-value'
import { createApiClient } from '@holdfast/testkit/platform/api-client'
import { countRevisions } from './lib/count-revisions.ts'
import { type CountingRelay, startCountingRelay } from './lib/counting-relay.ts'
import { busyMicros, cpuMicros } from './lib/cpu.ts'
import { connectEtcdForBench } from './lib/etcd.ts'
import { type BenchPlatform, startBenchPlatform } from './lib/platform.ts'
import { startPromisePair } from './lib/promises/promise-pair.ts'
import { startIdleAgents } from './lib/volumes/idle-agents.ts'
import { protectVolumes } from './lib/volumes/protect-volumes.ts'

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '50' },
    volumes: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '60' },
    check: { type: 'boolean', default: false },
  },
})
const NODES = Number(values.nodes)
const VOLUMES = Number(values.volumes)
const SECONDS = Number(values.seconds)
/** Numbers of volumes of the pairs of nodes. */
const PAIRS = [1, 20, 100]
const PAIR_SECONDS = Math.min(SECONDS, 30)
const LIMITS = { cores: 0.1, revisions: 0, bytesPerPair: 200, bytesPerVolume: 20 }
/** Work that creating the volumes caused is over after this time. */
const SETTLE_MS = 15_000

const results: [string, number, number][] = []
const pairs = await measurePairs()
await measureServer()
report()
process.exit()

/** The bytes of a renewal are exact, so their number in a second follows from the shipped interval. */
async function measurePairs(): Promise<readonly { volumes: number; payload: number; wire: number }[]> {
  const started = await Promise.all(PAIRS.map(startPromisePair))
  const before = started.map((pair) => pair.counts())
  await pause(PAIR_SECONDS * 1000)
  if (!started.every((pair) => pair.isLeased())) throw new Error('a lease has ended')
  const measured = started.map((pair, at) => {
    const [from, to] = [before[at], pair.counts()]
    if (from === undefined || to.renewals === from.renewals) throw new Error('no promise was renewed')
    const perSecond = 1000 / PROMOTION_TIMINGS.renewEveryMs / (to.renewals - from.renewals)
    return {
      volumes: PAIRS[at] ?? 0,
      payload: (to.payload - from.payload) * perSecond,
      wire: (to.wire - from.wire) * perSecond,
    }
  })
  for (const pair of started) await pair.stop()
  return measured
}

async function measureServer(): Promise<void> {
  const roles = ['api', 'broker', 'controllers', 'gateway']
  const platform = await startBenchPlatform(1, { roles, settings: { volumes: { enabled: true } } })
  const [tenant] = platform.tenants
  if (tenant === undefined) throw new Error('no tenant')
  const url = `http://127.0.0.1:${platform.port}`
  const api = createApiClient(url, tenant.token)
  const relay = await startCountingRelay(platform.port)
  const etcd = connectEtcdForBench(platform.endpoints)
  const agents = await startIdleAgents(url, `http://127.0.0.1:${relay.port}`, api, NODES)

  const measured = { platform, etcd, relay }
  await measure(measured, 'no volume')
  const began = performance.now()
  const { countProtected } = await protectVolumes(api, tenant.id, agents, VOLUMES)
  console.log(`${VOLUMES} volumes promotable after ${((performance.now() - began) / 1000).toFixed(0)} s`)
  const idle = await measure(measured, `${VOLUMES} volumes`)
  results.push(
    ['revisions of etcd by records of tenants at rest', idle.revisions, LIMITS.revisions],
    ['cores of the server at rest', idle.cores, LIMITS.cores],
  )
  if (!agents.areOpen() || (await countProtected()) !== VOLUMES) throw new Error('the volumes were not idle')
  agents.stop()
  relay.stop()
  etcd.close()
  await platform.stop()
}

interface Measured {
  readonly platform: BenchPlatform
  readonly etcd: KeyValueEngine
  readonly relay: CountingRelay
}

function readCounts({ platform, relay }: Measured) {
  return {
    server: cpuMicros([platform.serverPid]),
    etcd: cpuMicros(platform.etcdPids),
    own: cpuMicros([process.pid]),
    busy: busyMicros(),
    ...relay.bytes(),
  }
}

async function measure(measured: Measured, about: string): Promise<{ cores: number; revisions: number }> {
  await pause(SETTLE_MS)
  const count = await countRevisions(measured.etcd)
  const from = readCounts(measured)
  await pause(SECONDS * 1000)
  const to = readCounts(measured)
  const { ofTenants, byFolder } = await count()
  const cores = (name: 'server' | 'etcd' | 'own' | 'busy'): number => (to[name] - from[name]) / SECONDS / 1e6
  const others = cores('busy') - cores('server') - cores('etcd') - cores('own')
  const bytes = (name: 'sent' | 'received'): string => ((to[name] - from[name]) / SECONDS).toFixed(0)
  console.log(
    `${NODES} nodes, ${about}, at rest for ${SECONDS} s: server ${cores('server').toFixed(3)} core,`,
    `etcd ${cores('etcd').toFixed(3)}, ${ofTenants} revisions of tenants;`,
    `sessions ${bytes('sent')} bytes/s to the server, ${bytes('received')} to the agents`,
    `(other cores ${others.toFixed(2)}); changed keys ${JSON.stringify(Object.fromEntries(byFolder))}`,
  )
  return { cores: cores('server'), revisions: ofTenants }
}

function report(): void {
  console.log(
    `promises between two nodes, lease ${PROMOTION_TIMINGS.leaseMs / 1000} s, bytes a second in both directions`,
  )
  for (const { volumes, payload, wire } of pairs)
    console.log(
      `  ${String(volumes).padStart(4)} volumes: payload ${payload.toFixed(0)}, with TLS ${wire.toFixed(0)}`,
    )
  const [fewest, most] = [pairs.at(0), pairs.at(-1)]
  if (fewest === undefined || most === undefined) throw new Error('no pairs')
  const perVolume = (most.payload - fewest.payload) / (most.volumes - fewest.volumes)
  results.push(
    ['payload of promises a second for a pair of nodes', fewest.payload - perVolume, LIMITS.bytesPerPair],
    ['payload of promises a second for each volume', perVolume, LIMITS.bytesPerVolume],
  )
  for (const [what, value, limit] of results) {
    const reached = value <= limit
    if (values.check && !reached) process.exitCode = 1
    console.log(
      `${reached ? 'reached' : 'NOT REACHED'}: ${what}: ${Number(value.toFixed(3))}, at most ${limit}`,
    )
  }
}
