// The time from the submission of a deployment until the agent of its node receives it, through admission, the store, the
// controllers and the gateway. One server with all roles, nodes over real sessions.
// Usage: node bench/delivery.ts [--rate 200] [--seconds 10] [--nodes 50] [--check]

import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type SimulatedNode, startSimulatedAgents } from '@holdfast/testkit'
import { createApiClient } from '@holdfast/testkit/platform/api-client'
import { bodyOf, nameOf } from './lib/create-body.ts'
import { enrollNode } from './lib/enroll-node.ts'
import { openHttpLoad } from './lib/http-load.ts'
import { type BenchPlatform, startBenchPlatform } from './lib/platform.ts'
import { percentile } from './lib/stats.ts'

const { values } = parseArgs({
  options: {
    rate: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '10' },
    nodes: { type: 'string', default: '50' },
    check: { type: 'boolean', default: false },
  },
})
const RATE = Number(values.rate)
const SECONDS = Number(values.seconds)
const NODES = Number(values.nodes)
const TENANTS = 4
const CONNECTIONS = 256
const NOTHING = { cpuMillis: 0, memoryBytes: 0 }
const P50_MS = 15
const P99_MS = 75

const platform = await startBenchPlatform(TENANTS, { roles: ['api', 'controllers', 'gateway', 'broker'] })
const nodes = await enrollAll(platform)
/** Callbacks that wait until an agent receives a deployment, by deployment name. */
const receivers = new Map<string, (at: number) => void>()
const crowd = await startSimulatedAgents({
  url: `http://127.0.0.1:${platform.port}`,
  nodes,
  report: true,
  onDesired: (_nodeId, { templates }) => {
    const at = performance.now()
    for (const byHash of Object.values(templates))
      for (const { name } of Object.values(byHash)) receivers.get(name)?.(at)
  },
})
const submitted: number[] = []
const accepted: number[] = []
await submitAll(platform)
crowd.close()
await platform.stop()
report()

async function enrollAll({ port, tenants }: BenchPlatform): Promise<SimulatedNode[]> {
  const enrolled: SimulatedNode[] = []
  for (let index = 0; index < NODES; index += 1) {
    const { token } = tenants[index % tenants.length] ?? { token: '' }
    enrolled.push(await enrollNode(createApiClient(`http://127.0.0.1:${port}`, token), `bench-node-${index}`))
  }
  return enrolled
}

/** The body of a deployment with one replica and no resource requests, so that all deployments fit on the nodes. */
function smallBody(image: string, name: string): string {
  return JSON.stringify({ ...JSON.parse(bodyOf(image, name)), replicas: 1, resources: NOTHING })
}

/** Submits deployments at a constant rate, independent of response times. */
async function submitAll({ port, tenants, image }: BenchPlatform): Promise<void> {
  const load = await openHttpLoad(port, CONNECTIONS)
  const start = performance.now()
  const under: Promise<void>[] = []
  for (let index = 0; index < RATE * SECONDS; index += 1) {
    const { token } = tenants[index % tenants.length] ?? { token: '' }
    await pause(Math.max(0, start + (index * 1000) / RATE - performance.now()))
    under.push(submit(nameOf(index), token))
  }
  await Promise.all(under)
  load.close()

  async function submit(name: string, token: string): Promise<void> {
    const begun = performance.now()
    const arrived = new Promise<number>((resolve) => receivers.set(name, resolve))
    const status = await load.post(token, smallBody(image, name))
    if (status !== 201) throw new Error(`creating ${name} returned ${status}`)
    const answered = performance.now()
    const at = await arrived
    receivers.delete(name)
    submitted.push(at - begun)
    // The time since the response is never negative: an agent may receive the deployment before the client is answered.
    accepted.push(Math.max(0, at - answered))
  }
}

/** Compares the results with the targets for this machine; bench/README.md explains the targets. */
function report(): void {
  const line = (from: string, times: readonly number[]): string =>
    `${from} p50 ${percentile(times, 0.5).toFixed(1)} ms, p99 ${percentile(times, 0.99).toFixed(1)} ms`
  console.log(
    `${RATE} deployments a second over ${NODES} nodes: ${line('submitted to received', submitted)}; ${line('accepted to received', accepted)}`,
  )
  const missed = percentile(accepted, 0.5) > P50_MS || percentile(accepted, 0.99) > P99_MS
  console.log(
    `${missed ? 'NOT REACHED' : 'reached'}: accepted to received p50 ${P50_MS} ms, p99 ${P99_MS} ms`,
  )
  if (values.check && missed) process.exitCode = 1
}
