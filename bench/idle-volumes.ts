// Measures the cost of idle replicated volumes: CPU of the agents, bytes on the peer port and writes to the store, in a
// lab with many volumes that no container writes.
// bench/README.md explains how to run and read it.

import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type LabNode, waitUntil } from '@holdfast/testkit'
import { untilPhase } from '@holdfast/testkit/scenarios/lab-reads'
import { startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { busyMicros } from './lib/cpu.ts'
import { connectEtcdForBench } from './lib/etcd.ts'
import {
  agentPid,
  cpuWithChildren,
  createVolume,
  nodeIds,
  readVolume,
  untilReplicated,
} from './lib/volumes/lab-volumes.ts'

const { values } = parseArgs({
  options: {
    volumes: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '60' },
    check: { type: 'boolean', default: false },
  },
})
const VOLUMES = Number(values.volumes)
const SECONDS = Number(values.seconds)
const MIB = 1024 ** 2
const SIZE = 16 * MIB
const PEER_PORT = '7844'
const MOST_CORES = 0.05
/** Rounds and confirmations in flight when a measurement begins are over after this time. */
const SETTLE_MS = 15_000

const cluster = await startLabPlatform({
  nodesPerTenant: { acme: 2, globex: 0 },
  etcdMembers: 1,
  // Each copy needs room for twice its size, and a pool keeps a share free.
  poolSize: `${Math.ceil((VOLUMES * 2 * SIZE * 1.1) / MIB) + 512}Mi`,
  settings: { volumes: { enabled: true } },
})
const primary = cluster.node('acme-1')
const replica = cluster.node('acme-2')
const etcd = connectEtcdForBench(cluster.etcd?.endpoints ?? [])
await countPeerBytes(primary)
await runContainer()

const before = await measure('no volume')
const nodeId = (await nodeIds(cluster)).get('acme-1') ?? ''
const began = performance.now()
const ids: string[] = []
for (let index = 1; index <= VOLUMES; index += 1)
  ids.push(await createVolume(cluster, { name: `idle-${index}`, sizeBytes: SIZE, replicas: 1, nodeId }))
await untilReplicated(cluster, ids)
console.log(`${VOLUMES} volumes replicated after ${((performance.now() - began) / 1000).toFixed(0)} s`)
const checkpoints = await knownCheckpoints()
const after = await measure(`${VOLUMES} volumes`)
const sent = (await knownCheckpoints()) === checkpoints ? 0 : 1
report()
await cluster.stop()
// Exits explicitly, because the shared engines would keep the process alive.
process.exit()

/** The lab checks the history of placements at its end, and fails without any. */
async function runContainer(): Promise<void> {
  const body = { kind: 'Deployment', name: 'quiet', image: cluster.image, replicas: 1 }
  const created = await cluster.api('acme').post('/api/v1/deployments', body)
  if (created.status !== 201) throw new Error(`no deployment: ${created.text}`)
  await untilPhase(cluster.api('acme'), 'quiet', 'Running')
}

/** Counts the bytes of connections to the peer port of another node. */
async function countPeerBytes(node: LabNode): Promise<void> {
  await node.exec(['iptables', '-A', 'OUTPUT', '-p', 'tcp', '--dport', PEER_PORT])
  await node.exec(['iptables', '-A', 'INPUT', '-p', 'tcp', '--sport', PEER_PORT])
}

async function peerBytes(node: LabNode): Promise<number> {
  const lines = (await node.exec(['iptables', '-nvxL']))
    .split('\n')
    .filter((line) => line.includes(PEER_PORT))
  return lines.reduce((sum, line) => sum + Number(line.trim().split(/\s+/)[1]), 0)
}

/** The newest checkpoint of each replica, as one text. Waits until all are known: agents measure now and then. */
async function knownCheckpoints(): Promise<string> {
  const numbers = new Map<string, unknown>()
  for (const id of ids)
    await waitUntil(
      async () => {
        const { copies } = await readVolume(cluster, id)
        numbers.set(id, copies.find(({ role }: { role: string }) => role === 'replica')?.checkpoint ?? null)
        return numbers.get(id) !== null
      },
      { what: `the checkpoint of ${id} is known`, timeoutMs: 60_000 },
    )
  return JSON.stringify([...numbers])
}

interface Idle {
  /** Cores used by the agents: their own processes, and the commands that they run. */
  readonly cores: { readonly [node: string]: { readonly own: number; readonly commands: number } }
  readonly bytesPerSecond: number
  readonly revisions: number
  readonly otherCores: number
}

async function measure(about: string): Promise<Idle> {
  await pause(SETTLE_MS)
  const revision = async (): Promise<number> => (await etcd.range({ key: 'nothing' })).revision
  const pids = new Map([primary, replica].map((node) => [node.name, agentPid(node)]))
  const cpu = () => new Map([...pids].map(([name, pid]) => [name, cpuWithChildren(pid)]))
  const start = {
    cpu: cpu(),
    bytes: await peerBytes(primary),
    revision: await revision(),
    busy: busyMicros(),
  }
  await pause(SECONDS * 1000)
  const end = { cpu: cpu(), bytes: await peerBytes(primary), revision: await revision(), busy: busyMicros() }
  const coresOf = (name: string, part: 'own' | 'children'): number =>
    ((end.cpu.get(name)?.[part] ?? 0) - (start.cpu.get(name)?.[part] ?? 0)) / SECONDS / 1e6
  const cores = Object.fromEntries(
    [...pids.keys()].map((name) => [
      name,
      { own: coresOf(name, 'own'), commands: coresOf(name, 'children') },
    ]),
  )
  const ofAgents = Object.values(cores).reduce((sum, { own, commands }) => sum + own + commands, 0)
  const idle = {
    cores,
    bytesPerSecond: (end.bytes - start.bytes) / SECONDS,
    revisions: end.revision - start.revision,
    otherCores: (end.busy - start.busy) / SECONDS / 1e6 - ofAgents,
  }
  console.log(`measured: ${about}`)
  return idle
}

function report(): void {
  console.log(`idle volumes, ${SECONDS} s, ${VOLUMES} volumes with a replica, primaries on acme-1`)
  console.log(
    '                 acme-1: agent  commands   acme-2: agent  commands   peer bytes/s  revisions  other cores',
  )
  line('no volume', before)
  line(`${VOLUMES} volumes`, after)
  const total = ({ own, commands }: { own: number; commands: number }): number => own + commands
  const limits: [string, number, number][] = [
    [
      'cores of the agent with the primaries',
      total(after.cores['acme-1'] ?? { own: 9, commands: 9 }),
      MOST_CORES,
    ],
    [
      'cores of the agent with the replicas',
      total(after.cores['acme-2'] ?? { own: 9, commands: 9 }),
      MOST_CORES,
    ],
    ['checkpoints of idle volumes taken or sent', sent, 0],
    ['revisions of etcd beyond those without volumes', after.revisions - before.revisions, 0],
  ]
  for (const [what, value, limit] of limits) {
    const reached = value <= limit
    if (values.check && !reached) process.exitCode = 1
    console.log(
      `${reached ? 'reached' : 'NOT REACHED'}: ${what}: ${Number(value.toFixed(3))}, at most ${limit}`,
    )
  }
}

function line(about: string, { cores, bytesPerSecond, revisions, otherCores }: Idle): void {
  const shares = ['acme-1', 'acme-2'].flatMap((name) => [cores[name]?.own ?? 0, cores[name]?.commands ?? 0])
  const cells = [...shares.map((share) => share.toFixed(3)), bytesPerSecond.toFixed(0), String(revisions)]
  const widths = [13, 9, 15, 9, 14, 10]
  const padded = cells.map((cell, at) => cell.padStart(widths[at] ?? 8))
  console.log(`  ${about.padEnd(14)} ${padded.join(' ')} ${otherCores.toFixed(2).padStart(12)}`)
}
