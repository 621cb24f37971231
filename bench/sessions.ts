// The cost of sessions: many agents over TLS on one server process, idle and while placements change.
// Usage: node bench/sessions.ts [--agents 2000] [--seconds 20] [--rate 200] [--check]

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { AssignmentId } from '@holdfast/contract'
import { type EtcdCluster, makeCertificates, startEtcd, startSimulatedAgents } from '@holdfast/testkit'
import {
  addTenant,
  anAssignment,
  type EnrolledNode,
  enrollMany,
  place,
} from '@holdfast/testkit/session/session-records'
import { openTestStore, type TestStore } from '@holdfast/testkit/store/open-test-store'
import { busyMicros, cpuMicros } from './lib/cpu.ts'
import { percentile } from './lib/stats.ts'

const { values } = parseArgs({
  options: {
    agents: { type: 'string', default: '2000' },
    seconds: { type: 'string', default: '20' },
    rate: { type: 'string', default: '200' },
    check: { type: 'boolean', default: false },
  },
})
const agents = Number(values.agents)
const seconds = Number(values.seconds)
const rate = Number(values.rate)
const ROOT = '/hf'
const NODES_OF_A_TENANT = 50
const SERVER = join(import.meta.dirname, 'session-server.ts')

const certificates = await makeCertificates()
const etcd = await startEtcd({ members: 3 })
const opened = await openTestStore({ endpoints: etcd.endpoints, root: ROOT })
const nodes = await enrollAll(opened)
const server = await startServer(etcd)
const pid = server.child.pid ?? 0

const none = await rest('no session')
const rssBefore = rssKib(pid)
const cpuBefore = cpuMicros([pid])
const began = performance.now()
const receivers = new Map<AssignmentId, (at: number) => void>()
const crowd = await startSimulatedAgents({
  url: server.url,
  ca: certificates.pem('ca.crt'),
  nodes,
  onDesired: (_nodeId, message) => {
    const at = performance.now()
    for (const { assignmentId } of message.items) receivers.get(assignmentId)?.(at)
  },
})
const connectSeconds = (performance.now() - began) / 1000
const connectMicros = (cpuMicros([pid]) - cpuBefore) / agents
console.log(
  `${agents} sessions opened in ${connectSeconds.toFixed(1)} s, ${connectMicros.toFixed(0)} us of the server each`,
)
const idle = await rest(`${agents} sessions`)
const rssEach = (rssKib(pid) - rssBefore) / agents
console.log(
  `memory of the server: ${rssEach.toFixed(1)} KiB a session (${(rssKib(pid) / 1024).toFixed(0)} MiB in all)`,
)
const latency = await changePlacements(opened)

crowd.close()
await stop(server.child)
opened.close()
await etcd.stop()
certificates.remove()
if (values.check) check()

async function enrollAll({ store }: TestStore): Promise<EnrolledNode[]> {
  const enrolled: EnrolledNode[] = []
  while (enrolled.length < agents) {
    const tenant = await addTenant(store)
    enrolled.push(...(await enrollMany(store, tenant, Math.min(NODES_OF_A_TENANT, agents - enrolled.length))))
  }
  return enrolled
}

async function startServer({ endpoints }: EtcdCluster): Promise<{ child: ChildProcess; url: string }> {
  const tls = { cert: certificates.pem('server.crt'), key: certificates.pem('server.key') }
  const options = JSON.stringify({ endpoints, root: ROOT, tls, replica: 'bench' })
  const child = spawn(process.execPath, [SERVER, options], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [line] = await once(createInterface(child.stdout), 'line')
  return { child, url: JSON.parse(String(line)).url }
}

interface Rest {
  readonly cores: number
  readonly revisions: number
}

/** Measures the server's CPU use and its writes to the store while all sessions are idle. */
async function rest(what: string): Promise<Rest> {
  // Waits until the agents' connections are established and their work is over.
  await pause(3_000)
  const revision = () => opened.engine.range({ key: 'nothing' }).then((range) => range.revision)
  const [cpu, busy, own, from] = [cpuMicros([pid]), busyMicros(), cpuMicros([process.pid]), await revision()]
  await pause(seconds * 1000)
  const spent = cpuMicros([pid]) - cpu
  const cores = spent / seconds / 1e6
  const others = (busyMicros() - busy - spent - (cpuMicros([process.pid]) - own)) / seconds / 1e6
  const revisions = (await revision()) - from
  console.log(
    `${what}, idle for ${seconds} s: ${cores.toFixed(3)} core, ${revisions} revisions of etcd (other cores ${others.toFixed(2)}, etcd among them)`,
  )
  return { cores, revisions }
}

/**
 * Writes placements at a constant rate, each on another node. Measures the time until the agent has the placement: from
 * the start of the write, and from its acknowledgement.
 */
async function changePlacements({ store }: TestStore): Promise<{ p50: number; p99: number }> {
  const fromBeginning: number[] = []
  const fromAccepted: number[] = []
  const under: Promise<void>[] = []
  const start = performance.now()
  const count = rate * Math.min(seconds, 10)
  for (let index = 0; index < count; index += 1) {
    const node = nodes[(index * 7) % nodes.length]
    if (node === undefined) throw new Error('no node')
    await pause(Math.max(0, start + (index * 1000) / rate - performance.now()))
    under.push(oneChange(node))
  }
  await Promise.all(under)
  const [p50, p99] = [percentile(fromBeginning, 0.5), percentile(fromBeginning, 0.99)]
  const accepted = [0.5, 0.99].map((share) => percentile(fromAccepted, share).toFixed(1)).join(' / ')
  console.log(
    `${rate} placements a second: written to received p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms; from the store's response ${accepted} ms`,
  )
  return { p50, p99 }

  async function oneChange(node: EnrolledNode): Promise<void> {
    const assignment = anAssignment(node.nodeId)
    const begun = performance.now()
    const arrived = new Promise<number>((resolve) => receivers.set(assignment.id, resolve))
    await place(store, node.tenant, [assignment])
    const accepted = performance.now()
    const at = await arrived
    receivers.delete(assignment.id)
    fromBeginning.push(at - begun)
    fromAccepted.push(at - accepted)
  }
}

function rssKib(process: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${process}/status`, 'utf8'))?.[1] ?? Number.NaN)
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.stdin?.end()
  await ended
}

/** Compares the results with the targets for this machine; bench/README.md explains the targets. */
function check(): void {
  const limits: [string, number, number][] = [
    [
      'core while idle, for 10,000 sessions',
      ((idle.cores - none.cores) * 10_000) / agents + none.cores,
      0.15,
    ],
    ['KiB a session', rssEach, 64],
    ['revisions beyond those without sessions', idle.revisions - none.revisions, 0],
    ['ms p50 written to received', latency.p50, 15],
    ['ms p99 written to received', latency.p99, 75],
  ]
  for (const [what, value, limit] of limits) {
    const reached = value <= limit
    if (!reached) process.exitCode = 1
    console.log(`${reached ? 'reached' : 'NOT REACHED'}: ${what}: ${value.toFixed(3)}, at most ${limit}`)
  }
}
