// Rewrites records of older forms once the newer form may be written (docs/design/upgrades.md#migrations). The owner of a
// tenant's shard rewrites the tenant's records, the owner of the platform's shard those of no tenant.

import type { TenantId } from '@holdfast/contract'
import { type Migration, migrateRecord } from '../migrations/migration.ts'
import { FIRST_FORMAT, formatAddress } from '../store/format.ts'
import { type Collection, platform, tenants } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { type Address, globally, inTenant } from '../store/transaction.ts'
import type { Leadership } from './leadership/lead-shards.ts'

export interface MigrateDeps {
  readonly store: Store
  readonly leadership: Pick<Leadership, 'owns' | 'fenced'>
  readonly migrations: readonly Migration[]
}

/** Each record is compared and written, and a transaction has at most 120 of each. */
const MOST_RECORDS = 50
/** A transaction is at most 1.5 MiB. The sizes are those before the migration. */
const MOST_BYTES = 512 * 1024

interface Found {
  readonly address: Address<unknown>
  readonly bytes: number
}

/** Rewrites all records of the owned shards that have an older form, and returns their number. */
export async function migrateRecords(deps: MigrateDeps): Promise<number> {
  const { store, leadership, migrations } = deps
  const { writes } = store.get(formatAddress)?.record ?? FIRST_FORMAT
  const due = [...new Set(migrations.filter(({ to }) => to <= writes).map(({ collection }) => collection))]
  if (due.length === 0) return 0
  const home = store.get(globally(platform, 'id'))?.record.tenant
  const owned = store.list(tenants).filter(({ record }) => leadership.owns(record.id))
  let rewritten = 0
  for (const { record } of owned)
    for (const batch of inBatches(recordsOf(deps, due, writes, { tenant: record.id, home })))
      rewritten += await rewrite(deps, record.id, { batch, writes })
  return rewritten
}

function recordsOf(
  deps: MigrateDeps,
  due: readonly Collection<unknown>[],
  writes: number,
  { tenant, home }: { readonly tenant: TenantId; readonly home: TenantId | undefined },
): Found[] {
  const { store, migrations } = deps
  const found = due.flatMap((collection): Found[] => {
    if (collection.scope === 'tenant')
      return store
        .keysOf(collection, tenant)
        .map(({ id, bytes }) => ({ address: inTenant(tenant, collection, id), bytes }))
    if (tenant !== home) return []
    return store.listWithIds(collection).map(({ id }) => ({ address: globally(collection, id), bytes: 0 }))
  })
  return found.filter(({ address }) => {
    const cached = store.get(address)
    return (
      cached !== undefined &&
      migrateRecord(migrations, address.collection, { record: cached.record, writes }) !== undefined
    )
  })
}

function inBatches(found: readonly Found[]): Address<unknown>[][] {
  const batches: Address<unknown>[][] = []
  let bytes = Infinity
  for (const each of found) {
    const last = batches.at(-1)
    bytes += each.bytes
    if (last === undefined || last.length === MOST_RECORDS || bytes > MOST_BYTES) {
      batches.push([each.address])
      bytes = each.bytes
    } else last.push(each.address)
  }
  return batches
}

/** A record that changed since it was found is migrated as it is now. */
const rewrite = (
  { leadership, migrations }: MigrateDeps,
  tenant: TenantId,
  { batch, writes }: { readonly batch: readonly Address<unknown>[]; readonly writes: number },
): Promise<number> =>
  leadership.fenced(tenant, (transaction) => {
    let result = 0
    for (const address of batch) {
      const record = transaction.get(address)
      if (record === undefined) continue
      const migrated = migrateRecord(migrations, address.collection, { record, writes })
      if (migrated === undefined) continue
      transaction.put(address, migrated)
      result += 1
    }
    return result === 0 ? { kind: 'abort', result } : { kind: 'commit', result }
  })
