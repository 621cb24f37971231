// Deletes global records of nodes: join tokens that expired unused, and the names and join tokens of a deleted tenant.

import type { TenantId } from '@holdfast/contract'
import type { Clock } from '../../ports/clock.ts'
import { joinTokens, nodeNames } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { globally } from '../../store/transaction.ts'
import { readClaims, withoutClaim, writeClaims } from './claims.ts'

/** The most records that one transaction deletes. */
const AT_ONCE = 80

export async function sweepJoinTokens({ store, clock }: { store: Store; clock: Clock }): Promise<void> {
  const now = clock.now()
  await dropJoinTokens(store, (expiresAt) => Date.parse(expiresAt) <= now)
}

/** Deletes the node names and join tokens of a deleted tenant. Runs before the tenant's own keys are deleted. */
export async function freeNodeNames(store: Store, tenant: TenantId): Promise<void> {
  await dropJoinTokens(store, (_expiresAt, owner) => owner === tenant)
  const claimed = store
    .listWithIds(nodeNames)
    .filter(({ record }) => record.claims.some((claim) => claim.tenant === tenant))
  for (const { id } of claimed) {
    await store.transact((transaction) => {
      writeClaims(transaction, id, withoutClaim(readClaims(transaction, id), tenant))
      return { kind: 'commit', result: undefined }
    })
  }
}

async function dropJoinTokens(
  store: Store,
  isSpent: (expiresAt: string, tenant: TenantId) => boolean,
): Promise<void> {
  const spent = store.listWithIds(joinTokens).filter(({ record }) => isSpent(record.expiresAt, record.tenant))
  for (let from = 0; from < spent.length; from += AT_ONCE) {
    await store.transact((transaction) => {
      for (const { id } of spent.slice(from, from + AT_ONCE)) transaction.delete(globally(joinTokens, id))
      return { kind: 'commit', result: undefined }
    })
  }
}
