// Checks every revision of the store: the number of assignments of each tenant against the quota at that revision. Checks
// at intervals could miss a violation.

import { type AssignmentId, asOwner, type Owner, type TenantId } from '@holdfast/contract'
import type { KeyValueEngine, WatchEvent } from '@holdfast/server/ports/key-value'
import { decodeRecord } from '@holdfast/server/store/encode'
import { createKeyspace } from '@holdfast/server/store/keys'
import { placements, type StoredPlacement, shards, tenants } from '@holdfast/server/store/records'

export interface QuotaHistory {
  /** Descriptions of the writes that added assignments to a tenant above the tenant's quota. */
  readonly above: readonly string[]
  /** Assignments that were marked for removal although no client had requested the removal. */
  readonly unexpectedRemovals: readonly string[]
  readonly writes: number
  readonly placed: number
  readonly most: number
  /** Number of times that a shard changed its owner. */
  readonly owners: number
  usedBy(tenant: TenantId): number
  expectRemovals(ids: readonly AssignmentId[]): void
  close(): void
}

interface Seen {
  readonly above: string[]
  readonly unexpectedRemovals: string[]
  writes: number
  most: number
  owners: number
  readonly placed: Set<AssignmentId>
  readonly quotas: Map<string, number>
  readonly used: Map<string, Map<Owner, number>>
  readonly expected: Set<AssignmentId>
  readonly removed: Set<AssignmentId>
}

/** Watches quotas from the beginning of the history: call it before the first write to the store. */
export async function watchQuotas(engine: KeyValueEngine, root: string): Promise<QuotaHistory> {
  const keyspace = createKeyspace(root)
  const seen: Seen = {
    above: [],
    unexpectedRemovals: [],
    writes: 0,
    most: 0,
    owners: 0,
    placed: new Set(),
    quotas: new Map(),
    used: new Map(),
    expected: new Set(),
    removed: new Set(),
  }
  const { revision } = await engine.range({ ...keyspace.everything(), countOnly: true })
  const watch = engine.watch({
    ...keyspace.everything(),
    startRevision: revision + 1,
    onEvents(events) {
      for (const event of events) note(seen, keyspace, event)
    },
    onProgress: () => {},
    onCompacted: () => seen.above.push('the history was compacted'),
  })
  const usedBy = (tenant: string) =>
    [...(seen.used.get(tenant)?.values() ?? [])].reduce((sum, count) => sum + count, 0)
  return {
    get above() {
      return seen.above
    },
    get unexpectedRemovals() {
      return [...seen.removed].filter((id) => !seen.expected.has(id))
    },
    get writes() {
      return seen.writes
    },
    get placed() {
      return seen.placed.size
    },
    get most() {
      return seen.most
    },
    get owners() {
      return seen.owners
    },
    usedBy,
    expectRemovals(ids) {
      for (const id of ids) seen.expected.add(id)
    },
    close: () => watch.close(),
  }
}

function note(seen: Seen, keyspace: ReturnType<typeof createKeyspace>, { kind, kv }: WatchEvent): void {
  const parsed = keyspace.parse(kv.key)
  if (parsed === undefined) return
  if (parsed.folder === shards.folder && kind === 'put') seen.owners += 1
  if (parsed.folder === tenants.folder && kind === 'put') {
    const { id, quotas } = decodeRecord(tenants, kv.value)
    seen.quotas.set(id, quotas.containers ?? Number.POSITIVE_INFINITY)
  }
  if (parsed.folder !== placements.folder || parsed.tenant === undefined) return
  const placement = kind === 'put' ? decodeRecord(placements, kv.value) : undefined
  count(seen, parsed.tenant, asOwner(parsed.id), placement, kv.modRevision)
}

function count(
  seen: Seen,
  tenant: string,
  owner: Owner,
  placement: StoredPlacement | undefined,
  revision: number,
): void {
  const counts = seen.used.get(tenant) ?? new Map<Owner, number>()
  seen.used.set(tenant, counts)
  const before = counts.get(owner) ?? 0
  const assignments = placement?.assignments ?? []
  counts.set(owner, assignments.length)
  seen.writes += 1
  for (const { id, desired } of assignments) {
    seen.placed.add(id)
    if (desired !== 'running') seen.removed.add(id)
  }
  const used = [...counts.values()].reduce((sum, each) => sum + each, 0)
  const quota = seen.quotas.get(tenant) ?? Number.POSITIVE_INFINITY
  if (used <= quota) seen.most = Math.max(seen.most, used)
  if (used > quota && assignments.length > before) seen.above.push(`${used} of ${quota} at ${revision}`)
}
