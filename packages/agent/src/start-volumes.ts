// Starts the parts of the agent that hold volumes: the pool, the node's copies, and their exchange with other nodes.

import {
  defined,
  type Measurement,
  type ObservedCopy,
  type PoolReport,
  type PoolWipe,
  type VolumeId,
} from '@holdfast/contract'
import { writerLabel, writtenVolumes } from '@holdfast/core/node'
import type { Logger } from 'pino'
import type { DesiredSet } from './converge/desired-set.ts'
import type { Engine } from './ports/engine.ts'
import type { Storage } from './ports/session.ts'
import type { VolumePool } from './ports/volume-pool.ts'
import type { VolumeWriters } from './ports/volume-writers.ts'
import type { Replication } from './replication/replication.ts'
import { type PeerSettings, startPeers } from './replication/start-peers.ts'
import type { ServerLink } from './session/server-link.ts'
import type { NodeState } from './state/node-state.ts'
import { type CopyKeeper, startCopyKeeper } from './storage/keep-copies.ts'
import { type PoolKeeper, startPoolKeeper } from './storage/keep-pool.ts'

export interface VolumeOptions {
  readonly state: Pick<NodeState, 'identityKey'>
  readonly engine: Pick<Engine, 'listLabelled'>
  /** Opens the node's storage; undefined: this node holds no volumes. */
  openPool?(order?: PoolWipe): Promise<VolumePool>
  /** The port at which other nodes exchange copies of volumes; undefined: this node exchanges none. */
  readonly peers?: PeerSettings
  /** Freezes the writers of several volumes for their common checkpoint; undefined: such volumes get no checkpoint. */
  readonly freezer?: Pick<VolumeWriters, 'freeze'> & { thawAll(): void }
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
  close(): Promise<void>
}

interface VolumeParts {
  readonly server: ServerLink
  readonly desired: DesiredSet['desired']
  monotonicMs(): number
}

/** Without a pool the copies only report that it is absent. */
export async function startVolumes(options: VolumeOptions, parts: VolumeParts): Promise<NodeVolumes> {
  const { openPool, log } = options
  const { server, monotonicMs } = parts
  // The agent before this one may have died while writers were frozen, and its settings may have been other ones.
  options.freezer?.thawAll()
  const pool = openPool && (await startPoolKeeper({ open: openPool, log }))
  let exchange: Replication | undefined
  const withReplicas = (copy: ObservedCopy): ObservedCopy => ({
    ...copy,
    ...defined({ replicas: exchange?.replicas(copy.volume) }),
  })
  const report = (changed: readonly ObservedCopy[]): void => server.reportCopies(changed.map(withReplicas))
  const { reportPool } = server
  const own = { random: Math.random, now: () => new Date() }
  const copies = startCopyKeeper({ pool, report, reportPool, monotonicMs, ...own, log })
  exchange = await startExchange(options, parts, { pool, copies, report })
  const measurements = (): Measurement[] =>
    copies.measurements().map((one) => ({ ...one, ...defined({ replicas: exchange?.measure(one.volume) }) }))
  return {
    ...copies,
    storage: () => pool?.storage(),
    observed: () => copies.observed().map(withReplicas),
    measurements,
    async checkpoint() {
      const taken = await exchange?.checkpoint()
      return measurements().map((one) => ({ ...one, ...defined({ checkpoint: taken?.get(one.volume) }) }))
    },
    async close() {
      await exchange?.close()
      pool?.close()
      await copies.close()
    },
  }
}

interface ExchangeParts {
  readonly pool: PoolKeeper | undefined
  readonly copies: CopyKeeper
  report(changed: readonly ObservedCopy[]): void
}

/** Starts the exchange of copies with the tenant's other nodes; undefined if this node exchanges none. */
async function startExchange(
  options: VolumeOptions,
  { desired, monotonicMs }: VolumeParts,
  { pool, copies, report }: ExchangeParts,
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
    onChange: (changed) => report(copies.observed().filter(({ volume }) => volume === changed)),
    monotonicMs,
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
