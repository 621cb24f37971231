// Starts the exchange of copies with other nodes: the peer port, on which this node's replicas are filled, and the
// replication of its primaries.

import type { KeyObject } from 'node:crypto'
import type { DesiredCopy, Peer, VolumeId } from '@holdfast/contract'
import type { Logger } from 'pino'
import { selfSignedIdentity } from '../peer/certificate.ts'
import { dialPeer } from '../peer/dial.ts'
import { listenForPeers } from '../peer/listen.ts'
import { createPace, createPeerRequests } from '../peer/requests.ts'
import type { LiveCopies } from '../ports/live-copies.ts'
import type { VolumePool } from '../ports/volume-pool.ts'
import type { VolumeWriters } from '../ports/volume-writers.ts'
import type { CopyPromises, Promises } from '../promises/start-promises.ts'
import { createIncoming } from './incoming.ts'
import { type Replication, startReplication } from './replication.ts'

export interface PeerSettings {
  /** The `host:port` that other nodes use. */
  readonly address: string
  readonly host: string | undefined
  readonly port: number
  readonly bytesPerSecond: number
  /** Allows peers on this machine, for tests. */
  readonly allowLocal?: boolean
}

export interface PeerDeps {
  readonly settings: PeerSettings
  readonly identityKey: KeyObject
  pool(): VolumePool | undefined
  copies(): ReadonlyMap<VolumeId, DesiredCopy>
  peers(): readonly Peer[]
  readonly live: LiveCopies
  readonly writers: VolumeWriters
  /** Called when this node has stored a checkpoint of another one. */
  onStored(volume: VolumeId): void
  /** Called when the replicas of a primary have changed. */
  onChange(volume: VolumeId): void
  monotonicMs(): number
  /** Promises between the nodes; undefined: this node exchanges none. */
  readonly promises?: CopyPromises & Pick<Promises, 'connect'>
  readonly log: Logger
}

export async function startPeers(deps: PeerDeps): Promise<Replication> {
  const { settings, pool, copies, peers, promises, log, monotonicMs } = deps
  const { host, port, bytesPerSecond, allowLocal = false } = settings
  const identity = selfSignedIdentity(deps.identityKey)
  const { serve, list } = createIncoming({
    pool,
    desired: (volume) => copies().get(volume),
    onStored: deps.onStored,
    ...(promises && { promises }),
    log,
  })
  const listening = await listenForPeers({ ...(host && { host }), port, identity, peers, serve, log })
  const requests = createPeerRequests(
    (peer) => dialPeer(peer, { identity, allowLocal }),
    createPace(bytesPerSecond, monotonicMs),
  )
  const replication = startReplication({ ...deps, requests, ...(promises && { stamp: promises.stamp }) })
  promises?.connect({
    dial: (peer, handshakeMs) => dialPeer(peer, { identity, allowLocal, handshakeMs }),
    current: replication.current,
    list,
  })
  return {
    ...replication,
    async close() {
      await replication.close()
      await listening.close()
    },
  }
}
