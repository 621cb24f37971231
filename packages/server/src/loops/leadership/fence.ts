// The fencing tokens of the shards that this process owns. Controllers write only through the fence: each transaction
// compares the shard's record with the token, so the writes of a paused or former owner fail. See
// docs/design/leadership.md#fencing

import type { TenantId } from '@holdfast/contract'
import { shards } from '../../store/records.ts'
import type { Store, TransactionDecision } from '../../store/store.ts'
import { globally, type Transaction } from '../../store/transaction.ts'
import { SHARDS, shardOf } from './shard-of.ts'

/** Thrown if this server replica does not own the tenant's shard or has lost it; the owner must do the work. */
export class LostLeadershipError extends Error {
  override readonly name = 'LostLeadershipError'
}

const addressOf = (shard: number) => globally(shards, String(shard))
// Kept, because each check of the shards reads all their records.
const ADDRESSES = Array.from({ length: SHARDS }, (_, shard) => addressOf(shard))
export const shardAddress = (shard: number) => ADDRESSES[shard] ?? addressOf(shard)

export interface Fence {
  /** The fencing token of each owned shard: the modification revision of its record when this process acquired it. */
  readonly held: Map<number, number>
  transact<R>(tenant: TenantId, decide: (transaction: Transaction) => TransactionDecision<R>): Promise<R>
}

const FENCED: unique symbol = Symbol('fenced')

/** `onBreach` is called when a shard's record in the store no longer matches the token that this process holds. */
export function createFence(
  store: Pick<Store, 'get' | 'transact'>,
  replica: string,
  onBreach: (shard: number) => void,
): Fence {
  const held = new Map<number, number>()
  const holds = (transaction: Transaction, shard: number, token: number): boolean => {
    const address = shardAddress(shard)
    const owner = transaction.get(address)?.owner
    return owner === replica && store.get(address)?.modRevision === token && held.get(shard) === token
  }
  return {
    held,
    async transact<R>(
      tenant: TenantId,
      decide: (transaction: Transaction) => TransactionDecision<R>,
    ): Promise<R> {
      const shard = shardOf(tenant)
      const token = held.get(shard)
      if (token === undefined) throw new LostLeadershipError(`shard ${shard} is not owned by this replica`)
      const outcome = await store.transact<R | typeof FENCED>((transaction) =>
        holds(transaction, shard, token) ? decide(transaction) : { kind: 'abort', result: FENCED },
      )
      if (outcome !== FENCED) return outcome
      if (held.get(shard) === token) onBreach(shard)
      throw new LostLeadershipError(`shard ${shard} was acquired by another replica`)
    },
  }
}
