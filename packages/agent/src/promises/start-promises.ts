// Starts the promises of this node: it asks the other nodes for those that its primaries need, gives those of its copies,
// and votes when the controller asks. See docs/design/promises.md

import type {
  Configuration,
  ConfigureRequest,
  DesiredCopy,
  NodeId,
  Peer,
  VolumeCheckpoint,
  VolumeId,
} from '@holdfast/contract'
import { isPromiseExpired, mayStore } from '@holdfast/core/promotion/node/copy-promise'
import { roleEndMs } from '@holdfast/core/promotion/node/follow-volume'
import type { GrowthFacts } from '@holdfast/core/promotion/node/plan-requests'
import { type PromotionTimings, timingsFor } from '@holdfast/core/promotion/timings'
import type { Logger } from 'pino'
import { bootClockMs, readBootId } from '../fencer/boot-clock.ts'
import type { PeerConnection } from '../peer/connection.ts'
import type { PeerStamp } from '../peer/messages.ts'
import { createRenewalLinks } from '../peer/renewals.ts'
import type { Fences, Leases } from '../ports/leases.ts'
import type { LiveCopies } from '../ports/live-copies.ts'
import type { PoolContents } from '../ports/volume-pool.ts'
import type { StartCount } from '../state/start-count.ts'
import { type AnswerController, createControllerAnswers } from './answer-controller.ts'
import { type AnswerRenewal, createRenewalAnswers } from './answer-renewals.ts'
import { createServerRequests, type ServerRequests } from './ask-server.ts'
import { createHeldStamps } from './held-stamps.ts'
import { openLeaseFile } from './lease-file.ts'
import { openPromiseFile } from './promise-file.ts'
import { createPromiseTable, type PromiseTable } from './promise-table.ts'
import { createRecovery, type Recovery, type RecoveryDeps } from './recover-promises.ts'
import { createRenewer } from './renew-promises.ts'

export const DEFAULT_LEASE_MS = 12_000

/** The exchange of copies with other nodes, as promises use it. */
export interface PromiseExchange {
  dial(peer: Peer, handshakeMs: number): Promise<PeerConnection>
  /** The copies that have the newest checkpoint of the volume's epoch. */
  current(volume: VolumeId): GrowthFacts['current']
  /** The complete checkpoints that are on disk. Rejects if the pool cannot be read. */
  list(): Promise<PoolContents>
}

export interface PromiseDeps {
  /** The folder of the agent's state. */
  readonly folder: string
  readonly nodeId: NodeId
  /** Number of this start of the agent, and whether it is on disk. */
  readonly start: Pick<StartCount, 'number' | 'isSaved'>
  readonly leaseMs: number
  copies(): ReadonlyMap<VolumeId, DesiredCopy>
  peers(): readonly Peer[]
  readonly live: Pick<LiveCopies, 'liveEpoch' | 'isReleased'>
  readonly fences: Pick<Fences, 'isWatched'>
  configure(requests: readonly ConfigureRequest[]): Promise<readonly Configuration[]>
  /** Called after the promise of a promotable copy has expired or was renewed afterwards, or lost promises were recovered. */
  onChange(volume: VolumeId): void
  readonly log: Logger
}

/** Promises as the exchange of copies uses them. */
export interface CopyPromises {
  readonly answerRenewal: AnswerRenewal
  /** The clock of this node, for the time of a checkpoint; undefined until the number of the boot is on disk. */
  stamp(): PeerStamp | undefined
  /** Whether this node may store the checkpoint: not after it has voted. */
  mayStore(volume: VolumeId, checkpoint: VolumeCheckpoint): boolean
  /** Notes that a stored checkpoint has everything that was written before a time on its primary's clock. */
  noteTime(volume: VolumeId, checkpoint: VolumeCheckpoint, stamp: PeerStamp): void
}

export interface Promises extends Required<Leases>, CopyPromises, Pick<ServerRequests, 'confirmEpoch'> {
  readonly answer: AnswerController
  /** Whether this node is promotable and its promise has expired. */
  isPromiseExpired(volume: VolumeId): boolean
  /** Adapts the promises to the desired copies. `isComplete`: the server has sent all of them. */
  follow(isComplete: boolean): void
  /** Begins to exchange promises with other nodes. Without it, none is renewed. */
  connect(exchange: PromiseExchange): void
  close(): Promise<void>
}

export async function startPromises(deps: PromiseDeps): Promise<Promises> {
  const { folder, nodeId, start, live, log } = deps
  const timings = timingsFor(deps.leaseMs)
  const file = await openPromiseFile({ folder, nodeId, bootId: readBootId(), start: start.number, log })
  const { boot } = file
  const self = () => ({ node: nodeId, start: start.number, boot, nowMs: bootClockMs(), timings })
  const table = createPromiseTable({ file, self, log })
  // A later start or boot must not have the same number as one that other nodes know.
  const mayPromise = (): boolean => table.isWritten() && start.isSaved()
  const stamps = createHeldStamps()
  const listeners: (() => void)[] = []
  const changed = (): void => {
    for (const listener of listeners) listener()
  }
  let exchange: PromiseExchange | undefined
  const shared = { table, live, nowMs: bootClockMs, timings, log }
  const links = createRenewalLinks(
    (peer) => connected(exchange).dial(peer, timings.shrinkAfterMs),
    timings.shrinkAfterMs,
  )
  const leases = await openLeaseFile(folder, boot)
  const current: PromiseExchange['current'] = (volume) => exchange?.current(volume)
  const { peers, fences, configure } = deps
  const renewer = createRenewer({ ...shared, links, leases, peers, boot, current, onAcked: changed })
  const server = createServerRequests({ ...shared, fences, current, configure, onChange: changed })
  const expiry = watchExpiry(deps, table)
  const recovery = startRecovery(deps, { table, self, changed })
  const timer = setInterval(() => {
    expiry.check()
    void recovery.recover()
    // Logged when the file was opened.
    if (!table.isWritten()) table.synced().catch(() => {})
    if (exchange === undefined || !mayPromise()) return
    renewer.renew()
    void server.ask()
  }, timings.renewEveryMs)
  return {
    endMs: (volume) => endOf(shared, volume),
    isForgotten: table.isForgotten,
    onChange: (listener) => void listeners.push(listener),
    confirmEpoch: server.confirmEpoch,
    answerRenewal: createRenewalAnswers({
      ...shared,
      desired: (volume) => deps.copies().get(volume),
      start: start.number,
      mayPromise,
    }),
    answer: createControllerAnswers({ ...shared, stamps, list: () => connected(exchange).list() }),
    stamp: () => (mayPromise() ? { boot, ms: bootClockMs() } : undefined),
    mayStore: (volume, checkpoint) => mayStoreIn(shared, volume, checkpoint),
    noteTime: stamps.note,
    isPromiseExpired: expiry.isExpired,
    follow(isComplete) {
      table.follow(deps.copies(), isComplete)
      stamps.keepOnly(deps.copies())
      expiry.check()
      changed()
    },
    connect(given) {
      exchange = given
    },
    async close() {
      clearInterval(timer)
      links.close()
      await renewer.settled()
      await table.synced().catch(() => {})
    },
  }
}

interface RecoveryParts extends Pick<RecoveryDeps, 'table' | 'self'> {
  /** Called after the end of a lease may have changed. */
  changed(): void
}

const startRecovery = (
  { copies, configure, onChange, log }: PromiseDeps,
  { changed, ...parts }: RecoveryParts,
): Recovery =>
  createRecovery({
    ...parts,
    sinceMs: bootClockMs(),
    desired: copies,
    configure,
    onRecovered(volumes) {
      changed()
      for (const volume of volumes) onChange(volume)
    },
    log,
  })

function connected(exchange: PromiseExchange | undefined): PromiseExchange {
  if (exchange === undefined) throw new Error('This node exchanges no copies with other nodes.')
  return exchange
}

interface EndFacts {
  readonly table: PromiseTable
  readonly live: Pick<LiveCopies, 'isReleased'>
  readonly timings: PromotionTimings
}

/** Without a role the server knows no promises, so none is needed, unless this node has lost its record of them. */
function endOf({ table, live, timings }: EndFacts, volume: VolumeId): number {
  const role = table.of(volume)
  if (role === undefined)
    return table.isForgotten(volume) ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  return role.role === 'copy' ? Number.NEGATIVE_INFINITY : roleEndMs(role, live.isReleased(volume), timings)
}

/** A node that has lost its record of the promises may have voted, so it stores nothing. */
function mayStoreIn(
  { table, timings }: Pick<EndFacts, 'table' | 'timings'>,
  volume: VolumeId,
  checkpoint: VolumeCheckpoint,
): boolean {
  const role = table.of(volume)
  return role?.role === 'copy' ? mayStore(role.copy, checkpoint, timings) : !table.isForgotten(volume)
}

/** Watches the promises of promotable copies, and reports only changes. */
function watchExpiry({ copies, nodeId, onChange }: PromiseDeps, table: PromiseTable) {
  const reported = new Set<VolumeId>()
  const isExpired = (volume: VolumeId): boolean => {
    const role = table.of(volume)
    const copy = copies().get(volume)
    const isPromotable = copy?.role === 'replica' && copy.promotable?.includes(nodeId) === true
    return isPromotable && role?.role === 'copy' && isPromiseExpired(role.copy, bootClockMs())
  }
  return {
    isExpired,
    check() {
      for (const volume of new Set([...copies().keys(), ...reported])) {
        if (isExpired(volume) === reported.has(volume)) continue
        if (reported.has(volume)) reported.delete(volume)
        else reported.add(volume)
        onChange(volume)
      }
    },
  }
}
