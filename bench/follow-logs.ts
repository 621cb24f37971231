// A container that writes as fast as its engine accepts, and clients that follow its logs through the API: the lines they
// receive, the gaps reported to them, and the cost for agent and servers. bench/README.md explains how to run and read
// it.

import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { untilPhase } from '@holdfast/testkit/scenarios/lab-reads'
import { startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { cpuMicros } from './lib/cpu.ts'
import { followLogs } from './lib/follow.ts'
import { nodeIdOf } from './lib/node-id.ts'
import { findProcess, peakMiB, residentMiB, writtenBytes } from './lib/process-memory.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    /** Bytes of a log line, including the line feed. */
    line: { type: 'string', default: '8000' },
    /** KiB per second that the slow follower reads. */
    slow: { type: 'string', default: '128' },
    engines: { type: 'string', default: 'old,new' },
    check: { type: 'boolean', default: false },
  },
})
const SECONDS = Number(values.seconds)
const LINE = Number(values.line)
const MOST_AGENT_MIB = 150
const MOST_SERVERS_MIB = 128
const MIB = 1024 * 1024
const mib = (bytes: number): string => (bytes / MIB).toFixed(1)
/** Two nodes: the first has the older Docker Engine, the second the newer one. */
const NODES = [
  { engine: 'old', node: 'acme-1' },
  { engine: 'new', node: 'acme-2' },
].filter(({ engine }) => values.engines.includes(engine))
const FOLLOWERS = [
  { about: `a follower that reads ${values.slow} KiB/s`, bytesPerSecond: Number(values.slow) * 1024 },
  { about: 'a follower that reads everything', bytesPerSecond: Number.POSITIVE_INFINITY },
]

const cluster = await startLabPlatform({ nodesPerTenant: { acme: 2, globex: 0 } })
const api = cluster.api('acme')
const command = ['busybox', 'yes', 'x'.repeat(LINE - 1)]
const { reference: image } = await cluster.lab.registry.pushBusyboxImage('acme/flood', '1', { command })
let reached = true

console.log(`a container that writes lines of ${LINE} bytes, ${SECONDS} s with each follower`)
for (const { engine, node } of NODES) await measureNode(engine, node)
await cluster.stop()
const wanted = `the agent never above ${MOST_AGENT_MIB} MiB, the servers grow by at most ${MOST_SERVERS_MIB} MiB, gaps are reported to a slow follower`
console.log(reached ? `all targets reached: ${wanted}` : `NOT ALL TARGETS REACHED: ${wanted}`)
if (values.check && !reached) process.exitCode = 1
// Exits explicitly, because the shared engines would keep the process alive.
process.exit()

async function measureNode(engine: string, node: string): Promise<void> {
  const name = `flood-${node}`
  const spec = { kind: 'Deployment', name, image, nodeId: await nodeIdOf(api, node), stopGracePeriod: '1s' }
  const made = await api.post('/api/v1/deployments', spec)
  if (made.status !== 201) throw new Error(`not accepted: ${made.text}`)
  await untilPhase(api, name, 'Running')
  const pids = { agent: agentOf(node), writer: await writerOf(node) }
  const agentBefore = residentMiB(pids.agent)
  const alone = await rateOf(pids.writer, () => pause(SECONDS * 500))
  console.log(`  ${engine} engine: written ${mib(alone)} MiB/s without a follower`)
  for (const follower of FOLLOWERS) await measureFollower(name, pids, follower)
  const peak = peakMiB(pids.agent)
  reached &&= peak <= MOST_AGENT_MIB
  console.log(`    agent: ${agentBefore.toFixed(0)} MiB before, at most ${peak.toFixed(0)} MiB ever (VmHWM)`)
  await api.delete(`/api/v1/deployments/${name}`)
}

type Pids = { readonly agent: number; readonly writer: number }
type Follower = (typeof FOLLOWERS)[number]

async function measureFollower(name: string, pids: Pids, { about, bytesPerSecond }: Follower): Promise<void> {
  const { acme } = cluster.platform
  const url = `${cluster.platform.baseUrl}/api/v1/deployments/${name}/logs?follow=true&tail=1`
  const before = { servers: residentMiB(process.pid), cpu: cpuMicros([pids.agent]) }
  const peaks = { agent: 0, servers: 0 }
  const follower = await followLogs(url, acme.token, bytesPerSecond)
  const rate = await rateOf(pids.writer, async () => {
    for (const until = performance.now() + SECONDS * 1000; performance.now() < until; await pause(50)) {
      peaks.agent = Math.max(peaks.agent, residentMiB(pids.agent))
      peaks.servers = Math.max(peaks.servers, residentMiB(process.pid))
    }
  })
  const { delivered, skipped, gaps } = follower.stop()
  const cores = (cpuMicros([pids.agent]) - before.cpu) / (SECONDS * 1e6)
  const grown = peaks.servers - before.servers
  reached &&= grown <= MOST_SERVERS_MIB && (gaps > 0 || bytesPerSecond > rate)
  const accounted = (delivered * LINE + skipped.bytes) / (rate * SECONDS)
  console.log(`    ${about}: written ${mib(rate)} MiB/s in that time`)
  console.log(
    `      delivered ${delivered} lines (${mib(delivered * LINE)} MiB), skipped ${skipped.lines} lines (${mib(skipped.bytes)} MiB) reported in ${gaps} gaps, together ${(accounted * 100).toFixed(0)} % of the written bytes`,
  )
  console.log(
    `      agent at most ${peaks.agent.toFixed(0)} MiB and ${cores.toFixed(2)} cores; two servers and the follower, one process: ${before.servers.toFixed(0)} MiB before, grew by ${grown.toFixed(0)}`,
  )
}

/** Bytes per second that a process writes during the callback. At most 64 KiB of them have not reached the engine yet. */
async function rateOf(pid: number, during: () => Promise<void>): Promise<number> {
  const before = { bytes: writtenBytes(pid), at: performance.now() }
  await during()
  return ((writtenBytes(pid) - before.bytes) / (performance.now() - before.at)) * 1000
}

function agentOf(node: string): number {
  return findProcess([`${cluster.node(node).folder}/agent`, 'run'])
}

async function writerOf(node: string): Promise<number> {
  const listed = await cluster.node(node).exec(['docker', 'ps', '--quiet', '--filter', 'name=flood'])
  const [id = ''] = listed.trim().split('\n')
  return Number(await cluster.node(node).exec(['docker', 'inspect', '--format', '{{.State.Pid}}', id]))
}
