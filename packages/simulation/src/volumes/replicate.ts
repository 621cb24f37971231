// The simulated side of a primary: rounds that take checkpoints, send them to the replicas and finish handovers. The
// decisions are those of the real agent; the pool, the writers and the network are simulated.

import type { DesiredCopy, NodeId, ObservedCopy, Peer, VolumeCheckpoint, VolumeId } from '@holdfast/contract'
import {
  baseOf,
  includesCheckpoint,
  isClean,
  isSameCheckpoint,
  needsCheckpoint,
  newestOfGroup,
  newestTaken,
  nextNumber,
  outdatedCheckpoints,
  type PrimaryFacts,
  planHandover,
  type ReplicaFacts,
  replicaState,
  SILENT_MS,
  takenAs,
  writtenVolumes,
} from '@holdfast/core/node'
import type { Machine } from '../cluster/machine.ts'
import type { Random } from '../time/random.ts'
import type { CopyKeeper } from './keep-copies.ts'
import type { ReachPeer } from './peers.ts'
import { dropCheckpoints, type Pool, takeCheckpoint, writeInto } from './pool.ts'

export interface ReplicationDeps {
  readonly machine: Machine
  readonly pool: Pool
  readonly keeper: CopyKeeper
  readonly random: Random
  readonly self: NodeId
  readonly reach: ReachPeer
  /** Called after `replicas` has changed for a volume. */
  onChange(volume: VolumeId): void
  onTouched(): void
}

export interface Replication {
  replicas(volume: VolumeId): ObservedCopy['replicas']
  /** The newest checkpoint of a primary in its epoch, and the replicas that have acknowledged it. */
  current(volume: VolumeId): { readonly number: number; readonly nodes: readonly NodeId[] } | undefined
}

interface Entry {
  held: readonly VolumeCheckpoint[] | undefined
  inFlight: VolumeCheckpoint | undefined
  asOfMs: number | undefined
  answeredMs: number
  retryAtMs: number
}

interface Primary {
  readonly volume: VolumeId
  readonly copy: DesiredCopy
  readonly targets: readonly NodeId[]
  readonly facts: PrimaryFacts
}

interface Replicating extends ReplicationDeps {
  readonly entries: Map<string, Entry>
  readonly takenAt: Map<string, number>
  readonly confirming: Set<NodeId>
  readonly sending: Set<NodeId>
  readonly reported: Map<VolumeId, string>
  primaries: readonly Primary[]
}

const ROUND_MS = 5_000
const RETRY_MS = 5_000
const UNREACHED_MS = 5_000

export function startReplication(deps: ReplicationDeps): Replication {
  const replicating: Replicating = {
    ...deps,
    entries: new Map(),
    takenAt: new Map(),
    confirming: new Set(),
    sending: new Set(),
    reported: new Map(),
    primaries: [],
  }
  setInterval(() => round(replicating), ROUND_MS)
  return {
    replicas: (volume) => replicasOf(replicating, volume),
    current: (volume) => currentOf(replicating, volume),
  }
}

function currentOf(replicating: Replicating, volume: VolumeId): ReturnType<Replication['current']> {
  const primary = replicating.primaries.find((one) => one.volume === volume)
  const newest = primary && newestTaken(primary.facts)
  if (primary === undefined || newest === undefined) return undefined
  const isHolding = (node: NodeId) =>
    includesCheckpoint(entryOf(replicating, volume, node).held ?? [], newest)
  return { number: newest.number, nodes: primary.targets.filter(isHolding) }
}

function round(replicating: Replicating): void {
  const { pool, keeper, machine } = replicating
  if (![...keeper.desired.values()].some(isPrimary)) return
  forget(replicating)
  const unwritten = unwrittenVolumes(replicating)
  const startedMs = performance.now()
  flushWriters(machine, pool)
  replicating.primaries = primariesOf(replicating)
  for (const one of replicating.primaries) releaseIfDone(replicating, one, unwritten)
  takeDue(replicating, unwritten)
  dropOutdated(replicating)
  for (const peer of keeper.peers()) {
    void confirm(replicating, peer, startedMs)
    void send(replicating, peer)
  }
  reportChanges(replicating)
}

const isPrimary = ({ role, desired }: DesiredCopy): boolean => role === 'primary' && desired === 'present'

/** Every container that writes has written something since the last flush. */
export function flushWriters({ containers }: Machine, pool: Pool): void {
  for (const { state, template, assignmentId } of containers.values())
    if (state === 'running')
      for (const volume of writtenVolumes(template)) writeInto(pool, volume, assignmentId)
}

function unwrittenVolumes({ keeper, machine }: Replicating): ReadonlySet<VolumeId> {
  const written = new Set(
    [...machine.containers.values()].flatMap(({ template }) => writtenVolumes(template)),
  )
  return new Set([...keeper.desired.keys()].filter((volume) => !written.has(volume)))
}

/** The volumes with complete live data of the current epoch that this node has not released. */
function primariesOf({ keeper, pool }: Replicating): Primary[] {
  return [...keeper.desired.values()].filter(isPrimary).flatMap((copy): Primary[] => {
    const { volume, epoch, peers, handOverTo } = copy
    const { live, note, checkpoints = [] } = pool.volumes.get(volume) ?? {}
    const isOwn = note?.content?.isMade === true && note.content.epoch === epoch
    if (live === undefined || !isOwn || note.released !== undefined) return []
    const targets = [...new Set(handOverTo === undefined ? peers : [...peers, handOverTo])]
    return [{ volume, copy, targets, facts: { epoch, generation: live.generation, own: checkpoints } }]
  })
}

function entryOf({ entries }: Replicating, volume: VolumeId, node: NodeId): Entry {
  const key = `${volume}/${node}`
  const entry = entries.get(key) ?? {
    held: undefined,
    inFlight: undefined,
    asOfMs: undefined,
    answeredMs: performance.now(),
    retryAtMs: 0,
  }
  entries.set(key, entry)
  return entry
}

function forget({ entries, keeper }: Replicating): void {
  const desired = [...keeper.desired.values()].flatMap(({ volume, peers, handOverTo }) =>
    [...peers, ...(handOverTo === undefined ? [] : [handOverTo])].map((node) => `${volume}/${node}`),
  )
  for (const key of entries.keys()) if (!desired.includes(key)) entries.delete(key)
}

function stepOf(
  replicating: Replicating,
  { volume, copy, facts }: Primary,
  unwritten: ReadonlySet<VolumeId>,
) {
  if (copy.handOverTo === undefined) return { kind: 'replicate' } as const
  const { held } = entryOf(replicating, volume, copy.handOverTo)
  return planHandover({ ...facts, held, isWritten: !unwritten.has(volume) })
}

function releaseIfDone(replicating: Replicating, one: Primary, unwritten: ReadonlySet<VolumeId>): void {
  const step = stepOf(replicating, one, unwritten)
  const { handOverTo } = one.copy
  if (step.kind !== 'abdicate' || handOverTo === undefined) return
  replicating.keeper.release(one.volume, { to: handOverTo, checkpoint: step.checkpoint })
}

function factsOf(replicating: Replicating, { volume, targets }: Primary): ReplicaFacts[] {
  return targets.map((node) => {
    const { held, inFlight, answeredMs } = entryOf(replicating, volume, node)
    return { held, inFlight, silentMs: performance.now() - answeredMs }
  })
}

const isReleased = ({ pool }: Replicating, volume: VolumeId): boolean =>
  pool.volumes.get(volume)?.note?.released !== undefined

function takeDue(replicating: Replicating, unwritten: ReadonlySet<VolumeId>): void {
  const open = replicating.primaries.filter(
    ({ volume, targets }) => targets.length > 0 && !isReleased(replicating, volume),
  )
  let isTaken = false
  for (const group of groupsOf(replicating, open)) {
    const isLast = group.some((one) => stepOf(replicating, one, unwritten).kind === 'take')
    const facts = group.map((one) => ({ facts: one.facts, replicas: factsOf(replicating, one) }))
    if (!isLast && !needsCheckpoint(facts)) continue
    takeGroup(replicating, group)
    isTaken = true
  }
  if (isTaken) replicating.primaries = primariesOf(replicating)
}

/** The volumes that one container writes are taken together. */
function groupsOf({ machine }: Replicating, primaries: readonly Primary[]): Primary[][] {
  const groups = [...machine.containers.values()].map(({ template }) => writtenVolumes(template))
  const keyOf = ({ volume }: Primary) => groups.find((group) => group.includes(volume))?.join() ?? volume
  return [...Map.groupBy(primaries, keyOf).values()]
}

function takeGroup(replicating: Replicating, group: readonly Primary[]): void {
  const { pool, takenAt, onTouched } = replicating
  const numbers = group.map((one) => {
    const last = pool.volumes.get(one.volume)?.lastNumber
    const held = factsOf(replicating, one).flatMap((each) => each.held ?? [])
    return nextNumber([...one.facts.own, ...held, ...(last ? [last] : [])])
  })
  const number = Math.max(...numbers)
  for (const { volume, copy } of group) {
    takeCheckpoint(pool, volume, { epoch: copy.epoch, number })
    takenAt.set(`${volume} ${copy.epoch}.${number}`, performance.now())
  }
  onTouched()
}

function dropOutdated(replicating: Replicating): void {
  for (const one of replicating.primaries)
    dropCheckpoints(
      replicating.pool,
      one.volume,
      outdatedCheckpoints(one.facts, factsOf(replicating, one), 1),
    )
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Asks a replica which checkpoints it has. An unchanged volume is up to date as of the start of the round. */
async function confirm(replicating: Replicating, peer: Peer, startedMs: number): Promise<void> {
  const { confirming, reach, random, self } = replicating
  const own = replicating.primaries.filter(({ targets }) => targets.includes(peer.nodeId))
  if (own.length === 0 || confirming.has(peer.nodeId)) return
  confirming.add(peer.nodeId)
  await pause(1 + random.below(20))
  const side = reach(peer)
  const answers = own.map((one) => side?.confirm(self, { volume: one.volume, epoch: one.copy.epoch }))
  await pause(side === undefined ? UNREACHED_MS : 1 + random.below(20))
  confirming.delete(peer.nodeId)
  if (side === undefined || reach(peer) === undefined) return
  for (const [index, { volume, facts }] of own.entries()) {
    const answer = answers[index]
    if (answer === undefined || !('held' in answer)) continue
    const newest = newestTaken(facts)
    const isCurrent = newest !== undefined && isClean(facts) && includesCheckpoint(answer.held, newest)
    acknowledge(entryOf(replicating, volume, peer.nodeId), answer.held, isCurrent ? startedMs : undefined)
    logAcknowledged(replicating, volume, peer.nodeId, answer.held)
  }
  reportChanges(replicating)
  void send(replicating, peer)
}

function acknowledge(entry: Entry, held: readonly VolumeCheckpoint[], asOfMs: number | undefined): void {
  entry.held = held
  entry.answeredMs = performance.now()
  if (asOfMs !== undefined) entry.asOfMs = Math.max(entry.asOfMs ?? asOfMs, asOfMs)
}

/** Notes for the invariants which content the primary knows to be on a replica. */
function logAcknowledged(
  { pool }: Replicating,
  volume: VolumeId,
  node: NodeId,
  held: readonly VolumeCheckpoint[],
): void {
  const known = pool.volumes.get(volume)?.checkpoints.find((own) => includesCheckpoint(held.slice(0, 1), own))
  if (known !== undefined) pool.log.acknowledge(volume, node, known)
}

/** Sends a node what it lacks, one checkpoint after another. */
async function send(replicating: Replicating, peer: Peer): Promise<void> {
  const { sending } = replicating
  if (sending.has(peer.nodeId)) return
  sending.add(peer.nodeId)
  for (let due = findDue(replicating, peer.nodeId); due; due = findDue(replicating, peer.nodeId))
    await sendOne(replicating, peer, due)
  sending.delete(peer.nodeId)
}

/** The newest checkpoint of the volume that every volume of its group has. */
function wholeOf(replicating: Replicating, { volume, facts }: Primary): VolumeCheckpoint | undefined {
  const replicated = replicating.primaries.filter(({ targets }) => targets.length > 0)
  const group = groupsOf(replicating, replicated).find((each) => each.some((one) => one.volume === volume))
  return takenAs(facts, newestOfGroup((group ?? []).map((one) => one.facts)))
}

function findDue(replicating: Replicating, node: NodeId): Primary | undefined {
  const nowMs = performance.now()
  return replicating.primaries.find((one) => {
    const { volume, targets } = one
    const newest = wholeOf(replicating, one)
    if (newest === undefined || !targets.includes(node)) return false
    const { held, retryAtMs, answeredMs } = entryOf(replicating, volume, node)
    if (held === undefined || retryAtMs > nowMs || nowMs - answeredMs > SILENT_MS) return false
    return !includesCheckpoint(held, newest)
  })
}

async function sendOne(replicating: Replicating, peer: Peer, one: Primary): Promise<void> {
  const { reach, random, self, pool, takenAt } = replicating
  const { volume, facts } = one
  const entry = entryOf(replicating, volume, peer.nodeId)
  const newest = wholeOf(replicating, one)
  const target = pool.volumes
    .get(volume)
    ?.checkpoints.find((each) => newest !== undefined && isSameCheckpoint(each, newest))
  const base = newest && baseOf(facts.own, entry.held ?? [], newest)
  entry.inFlight = newest
  await pause(1 + random.below(20))
  const agreed = target && reach(peer)?.agree(self, volume, target, base)
  if (agreed === 'accept') await pause(50 + random.below(base === undefined ? 4_000 : 600))
  const stored = target && agreed === 'accept' ? reach(peer)?.store(self, volume, target, base) : agreed
  await pause(1 + random.below(20))
  entry.inFlight = undefined
  if (target === undefined || stored === undefined || stored === 'refuse' || reach(peer) === undefined) {
    entry.retryAtMs = performance.now() + RETRY_MS
    return
  }
  const { epoch, number } = target
  const held = base === undefined ? [{ epoch, number }] : [{ epoch, number }, base]
  acknowledge(entry, held, takenAt.get(`${volume} ${epoch}.${number}`))
  pool.log.acknowledge(volume, peer.nodeId, target)
  reportChanges(replicating)
  if (replicating.keeper.desired.get(volume)?.handOverTo !== undefined) round(replicating)
}

function replicasOf(replicating: Replicating, volume: VolumeId): ObservedCopy['replicas'] {
  const copy = replicating.keeper.desired.get(volume)
  if (copy === undefined || !isPrimary(copy)) return undefined
  return copy.peers.flatMap((nodeId) => {
    const { held, asOfMs } = entryOf(replicating, volume, nodeId)
    if (held === undefined) return []
    return [{ nodeId, state: replicaState({ acknowledged: held[0], asOfMs }, performance.now()) }]
  })
}

function reportChanges(replicating: Replicating): void {
  const { reported, keeper, onChange } = replicating
  for (const volume of keeper.desired.keys()) {
    const text = JSON.stringify(replicasOf(replicating, volume) ?? [])
    if (text === (reported.get(volume) ?? '[]')) continue
    reported.set(volume, text)
    onChange(volume)
  }
}
