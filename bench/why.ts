// How much does GET /deployments/{name}/why cost the server for a tenant with 1,000 and 10,000 nodes, when its nodes change
// before each request? With --storm: do the reasons of one tenant, which change every second, slow down other tenants or
// push out history? bench/README.md explains how to run and read it.

import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import type { NodeId, TenantId } from '@holdfast/contract'
import { decisions, events, nodes, placements } from '@holdfast/server/store/records'
import { openStore, type Store } from '@holdfast/server/store/store'
import { inTenant } from '@holdfast/server/store/transaction'
import { realClock as clock, realIds as ids } from '@holdfast/server/system-clock'
import { makeTempFolder } from '@holdfast/testkit'
import { aNode, deploymentOf, put, stageNode, write } from '@holdfast/testkit/controllers/placing-world'
import { busyMicros, cpuMicros } from './lib/cpu.ts'
import { connectEtcdForBench } from './lib/etcd.ts'
import { type BenchPlatform, startBenchPlatform } from './lib/platform.ts'
import { median, percentile } from './lib/stats.ts'
import type { Reads } from './why-reads.ts'

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '10000' },
    requests: { type: 'string', default: '200' },
    storm: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '300' },
    check: { type: 'boolean', default: false },
  },
})
const MOST_NODES = Number(values.nodes)
const REQUESTS = Number(values.requests)
const SECONDS = Number(values.seconds)
/** Fewer nodes than the smallest size have no targets: such a run only shows that the benchmark works. */
const SIZES = MOST_NODES < 1_000 ? [MOST_NODES] : [1_000, 10_000].filter((size) => size <= MOST_NODES)
const MOST_CPU_MS = new Map([
  [1_000, 5],
  [10_000, 50],
])
const MOST_BLOCK_MS = 10
const MOST_BYTES = 256 * 1024
const MOST_SLOWDOWN = 1.2
const STAGED_AT_ONCE = 40
/** Requests before the measurement, until the code is compiled. */
const WARM_UP = 200
/** How long the reads of other tenants run before they are measured. */
const WARM_UP_MS = 3_000

const folder = makeTempFolder('bench-why')
const delayFile = join(folder.path, 'loop-delay')
process.env['BENCH_LOOP_DELAY'] = delayFile

const platform = await startBenchPlatform(4, {
  nodeFlags: ['--import', join(import.meta.dirname, 'loop-delay.ts')],
  roles: values.storm ? ['api', 'broker', 'controllers'] : ['api', 'broker'],
})
const store = await openStore({
  engine: connectEtcdForBench(platform.endpoints),
  clock,
  ids,
  onUnreadable: (key) => console.error(`unreadable: ${key}`),
})
const [large, ...others] = platform.tenants
if (large === undefined) throw new Error('the platform has no tenant')
const tenant = large.id as TenantId
const nodeIds: NodeId[] = []
const missed: string[] = []

const isSchedulable = (number: number): boolean => number % 7 !== 0

async function addNodesUpTo(count: number): Promise<void> {
  while (nodeIds.length < count) {
    const added = Array.from({ length: Math.min(STAGED_AT_ONCE, count - nodeIds.length) }, (_, at) => {
      const number = nodeIds.length + at
      return aNode(`machine-${String(number).padStart(5, '0')}`, {
        schedulable: isSchedulable(number),
        labels: { zone: `z${number % 12}`, disk: number % 3 === 0 ? 'hdd' : 'ssd' },
        capacity: { cpuMillis: 1_000 + (number % 97) * 10, memoryBytes: 8 * 2 ** 30 },
      })
    })
    await write(store, (transaction) => {
      for (const node of added) stageNode(transaction, tenant, node)
    })
    nodeIds.push(...added.map(({ id }) => id))
  }
}

/** Changes the status of some nodes, so that the reasons of the tenant's waiting deployment change. */
async function changeNodes(round: number, count: number): Promise<void> {
  await write(store, (transaction) => {
    for (let each = 0; each < count; each += 1) {
      const id = nodeIds[(round * count + each) % nodeIds.length]
      const address = id === undefined ? undefined : inTenant(tenant, nodes, id)
      const node = address && transaction.get(address)
      if (address !== undefined && node !== undefined)
        transaction.put(address, { ...node, status: node.status === 'ready' ? 'unreachable' : 'ready' })
    }
  })
}

interface Answer {
  readonly ms: number
  readonly bytes: number
  readonly cursor: string | null
}

async function ask({ port }: BenchPlatform, token: string, path: string): Promise<Answer> {
  const began = performance.now()
  const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text.slice(0, 200)}`)
  const cursor: unknown = Object(JSON.parse(text)).nextCursor
  return { ms: performance.now() - began, bytes: text.length, cursor: cursor ? String(cursor) : null }
}

function expectAtMost(about: string, value: number, most: number): void {
  console.log(`  ${about.padEnd(44)} ${value.toFixed(1).padStart(9)}  (at most ${most})`)
  if (value > most) missed.push(about)
}

const serverCpuMs = (): number => cpuMicros([platform.serverPid]) / 1000

/** CPU of the server for each round, without and with a request after the change. */
async function cpuOf(rounds: number, request: () => Promise<unknown>): Promise<number> {
  const before = serverCpuMs()
  for (let round = 0; round < rounds; round += 1) {
    await changeNodes(round, 1)
    await request()
  }
  return (serverCpuMs() - before) / rounds
}

async function measureReads(size: number): Promise<void> {
  await addNodesUpTo(size)
  await store.fresh()
  console.log(`GET /why with ${size} nodes, one of them changed before each request`)
  for (const view of ['candidates', 'groups']) {
    const read = () => ask(platform, large?.token ?? '', `/deployments/big/why?view=${view}`)
    await cpuOf(WARM_UP, read)
    const bare = await cpuOf(REQUESTS, () => store.fresh())
    rmSync(delayFile, { force: true })
    const answers: Answer[] = []
    const busy = { before: busyMicros(), at: performance.now() }
    const withRead = await cpuOf(REQUESTS, async () => answers.push(await read()))
    await new Promise((resolve) => setTimeout(resolve, 300))
    const cores = (busyMicros() - busy.before) / ((performance.now() - busy.at) * 1000)
    expectAtMost(`${view}: CPU ms for a request`, withRead - bare, MOST_CPU_MS.get(size) ?? Number.NaN)
    expectAtMost(`${view}: longest block of the event loop, ms`, loopDelay(), MOST_BLOCK_MS)
    console.log(
      `  wall clock p50 ${median(answers.map(({ ms }) => ms)).toFixed(1)} ms, busy cores ${cores.toFixed(2)}`,
    )
    expectAtMost(`${view}: bytes of the largest page`, await largestPage(view), MOST_BYTES)
  }
}

const loopDelay = (): number => Number(readFileSync(delayFile, 'utf8'))

async function largestPage(view: string): Promise<number> {
  let most = 0
  let cursor: string | null = null
  do {
    const from: string = cursor === null ? '' : `&cursor=${cursor}`
    const page = await ask(platform, large?.token ?? '', `/deployments/big/why?view=${view}&limit=500${from}`)
    most = Math.max(most, page.bytes)
    cursor = page.cursor
  } while (cursor !== null)
  return most
}

/** The p99 of other tenants' reads, in milliseconds, while `beside` is called once a second. */
async function p99OfOthers(seconds: number, beside: (second: number) => Promise<void>): Promise<number> {
  const reads: Reads = { port: platform.port, tokens: others.map(({ token }) => token), pauseMs: 5 }
  const reader = new Worker(new URL('why-reads.ts', import.meta.url), { workerData: reads })
  const timesOf = async (): Promise<number[]> => {
    reader.postMessage('read')
    const [times] = await once(reader, 'message')
    return times
  }
  try {
    await sleep(WARM_UP_MS)
    await timesOf()
    for (let second = 0; second < seconds; second += 1) await Promise.all([beside(second), sleep(1_000)])
    return percentile(await timesOf(), 0.99)
  } finally {
    await reader.terminate()
  }
}

const sizesOf = (from: Store, collection: typeof decisions | typeof events): number[] =>
  from.keysOf(collection, tenant).map(({ bytes }) => bytes)

async function measureStorm(): Promise<void> {
  await addNodesUpTo(MOST_NODES)
  for (const { id } of others) await put(store, id as TenantId, deploymentOf('calm', { replicas: 0 }))
  // The other deployments fit on their nodes, so that only one deployment of the tenant waits.
  const fitting = nodeIds.filter((_id, number) => isSchedulable(number)).slice(-20)
  for (const [at, nodeId] of fitting.entries())
    await put(store, tenant, deploymentOf(`other-${at}`, { nodeId, replicas: 1 }))
  await new Promise((resolve) => setTimeout(resolve, 5_000))
  await store.fresh()
  const kept = new Set(
    [...store.keysOf(events, tenant), ...store.keysOf(decisions, tenant)].map(({ key }) => key),
  )
  const quiet = await p99OfOthers(Math.min(SECONDS, 30), async () => {})
  rmSync(delayFile, { force: true })
  const before = { server: serverCpuMs(), busy: busyMicros(), at: performance.now() }
  // A deployment waits for the kinds of change that its refusals name, so some nodes are unreachable from the beginning.
  await changeNodes(0, 20)
  await put(store, tenant, deploymentOf('big', { resources: { cpuMillis: 100_000, memoryBytes: 0 } }))
  const stormy = await p99OfOthers(SECONDS, (second) => changeNodes(second + 1, 20))
  const cores = (busyMicros() - before.busy) / ((performance.now() - before.at) * 1000)
  const serverMs = (serverCpuMs() - before.server) / SECONDS
  await store.fresh()
  const now = new Set(
    [...store.keysOf(events, tenant), ...store.keysOf(decisions, tenant)].map(({ key }) => key),
  )
  console.log(`reasons of ${MOST_NODES} nodes change every second for ${SECONDS} s`)
  console.log(`  p99 of other tenants: quiet ${quiet.toFixed(1)} ms, storm ${stormy.toFixed(1)} ms`)
  expectAtMost('slowdown of the p99 of other tenants', stormy / quiet, MOST_SLOWDOWN)
  expectAtMost('lost records of the history before', [...kept].filter((key) => !now.has(key)).length, 0)
  expectAtMost('bytes of the largest decision', Math.max(...sizesOf(store, decisions)), MOST_BYTES)
  expectAtMost('bytes of the largest event', Math.max(...sizesOf(store, events)), MOST_BYTES)
  const { number = 0 } =
    store.list(placements, tenant).find(({ record }) => record.name === 'big')?.record.decided ?? {}
  console.log(
    `  decisions made ${number}, kept ${sizesOf(store, decisions).length}, events ${sizesOf(store, events).length}`,
  )
  console.log(`  longest block of the event loop ${loopDelay().toFixed(1)} ms`)
  console.log(`  CPU of the server ${serverMs.toFixed(0)} ms a second, busy cores ${cores.toFixed(2)}`)
}

try {
  if (values.storm) await measureStorm()
  else {
    await put(store, tenant, deploymentOf('big', { resources: { cpuMillis: 100_000, memoryBytes: 0 } }))
    for (const size of SIZES) await measureReads(size)
  }
  console.log(missed.length === 0 ? 'all targets reached' : `not reached: ${missed.join('; ')}`)
} finally {
  store.close()
  await platform.stop()
  folder.remove()
}
if (values.check && missed.length > 0) process.exitCode = 1
