// Starts the parts of the agent that hold volumes: the pool, the node's copies, and their exchange with other nodes.

import { join } from 'node:path'
import {
  type DesiredCopy,
  defined,
  type Measurement,
  type NodeId,
  type ObservedCopy,
  type PoolReport,
  type PoolWipe,
  type VolumeId,
} from '@holdfast/contract'
import { writerLabel, writtenVolumes } from '@holdfast/core/node'
import { timingsFor } from '@holdfast/core/promotion/timings'
import type { Logger } from 'pino'
import type { DesiredSet } from './converge/desired-set.ts'
import { type Fencing, startFencing } from './fencer/start-fencing.ts'
import type { Engine } from './ports/engine.ts'
import type { HostVolumes } from './ports/host-volumes.ts'
import type { Fences, Leases, StartGate } from './ports/leases.ts'
import type { Storage } from './ports/session.ts'
import { MOUNT_POINTS, type VolumePool } from './ports/volume-pool.ts'
import type { VolumeWriters } from './ports/volume-writers.ts'
import {
  DEFAULT_LEASE_MS,
  type PromiseDeps,
  type Promises,
  startPromises,
} from './promises/start-promises.ts'
import type { Replication } from './replication/replication.ts'
import { type PeerSettings, startPeers } from './replication/start-peers.ts'
import type { ServerLink } from './session/server-link.ts'
import type { NodeState } from './state/node-state.ts'
import type { StartCount } from './state/start-count.ts'
import { createDivergences, type Divergences } from './storage/divergences.ts'
import { type CopyKeeper, startCopyKeeper } from './storage/keep-copies.ts'
import { type PoolKeeper, startPoolKeeper } from './storage/keep-pool.ts'

export interface VolumeOptions {
  readonly state: Pick<NodeState, 'identityKey' | 'nodeId'>
  /** The folder that holds the node's state. */
  readonly folder: string
  readonly engine: Pick<Engine, 'listLabelled'>
  /** Opens the node's storage; undefined: this node holds no volumes. */
  openPool?(order?: PoolWipe): Promise<VolumePool>
  /** The port at which other nodes exchange copies of volumes; undefined: this node exchanges none. */
  readonly peers?: PeerSettings
  /** Length of the leases that other nodes grant; the same on all nodes of the tenant. */
  readonly promiseLeaseMs?: number
  /** Freezes the writers of several volumes for their common checkpoint; undefined: such volumes get no checkpoint. */
  readonly freezer?: Pick<VolumeWriters, 'freeze'> & { thawAll(): void }
  /** The machine, for containers with volumes; undefined: they wait. */
  readonly host?: HostVolumes
  /** The folder of the fencer's files; undefined: this node has no fencer, so no other node is promised anything. */
  readonly fencer?: string
  /** The leases of this node's volumes; undefined: those that the promises of other nodes grant. */
  readonly leases?: Leases
  /** The fencer as promises need it; undefined: the one of `fencer`. */
  readonly fences?: Pick<Fences, 'isWatched'>
  readonly log: Logger
}

export interface NodeVolumes extends Pick<CopyKeeper, 'apply' | 'saved' | 'mountPoint' | 'onChange'> {
  /** The size of the pool, or its fault; undefined without a pool. */
  storage(): Storage | undefined
  observed(): ObservedCopy[]
  poolReport(): PoolReport | undefined
  measurements(): Measurement[]
  /** The same after a round of checkpoints that began with this call. Never rejects. */
  checkpoint(): Promise<Measurement[]>
  /** The data that the pool keeps in quarantine. */
  readonly divergences: Divergences
  /** The leases of the volumes that this node writes, and the answers about the promises of its copies. */
  readonly promises: Pick<Promises, 'endMs' | 'answer'>
  /** Calls the function with the images of the writers that a promotion may start here, after each desired set. */
  onImages(listener: (images: string[]) => void): void
  /** Whether writers of volumes may be started. */
  readonly gate: StartGate
  close(): Promise<void>
}

interface VolumeParts {
  readonly server: ServerLink
  readonly desired: DesiredSet['desired']
  /** Number of this start of the agent, and whether it is on disk. */
  readonly start: Pick<StartCount, 'number' | 'isSaved'>
  monotonicMs(): number
}

/** The report of a copy whose promises are unknown. The server answers within seconds, so one that lasts is a fault. */
const FORGOTTEN = { state: 'failed', reason: 'promises_unknown' } as const

/** Without a pool the copies only report that it is absent. */
export async function startVolumes(options: VolumeOptions, parts: VolumeParts): Promise<NodeVolumes> {
  const { openPool, log } = options
  const { server, monotonicMs } = parts
  // The agent before this one may have died while writers were frozen, and its settings may have been other ones.
  options.freezer?.thawAll()
  const pool = openPool && (await startPoolKeeper({ open: openPool, log }))
  let exchange: Replication | undefined
  let promises: Promises | undefined
  let fencing: Fencing | undefined
  let onImages: (images: string[]) => void = () => {}
  const extend = (copy: ObservedCopy): ObservedCopy => ({
    ...copy,
    ...defined({
      replicas: exchange?.replicas(copy.volume),
      fencedSince: fencing?.fences.fencedSince(copy.volume),
    }),
    ...(promises?.isPromiseExpired(copy.volume) === true && { isPromiseExpired: true }),
    ...(promises?.isForgotten(copy.volume) === true && FORGOTTEN),
  })
  const report = (changed: readonly ObservedCopy[]): void => server.reportCopies(changed.map(extend))
  const { reportPool } = server
  const own = { random: Math.random, now: () => new Date() }
  const isFenced = (volume: VolumeId): boolean => fencing?.isFenced(volume) ?? false
  const copies = startCopyKeeper({ pool, report, reportPool, isFenced, monotonicMs, ...own, log })
  const reportOne = (changed: VolumeId): void =>
    report(copies.observed().filter(({ volume }) => volume === changed))
  const isWatched = async (volume: VolumeId) => (await fencing?.fences.isWatched(volume)) ?? false
  const fences = options.fences ?? { isWatched }
  promises = await startNodePromises(options, { ...parts, fences }, copies, reportOne)
  const { follow, endMs, answer } = promises
  const started = await startFences(options, parts, { copies, promises, report })
  fencing = started
  exchange = await startExchange(options, parts, { pool, copies, promises, reportOne })
  const measurements = (): Measurement[] =>
    copies.measurements().map((one) => ({ ...one, ...defined({ replicas: exchange?.measure(one.volume) }) }))
  return {
    ...copies,
    gate: started.gate,
    apply(change, source) {
      copies.apply(change, source)
      follow(source === 'server' && change.complete && change.copies !== undefined)
      started.check()
      onImages(imagesOf(copies.copies.values(), options.state.nodeId))
    },
    promises: { endMs, answer },
    divergences: createDivergences({ pool: () => pool?.pool(), onRemoved: () => void copies.check(), log }),
    onImages(listener) {
      onImages = listener
    },
    storage: () => pool?.storage(),
    observed: () => copies.observed().map(extend),
    measurements,
    async checkpoint() {
      const taken = await exchange?.checkpoint()
      return measurements().map((one) => ({ ...one, ...defined({ checkpoint: taken?.get(one.volume) }) }))
    },
    async close() {
      await promises?.close()
      started.close()
      await exchange?.close()
      pool?.close()
      await copies.close()
    },
  }
}

const imagesOf = (copies: Iterable<DesiredCopy>, node: NodeId): string[] =>
  [...copies].flatMap(({ role, promotable = [], images = [] }) =>
    role === 'replica' && promotable.includes(node) ? images : [],
  )

interface FenceParts extends Pick<ExchangeParts, 'copies' | 'promises'> {
  report(changed: readonly ObservedCopy[]): void
}

function startFences(
  { fencer: folder, engine, host, log, ...options }: VolumeOptions,
  { desired }: VolumeParts,
  { copies, promises, report }: FenceParts,
): Promise<Fencing> {
  return startFencing({
    folder,
    leases: options.leases ?? promises,
    confirmEpoch: promises.confirmEpoch,
    timings: timingsFor(options.promiseLeaseMs ?? DEFAULT_LEASE_MS),
    engine,
    desired,
    copies: () => (copies.saved().copies === undefined ? undefined : copies.copies),
    mounts: join(options.folder, MOUNT_POINTS),
    host,
    onFences: (volumes) => report(copies.observed().filter(({ volume }) => volumes.includes(volume))),
    onMountable: () => void copies.check(),
    log,
  })
}

interface ExchangeParts {
  readonly pool: PoolKeeper | undefined
  readonly copies: CopyKeeper
  readonly promises: Promises
  reportOne(changed: VolumeId): void
}

/** Starts the promises, also without peers: a primary that cannot renew needs those that it needed before. */
const startNodePromises = (
  { state, folder, promiseLeaseMs = DEFAULT_LEASE_MS, log }: VolumeOptions,
  { server, start, fences }: VolumeParts & Pick<PromiseDeps, 'fences'>,
  copies: CopyKeeper,
  onChange: (volume: VolumeId) => void,
): Promise<Promises> =>
  startPromises({
    folder,
    nodeId: state.nodeId,
    start,
    leaseMs: promiseLeaseMs,
    copies: () => copies.copies,
    peers: () => copies.saved().peers ?? [],
    live: copies,
    fences,
    configure: server.configure,
    onChange,
    log,
  })

/** Starts the exchange of copies with the tenant's other nodes; undefined if this node exchanges none. */
async function startExchange(
  options: VolumeOptions,
  { desired, monotonicMs }: VolumeParts,
  { pool, copies, promises, reportOne }: ExchangeParts,
): Promise<Replication | undefined> {
  const { state, peers: settings, log } = options
  if (settings === undefined) return undefined
  return startPeers({
    settings,
    identityKey: state.identityKey,
    pool: () => pool?.pool(),
    copies: () => copies.copies,
    peers: () => copies.saved().peers ?? [],
    live: copies,
    writers: volumeWriters(options, desired),
    onStored: () => void copies.check(),
    onChange: reportOne,
    monotonicMs,
    promises,
    log,
  })
}

/** The writers as the engine lists them. Without access to the machine's cgroups no writer can be frozen. */
function volumeWriters({ engine, freezer }: VolumeOptions, desired: DesiredSet['desired']): VolumeWriters {
  return {
    groups: () =>
      [...desired.values()]
        .map(({ template }) => writtenVolumes(template))
        .filter(({ length }) => length > 1),
    hasWriter: async (volume: VolumeId) => (await engine.listLabelled(...writerLabel(volume))).length > 0,
    freeze: (volumes) =>
      freezer?.freeze(volumes) ?? Promise.reject(new Error('The writers of volumes cannot be frozen.')),
  }
}
