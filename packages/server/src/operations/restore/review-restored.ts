// Gathers what an operator reviews after a restore. The store cannot know which tokens were revoked and which nodes were removed
// after the backup. The server of the machine remembers those that it has seen; the others are listed as well, because a
// revocation may have been missed, with the time up to which the backup has records.

import { defined, type TenantId } from '@holdfast/contract'
import { audit, nodes, type StoredNode, type StoredToken, tenants, tokens } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'

export interface Review {
  /** The time of the newest audit entry: later changes are lost. Undefined if no entry can be read. */
  readonly newest: string | undefined
  readonly tokens: readonly (Pick<StoredToken, 'id' | 'name' | 'role' | 'createdAt' | 'expiresAt'> & {
    readonly tenant: string
    /** When the token was revoked after the backup; absent if that is not known. */
    readonly revokedAt?: string
  })[]
  readonly nodes: readonly (Pick<StoredNode, 'id' | 'name' | 'status' | 'statusSince'> & {
    readonly tenant: string
    readonly removedAt?: string
  })[]
  /** Whether a server has remembered what was revoked while it ran. */
  readonly isRemembered: boolean
}

/**
 * Reads the review. `nowMs`: expired tokens are left out. `revoked`: the time of each deletion that a server has seen, by the id
 * of the token or node; undefined if no server remembers any.
 */
export async function reviewRestored(
  store: Store,
  nowMs: number,
  revoked: ReadonlyMap<string, string> | undefined,
): Promise<Review> {
  const known = store.list(tenants).map(({ record }) => record)
  const nameOf = new Map(known.map(({ id, name }) => [id, name]))
  const times = await Promise.all(known.map(({ id }) => newestEntry(store, id)))
  return {
    newest: times
      .filter((time) => time !== undefined)
      .toSorted()
      .at(-1),
    tokens: store
      .list(tokens)
      .filter(({ record }) => Date.parse(record.expiresAt) > nowMs)
      .map(({ record: { id, name, role, createdAt, expiresAt, tenant } }) => ({
        tenant: nameOf.get(tenant) ?? tenant,
        ...{ id, name, role, createdAt, expiresAt },
        ...defined({ revokedAt: revoked?.get(id) }),
      })),
    nodes: known.flatMap(({ id: tenant, name }) =>
      store.list(nodes, tenant).map(({ record }) => ({
        tenant: name,
        id: record.id,
        name: record.name,
        status: record.status,
        statusSince: record.statusSince,
        ...defined({ removedAt: revoked?.get(record.id) }),
      })),
    ),
    isRemembered: revoked !== undefined,
  }
}

async function newestEntry(store: Store, tenant: TenantId): Promise<string | undefined> {
  const ids = store.keysOf(audit, tenant).map(({ id }) => id)
  // Ids of audit entries begin with the time of their transaction.
  const last = ids.toSorted().at(-1)
  if (last === undefined) return undefined
  const [entry] = await store.read(audit, [store.keyspace.tenantKey(tenant, audit.folder, last)])
  return entry?.time
}
