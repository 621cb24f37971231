// Compares the store with what this server remembers of it, before anything uses the store, and starts the chain of the
// server's heartbeats (docs/design/restored-stores.md#servers).

import { defined } from '@holdfast/contract'
import { judgeKnownStore } from '@holdfast/core'
import {
  type ChainStart,
  createHeartbeatChain,
  type HeartbeatChain,
} from '../loops/leadership/heartbeat-chain.ts'
import { type Clock, type IdSource, timestamp } from '../ports/clock.ts'
import type { StoreEpoch } from '../store/epoch.ts'
import { chains } from '../store/records.ts'
import { requireEpoch } from '../store/require-epoch.ts'
import { RestoredStoreError } from '../store/restored.ts'
import type { Store } from '../store/store.ts'
import { addressKey, globally } from '../store/transaction.ts'
import type { KnownStoreFile, KnownStoreRecord } from './known-store-file.ts'

/** The store keeps the chain of a server for longer than this. */
const CHAIN_DAYS_MS = 29 * 24 * 3_600_000

interface RecogniseDeps {
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdSource
  /** Absent for a server without a state folder: it recognises a restore only while it runs, or by the cluster id. */
  readonly file?: KnownStoreFile | undefined
}

/** Throws RestoredStoreError if the store is not the one that this server has known. */
export async function recogniseStore(deps: RecogniseDeps): Promise<HeartbeatChain> {
  const { store, clock, ids, file } = deps
  await store.fresh()
  const epoch = await requireEpoch(store, deps)
  const known = file?.read()
  const isSame = file !== undefined && known !== undefined && (await requireKnown(deps, file, known, epoch))
  const start: ChainStart = isSame && known !== undefined ? known.chain : { id: ids.ulid(), count: 0 }
  return createHeartbeatChain({ store, clock }, start, (chain) =>
    file?.save({
      v: 1,
      epoch: epoch.epoch,
      ...defined({ clusterId: store.clusterId }),
      revision: store.revision,
      chain,
      writtenAt: timestamp(clock),
    }),
  )
}

/** Whether what the file says still holds; false after a declared restore. */
async function requireKnown(
  { store, clock }: RecogniseDeps,
  { path }: KnownStoreFile,
  { chain, writtenAt, ...known }: KnownStoreRecord,
  { epoch, previous }: StoreEpoch,
): Promise<boolean> {
  const [link] = await store.read(chains, [addressKey(store.keyspace, globally(chains, chain.id))])
  const { clusterId, revision } = store
  // The chain of a server that did not run for a month has been deleted.
  const isDeleted = link === undefined && clock.now() - Date.parse(writtenAt) > CHAIN_DAYS_MS
  const verdict = judgeKnownStore(
    { ...known, heartbeats: isDeleted ? 0 : chain.count },
    { epoch, previous, clusterId, revision, heartbeats: link?.count },
  )
  if (verdict.kind === 'restored')
    throw new RestoredStoreError(
      verdict.what,
      `If etcd was restored from a backup, run \`holdfast-server restored\` once, then start the servers. If this server now belongs to another store, delete ${path}. Containers keep running.`,
    )
  return verdict.kind === 'same' && !isDeleted
}
