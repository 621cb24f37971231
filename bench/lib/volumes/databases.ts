// PostgreSQL servers on one node of a lab: two through Holdfast, one on a subvolume and in a container made by hand. Each
// has its own data in the node's pool, and only one of them works at a time.

import { join } from 'node:path'
import type { LabNode } from '@holdfast/testkit'
import { waitUntil } from '@holdfast/testkit'
import { untilPhase } from '@holdfast/testkit/scenarios/lab-reads'
import type { LabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { createVolume, readVolume, untilReplicated } from './lab-volumes.ts'

const MIB = 1024 ** 2
const SIZE = 512 * MIB
const TARGET = '/var/lib/data'
/** Cores as hexadecimal masks of `taskset`. */
const FIRST_CORE = '1'

export interface Database {
  readonly about: string
  /** Transactions per second of pgbench. */
  run(seconds: number): Promise<number>
}

interface Place {
  readonly cluster: LabPlatform
  readonly node: LabNode
  readonly nodeId: string
  readonly image: string
}

/** A deployment that mounts a volume with so many replicas. */
export async function startOnVolume(place: Place, name: string, replicas: number): Promise<Database> {
  const { cluster, node, nodeId, image } = place
  const volume = await createVolume(cluster, { name, sizeBytes: SIZE, replicas, nodeId })
  await untilReplicated(cluster, [volume])
  const created = await cluster.api('acme').post('/api/v1/deployments', {
    kind: 'Deployment',
    name,
    image,
    replicas: 1,
    healthCheck: { type: 'exec', command: ['psql', '-h', '127.0.0.1', '-U', 'postgres', '-c', 'select 1'] },
    volumes: [{ volume, target: TARGET, type: 'volume', readOnly: false }],
  })
  if (created.status !== 201) throw new Error(`no deployment: ${created.text}`)
  await untilPhase(cluster.api('acme'), name, 'Running')
  const listed = await node.exec(['docker', 'ps', '-q', '--filter', `label=holdfast.io/name=${name}`])
  const about = replicas === 0 ? 'volume' : 'replicated'
  const settle = () => (replicas === 0 ? Promise.resolve() : untilIdle(cluster, volume))
  return startDatabase(about, node, listed.trim(), settle)
}

/** A container and a subvolume made by hand, in the same pool and with the same limit and mount options. */
export async function startByHand({ node, image }: Place): Promise<Database> {
  const pool = join(node.folder, 'agent', 'pool')
  const mountPoint = join(node.folder, 'by-hand')
  await node.exec([
    'sh',
    '-c',
    `set -e
btrfs subvolume create ${pool}/by-hand
btrfs qgroup limit ${2 * SIZE} ${pool}/by-hand
mkdir -p ${mountPoint}
mount --bind -o nodev,nosuid,noatime ${pool}/by-hand ${mountPoint}`,
  ])
  const id = await node.exec(['docker', 'run', '-d', '-v', `${mountPoint}:${TARGET}`, image])
  return startDatabase('by hand', node, id.trim(), async () => {})
}

async function startDatabase(
  about: string,
  node: LabNode,
  container: string,
  settle: () => Promise<void>,
): Promise<Database> {
  const inside = (...words: readonly string[]): Promise<string> =>
    node.exec(['docker', 'exec', container, ...words], { timeoutMs: 180_000 })
  const connect = ['-h', '127.0.0.1', '-U', 'postgres']
  const isUp = () =>
    inside('psql', ...connect, '-c', 'select 1').then(
      () => true,
      () => false,
    )
  await waitUntil(isUp, { what: `${about}: PostgreSQL answers`, timeoutMs: 60_000 })
  // The servers of later connections inherit the core of the main process.
  const main = (await node.exec(['docker', 'inspect', '--format', '{{.State.Pid}}', container])).trim()
  await node.exec([
    'sh',
    '-c',
    `for p in ${main} $(pgrep -P ${main}); do taskset -a -p ${FIRST_CORE} $p; done`,
  ])
  await inside('pgbench', ...connect, '-i', '-q', '-s', '5', 'postgres')
  return {
    about,
    async run(seconds) {
      const load = ['pgbench', ...connect, '-n', '-c', '4', '-T', String(seconds), 'postgres']
      const output = await inside('busybox', 'taskset', FIRST_CORE, ...load)
      await inside('psql', ...connect, '-c', 'checkpoint')
      await settle()
      const [, rate] = /^tps = ([\d.]+)/m.exec(output) ?? []
      if (rate === undefined) throw new Error(`no rate in: ${output}`)
      return Number(rate)
    },
  }
}

/** Waits until the replica has the same checkpoint twice in a row: nothing is sent any longer. */
async function untilIdle(cluster: LabPlatform, volume: string): Promise<void> {
  let last = ''
  await waitUntil(
    async () => {
      const { copies } = await readVolume(cluster, volume)
      const seen = JSON.stringify(copies.map((copy: { checkpoint: unknown }) => copy.checkpoint))
      const isSame = seen === last
      last = seen
      return isSame
    },
    { what: 'the replica is up to date', timeoutMs: 60_000, intervalMs: 6_000 },
  )
}
