// GET /audit: the audit entries of a tenant, newest first or oldest first, between two times and about one subject. The id
// of an entry begins with its time, so that only a filter by subject reads entries that are not returned.

import { type AuditEntry, type TenantId, ulid } from '@holdfast/contract'
import type { SizedKey } from '../../store/cache/record-index.ts'
import { AUDIT_COLLECTIONS } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { done, type Outcome, refused } from '../caller.ts'
import { encodeCursor, type Page, type PageRequest, readCursor } from '../page.ts'
import type { HistoryReads } from './charged-reads.ts'
import type { TimeRange } from './time-range.ts'

export interface AuditQuery extends PageRequest {
  readonly subject?: string | undefined
  readonly sort?: string | undefined
  readonly times: TimeRange
}

/** Number of entries per read from the store; MAX_READ is the most that one request reads. */
const CHUNK = 100
const MAX_READ = 2_000

export async function listAudit(
  store: HistoryReads,
  tenant: TenantId,
  query: AuditQuery,
): Promise<Outcome<Page<AuditEntry>>> {
  const from = readCursor(query.cursor)
  if (!from.ok) return refused(from.rejection)
  await store.fresh()
  const isOldestFirst = query.sort === 'oldest'
  const isNext = ({ id }: SizedKey): boolean =>
    from.after === undefined || (isOldestFirst ? id > from.after : id < from.after)
  const sorted = AUDIT_COLLECTIONS.flatMap((collection) =>
    store.keysOf(collection, tenant).map((key) => ({ ...key, collection })),
  )
    .filter((key) => isBetween(key.id, query.times) && isNext(key))
    .toSorted((left, right) => (left.id < right.id === isOldestFirst ? -1 : 1))
  return done(await collect(store, sorted, query))
}

/** The ids of a range of times, as text: ids of one millisecond differ in what follows their time. */
function isBetween(id: string, { since, until }: TimeRange): boolean {
  const first = since === undefined ? '' : ulid(Math.max(0, since), LOWEST)
  const beyond = until === undefined ? undefined : ulid(Math.max(0, until + 1), LOWEST)
  return id >= first && (beyond === undefined || id < beyond)
}

const LOWEST = new Uint8Array(10)

type AuditKey = SizedKey & { readonly collection: (typeof AUDIT_COLLECTIONS)[number] }

/** Reads entries of several collections, in the order of their keys. */
async function readEntries(store: Pick<Store, 'read'>, keys: readonly AuditKey[]) {
  const found = new Map<string, AuditEntry & { v: number }>()
  for (const collection of AUDIT_COLLECTIONS) {
    const own = keys.filter((key) => key.collection === collection).map(({ key }) => key)
    const records = own.length === 0 ? [] : await store.read(collection, own)
    for (const [index, record] of records.entries())
      if (record !== undefined) found.set(own[index] ?? '', record)
  }
  return keys.map(({ key }) => found.get(key))
}

/** Reads entries until the page is full. With a rare subject a page may be short although a next page exists. */
async function collect(
  store: Pick<Store, 'read'>,
  sorted: readonly AuditKey[],
  { limit, subject }: AuditQuery,
): Promise<Page<AuditEntry>> {
  const items: AuditEntry[] = []
  let read = 0
  while (items.length < limit && read < Math.min(sorted.length, MAX_READ)) {
    const chunk = sorted.slice(read, read + Math.min(CHUNK, limit - items.length))
    const records = await readEntries(store, chunk)
    for (const record of records)
      if (record !== undefined && (subject === undefined || record.subject.name === subject))
        items.push(auditView(record))
    read += chunk.length
  }
  const last = sorted[read - 1]
  return { items, nextCursor: read < sorted.length && last !== undefined ? encodeCursor(last.id) : null }
}

function auditView({ v: _version, ...entry }: AuditEntry & { v: number }): AuditEntry {
  return entry
}
