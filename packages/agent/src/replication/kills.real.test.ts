// The agent of a primary or of a replica is killed with SIGKILL at commands of its pool, while a checkpoint is taken, sent and
// received, and during a handover. Its successor converges, every file equals its source, and nothing is left over.

import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  asNodeId,
  type DesiredCopy,
  type ObservedCopy,
  type Peer,
  ulid,
  type VolumeCheckpoint,
  type VolumeId,
} from '@holdfast/contract'
import { waitUntil } from '@holdfast/testkit'
import { freePort } from '@holdfast/testkit/free-port'
import { inRun } from '@holdfast/testkit/long-run'
import { ROTATIONS, sliceOf } from '@holdfast/testkit/rotation'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checksums, MIB, startPool, type TestPool } from '../adapters/btrfs/pool.fixture.ts'
import { roundsOf } from '../fixtures/rounds.fixture.ts'
import { generateNodeKeys, publicKeyText } from '../state/node-state.ts'
import {
  type Death,
  type NodeDesired,
  type NodePlace,
  type NodeProcess,
  type NodeSeen,
  startNodeProcess,
} from './node-process.fixture.ts'
import { newVolumeId } from './peer-nodes.fixture.ts'

/** Deaths of each node in a short run, at least one; a long run has a death at every command. */
const DEATHS = {
  replicate: roundsOf('kills', { fewest: 1, usual: 3, long: Number.POSITIVE_INFINITY }),
  handOver: roundsOf('kills', { fewest: 1, usual: 2, long: Number.POSITIVE_INFINITY }),
}
/** One of so many handovers is canceled, so that a short run has both a canceled one and a completed one. */
const CANCEL_EVERY = inRun(2, 3)
const SIZE = 16 * MIB
const POOL = 256 * MIB
const PATIENCE = { timeout: 3_600_000 }
const STUCK_MS = 180_000

interface TestNode {
  readonly home: TestPool
  readonly place: NodePlace
  readonly peer: Peer
  process: NodeProcess
  seen: NodeSeen | undefined
}

let nodes: readonly [TestNode, TestNode]
const volume: VolumeId = newVolumeId()
/** A second volume, which the same container writes once `server.isGrouped` is set. */
const other: VolumeId = newVolumeId()
/** The state that a server keeps: which of the nodes is the primary, and the copies that it desires. */
const server = {
  epoch: 1,
  primaryAt: 0,
  mayCreate: true,
  from: undefined as VolumeCheckpoint | undefined,
  isHandingOver: false,
  isWritten: true,
  isGrouped: false,
  desired: 'present' as 'present' | 'removed' | 'forgotten',
}
const deaths: string[] = []

async function startNode(): Promise<TestNode> {
  const home = await startPool(POOL)
  const { identityKey } = generateNodeKeys()
  const id = asNodeId(`node_${ulid(Date.now(), randomBytes(10))}`)
  const port = await freePort()
  const key = identityKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const place = { id, key, port, folder: home.folder, file: home.file, sizeBytes: POOL }
  const peer = { nodeId: id, address: `127.0.0.1:${port}`, publicKeys: [publicKeyText(identityKey)] }
  return { home, place, peer, process: await startNodeProcess(place), seen: undefined }
}

beforeAll(async () => {
  nodes = [await startNode(), await startNode()]
  await until('the volume is present', () => copyOf(primary())?.state === 'present')
  server.mayCreate = false
  writeFileSync(join(mountOf(primary()), 'large'), randomBytes(MIB))
  await untilSettled()
})
afterAll(async () => {
  for (const { process, home } of nodes ?? []) {
    await process.kill()
    home.remove()
  }
})

const primary = (): TestNode => nodes[server.primaryAt === 0 ? 0 : 1]
const replica = (): TestNode => nodes[server.primaryAt === 0 ? 1 : 0]
const mountOf = ({ home }: TestNode, name = volume): string => join(home.folder, 'volumes', name)
const copyOf = ({ seen }: TestNode, name = volume): ObservedCopy | undefined =>
  seen?.copies.find((one) => one.volume === name && one.epoch === server.epoch)

function desiredOf(node: TestNode): NodeDesired {
  const { epoch, mayCreate, from, isHandingOver, isWritten, isGrouped, desired } = server
  const peer = node === nodes[0] ? nodes[1] : nodes[0]
  const isPrimary = node === primary()
  const copy: DesiredCopy = {
    volume,
    epoch,
    role: isPrimary ? 'primary' : 'replica',
    sizeBytes: SIZE,
    desired: desired === 'present' ? 'present' : 'removed',
    mayCreate: isPrimary && mayCreate,
    peers: [peer.place.id],
    ...(isPrimary && from && { from }),
    ...(isPrimary && isHandingOver && { handOverTo: peer.place.id }),
  }
  const { from: _from, ...rest } = copy
  const second: DesiredCopy = { ...rest, volume: other, mayCreate: isPrimary }
  const copies = isGrouped ? [copy, second] : [copy]
  const groups = [copies.map((one) => one.volume)]
  return { copies: desired === 'forgotten' ? [] : copies, peers: [peer.peer], isWritten, groups }
}

/** Lets both nodes run a round, and starts a new agent on a node whose agent died. */
async function step(): Promise<void> {
  await Promise.all(
    nodes.map(async (node) => {
      node.seen = await node.process.send({ desired: desiredOf(node) })
      if (node.seen !== undefined) return
      deaths.push(node.process.diedAt() ?? 'alive')
      node.process = await startNodeProcess(node.place)
    }),
  )
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const stepped = async (): Promise<boolean> => {
    await step()
    return holds()
  }
  await waitUntil(stepped, { what, timeoutMs: STUCK_MS, intervalMs: 1, seen: describe })
}

const describe = (): string =>
  JSON.stringify({ death: deaths.at(-1), left: leftovers(), seen: nodes.map(({ seen }) => seen) })

/** The names in a folder of the pool; checkpoints are in the order of their epochs and numbers. */
const folderOf = ({ home }: TestNode, ...names: string[]): string[] =>
  listed(join(home.root, ...names)).toSorted((a, b) => orderOf(a) - orderOf(b))
const orderOf = (name: string): number => {
  const [epoch = 0, number = 0] = name.split('.').map(Number)
  return epoch * 1_000_000 + number
}
function listed(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

const contentOf = ({ home }: TestNode, name: string, of = volume) =>
  checksums(join(home.root, 'checkpoints', of, name, name))

/** Everything in the pools and among the mounts that a settled volume does not need. */
function leftovers(): string[] {
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
  return nodes.flatMap((node, at) => {
    const isPrimary = node === primary() && server.desired === 'present'
    const live: readonly string[] = isPrimary ? [volume] : []
    const most = isPrimary ? 1 : server.desired === 'present' ? 2 : 0
    const checkpoints = folderOf(node, 'checkpoints', volume)
    const notes = server.desired === 'present' ? [volume, `${volume}-checkpoints`] : []
    const known = ['daily-usage', ...notes].map((name) => `${name}.json`)
    const found = [
      ...folderOf(node, 'volumes').filter((name) => !live.includes(name)),
      ...checkpoints.slice(0, Math.max(0, checkpoints.length - most)),
      ...checkpoints.filter((name) => folderOf(node, 'checkpoints', volume, name).join() !== name),
      ...folderOf(node, 'checkpoints').filter(() => server.desired !== 'present'),
      ...folderOf(node, 'incoming').map((name) => `incoming ${name}`),
      ...folderOf(node, 'notes').filter((name) => !known.includes(name)),
      ...listed(join(node.home.folder, 'volumes')).filter((name) => !live.includes(name)),
      ...(isPrimary ? [] : mounts.filter((line) => line.includes(mountOf(node)))),
    ]
    return found.map((what) => `node ${at}: ${what}`)
  })
}

/** Waits until the replica has the content of the primary, and expects that nothing else is left. */
async function untilSettled(): Promise<void> {
  const data = JSON.stringify(checksums(mountOf(primary())))
  const newest = (): string | undefined => folderOf(replica(), 'checkpoints', volume).at(-1)
  const isCopied = (name = newest()): boolean =>
    name !== undefined && JSON.stringify(contentOf(replica(), name)) === data
  await until('the replica has the content of the primary', () => isCopied() && leftovers().length === 0)
  const names = folderOf(primary(), 'checkpoints', volume)
  for (const name of folderOf(replica(), 'checkpoints', volume))
    if (names.includes(name)) expect(contentOf(replica(), name), name).toEqual(contentOf(primary(), name))
}

let writes = 0
function change(): void {
  writes += 1
  writeFileSync(join(mountOf(primary()), `file-${writes % 4}`), randomBytes(100_000))
  rmSync(join(mountOf(primary()), `file-${(writes + 2) % 4}`), { force: true })
}

async function replicateOnce(): Promise<void> {
  change()
  await untilSettled()
}

/** Hands the volume over, or cancels the handover after a death. */
async function handOverOnce(isCanceled: boolean): Promise<void> {
  const [source, before] = [primary(), deaths.length]
  server.isHandingOver = true
  server.isWritten = true
  change()
  await step()
  change()
  server.isWritten = false
  const data = checksums(mountOf(source))
  const released = (): ObservedCopy['released'] => copyOf(source)?.released
  const isOver = (): boolean => released() !== undefined || (isCanceled && deaths.length > before)
  await until('the primary has released the volume', isOver)
  const last = released()
  server.isHandingOver = false
  server.isWritten = true
  if (isCanceled || last === undefined) server.from = undefined
  else {
    const { epoch, number } = last.checkpoint
    expect(contentOf(replica(), `${epoch}.${number}`)).toEqual(data)
    server.from = last.checkpoint
    server.primaryAt = 1 - server.primaryAt
  }
  server.epoch += 1
  await until('the primary is present', () => copyOf(primary())?.state === 'present')
  expect(checksums(mountOf(primary()))).toEqual(data)
  await replicateOnce()
}

/** The part of the distance between two deaths before the first one: each CI run kills at other commands. */
const SHIFT = (sliceOf('machine-rounds') ?? 0) / ROTATIONS['machine-rounds']

/** Runs the work with deaths at equal distances, first of the primary and then of the replica. */
async function dieDuring(
  most: number,
  work: (round: number) => Promise<void>,
): Promise<{ kills: number; size: string }> {
  let [kills, rounds, all] = [0, 0, 0]
  for (const sideOf of [primary, replica]) {
    await sideOf().process.send({ death: { command: 0, at: 'end' } })
    const counted = sideOf()
    await work(0)
    const commands = counted.seen?.commands ?? 0
    expect(commands).toBeGreaterThan(10)
    all += commands
    const step = Math.ceil(commands / Math.min(most, commands))
    for (let command = 1 + Math.floor(step * SHIFT); command <= commands; command += step) {
      const before = deaths.length
      const at: Death['at'] = rounds % 2 === 0 ? 'end' : 'start'
      await sideOf().process.send({ death: { command, at } })
      await work(rounds)
      kills += deaths.length - before
      rounds += 1
    }
  }
  return { kills, size: `${kills} kills at ${rounds} of ${all} commands` }
}

test('replicates a volume after the agent of either node was killed at any command', PATIENCE, async () => {
  const { kills, size } = await dieDuring(DEATHS.replicate, replicateOnce)
  expect(kills).toBeGreaterThan(inRun(1, 3))
  console.log(`checkpoints and receives: ${size}`)
})

test('hands a volume over, or cancels it, after the agent of either node was killed', PATIENCE, async () => {
  const { kills, size } = await dieDuring(DEATHS.handOver, (round) =>
    handOverOnce(round % CANCEL_EVERY === 1),
  )
  expect(kills).toBeGreaterThan(inRun(1, 3))
  console.log(`handovers: ${size}`)
})

test(
  'takes a group again after the agent was killed between the checkpoints of its volumes',
  PATIENCE,
  async () => {
    server.isGrouped = true
    await until('the second volume is present', () => copyOf(primary(), other)?.state === 'present')
    const namesOf = (node: TestNode): string[][] =>
      [volume, other].map((one) => folderOf(node, 'checkpoints', one))
    const isWhole = (node: TestNode): boolean => {
      const [first = [], second = []] = namesOf(node)
      return first.length > 0 && first.at(-1) === second.at(-1)
    }
    await until('the replica has a checkpoint of both', () => isWhole(replica()))
    const before = namesOf(replica())[0]?.at(-1) ?? ''
    const death = { command: 1, at: 'end', of: 'subvolume snapshot -r' } as const
    const kills = deaths.length
    await primary().process.send({ death })
    change()
    const data = checksums(mountOf(primary()))
    await until('the agent died', () => deaths.length > kills)
    expect(deaths.at(-1)).toContain(death.of)
    const half = namesOf(primary())[0]?.at(-1) ?? ''
    expect(orderOf(half)).toBeGreaterThan(orderOf(before))
    expect(folderOf(primary(), 'checkpoints', other)).not.toContain(half)
    await until('the replica has a newer checkpoint of both', () => {
      expect(namesOf(replica()).flat(), 'the half checkpoint').not.toContain(half)
      return isWhole(replica()) && orderOf(namesOf(replica())[0]?.at(-1) ?? '') > orderOf(half)
    })
    expect(contentOf(replica(), namesOf(replica())[0]?.at(-1) ?? '')).toEqual(data)
    await until('the half checkpoint is dropped', () => !namesOf(primary()).flat().includes(half))
  },
)

test('removes the volume from both nodes without a trace', PATIENCE, async () => {
  server.desired = 'removed'
  const isRemoved = (node: TestNode): boolean =>
    [volume, other].every((one) => copyOf(node, one)?.state === 'removed')
  await until('all copies are removed', () => nodes.every(isRemoved))
  server.desired = 'forgotten'
  await until('nothing is left', () => leftovers().length === 0)
})
