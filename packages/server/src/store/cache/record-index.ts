// The records in memory, by tenant, folder and id. Values are kept as bytes and decoded at the first read. For
// collections without cached values only keys and sizes are kept.

import type { TenantId } from '@holdfast/contract'
import type { KeyValue } from '../../ports/key-value.ts'
import { decodeRecord } from '../encode.ts'
import type { Keyspace, ParsedKey } from '../keys.ts'
import { COLLECTIONS, type Collection } from '../records.ts'

interface Entry {
  readonly id: string
  readonly key: string
  readonly createRevision: number
  readonly modRevision: number
  readonly bytes: number
  /** The undecoded value of a record. Removed once the value is decoded, so that the value is in memory only once. */
  value?: Uint8Array | undefined
  decoded?: unknown
}

export interface CachedRecord<T> {
  readonly record: T
  readonly modRevision: number
}

export interface IndexedKey {
  readonly id: string
  readonly key: string
  readonly createRevision: number
}

export interface SizedKey extends IndexedKey {
  /** Size of key and value together, in bytes. */
  readonly bytes: number
}

export interface Change {
  readonly kind: 'put' | 'delete'
  readonly key: ParsedKey
}

/** The tenant that owns a record; `undefined` for global records. */
type TenantScope = TenantId | undefined
interface Folder {
  entries: Map<string, Entry>
  /** Size of all keys and values in the folder. */
  bytes: number
}
type Folders = Map<string, Folder>

export interface RecordIndex {
  put(kv: KeyValue): ParsedKey | undefined
  delete(key: string): ParsedKey | undefined
  get<T>(collection: Collection<T>, owner: TenantScope, id: string): CachedRecord<T> | undefined
  list<T>(collection: Collection<T>, owner: TenantScope): CachedRecord<T>[]
  /** Every key of a collection in the order of creation, with or without a cached value. */
  keysOf(collection: Collection<unknown>, owner: TenantScope): readonly SizedKey[]
  /** Size of the keys and values that a tenant has written, for the byte quota; without its history. */
  storedBytes(owner: TenantScope): number
  /** Size of all keys and values of a collection. */
  bytesOf(collection: Collection<unknown>, owner: TenantScope): number
  /** The revision of the record under a key, even if the record's value cannot be decoded. */
  find(key: ParsedKey): { readonly modRevision: number } | undefined
  keys(): Iterable<ParsedKey>
  /** Sorts the records by creation. Needed after records were put in another order, for example while listing all. */
  sortByCreation(): void
}

const HISTORY_FOLDERS = new Set(
  COLLECTIONS.filter(({ isHistory }) => isHistory === true).map(({ folder }) => folder),
)

/** Whether records of the folder count for the byte quota of their tenant. */
export const isCounted = (folder: string): boolean => !HISTORY_FOLDERS.has(folder)

const CACHED_FOLDERS = new Set(COLLECTIONS.filter(({ cached }) => cached).map(({ folder }) => folder))

/** Called for a record whose value cannot be decoded. Other records are not affected. */
export type OnUnreadable = (key: string, error: unknown) => void

/** How records are decoded: the highest form that the process reads, and what to do with an unreadable record. */
export interface Decoding {
  readonly reads: number
  readonly onUnreadable: OnUnreadable
}

export function createRecordIndex(keyspace: Keyspace, decoding: Decoding): RecordIndex {
  const owners = new Map<TenantScope, Folders>()
  const entries = (owner: TenantScope, folder: string) => owners.get(owner)?.get(folder)?.entries

  return {
    put(kv) {
      const parsed = keyspace.parse(kv.key)
      if (parsed === undefined) return undefined
      const folder = folderOf(owners, parsed)
      const entry = entryOf(kv, parsed)
      folder.bytes += entry.bytes - (folder.entries.get(parsed.id)?.bytes ?? 0)
      folder.entries.set(parsed.id, entry)
      return parsed
    },
    delete(key) {
      const parsed = keyspace.parse(key)
      if (parsed === undefined) return undefined
      const folder = owners.get(parsed.tenant)?.get(parsed.folder)
      if (folder !== undefined) {
        folder.bytes -= folder.entries.get(parsed.id)?.bytes ?? 0
        folder.entries.delete(parsed.id)
      }
      return parsed
    },
    get: (collection, owner, id) => read(collection, entries(owner, collection.folder)?.get(id), decoding),
    list: (collection, owner) =>
      [...(entries(owner, collection.folder)?.values() ?? [])].flatMap(
        (entry) => read(collection, entry, decoding) ?? [],
      ),
    keysOf: (collection, owner) => [...(entries(owner, collection.folder)?.values() ?? [])],
    storedBytes: (owner) => countedBytes(owners.get(owner)),
    bytesOf: (collection, owner) => owners.get(owner)?.get(collection.folder)?.bytes ?? 0,
    find: ({ tenant, folder, id }) => entries(tenant, folder)?.get(id),
    keys: () => walk(owners),
    sortByCreation() {
      for (const folders of owners.values())
        for (const folder of folders.values()) folder.entries = sorted(folder.entries)
    },
  }
}

/** The changes between two indexes, for listeners that missed these changes while etcd's history was unavailable. */
export function difference(before: RecordIndex, after: RecordIndex): Change[] {
  const changes: Change[] = []
  for (const key of after.keys()) {
    if (before.find(key)?.modRevision !== after.find(key)?.modRevision) changes.push({ kind: 'put', key })
  }
  for (const key of before.keys()) if (after.find(key) === undefined) changes.push({ kind: 'delete', key })
  return changes
}

function folderOf(owners: Map<TenantScope, Folders>, { tenant, folder }: ParsedKey): Folder {
  const folders: Folders = owners.get(tenant) ?? new Map()
  owners.set(tenant, folders)
  const found: Folder = folders.get(folder) ?? { entries: new Map(), bytes: 0 }
  folders.set(folder, found)
  return found
}

function countedBytes(folders: Folders | undefined): number {
  let sum = 0
  for (const [name, { bytes }] of folders ?? []) if (isCounted(name)) sum += bytes
  return sum
}

function sorted(entries: ReadonlyMap<string, Entry>): Map<string, Entry> {
  const inOrder = [...entries.values()].sort(
    (left, right) => left.createRevision - right.createRevision || (left.key < right.key ? -1 : 1),
  )
  return new Map(inOrder.map((entry) => [entry.id, entry]))
}

/** Makes an index entry. The value is copied, because it is part of a large response that must not stay in memory. */
function entryOf({ key, value, createRevision, modRevision }: KeyValue, { folder, id }: ParsedKey): Entry {
  const entry = { id, key, createRevision, modRevision, bytes: key.length + value.length }
  return CACHED_FOLDERS.has(folder) ? { ...entry, value: new Uint8Array(value) } : entry
}

function read<T>(
  collection: Collection<T>,
  entry: Entry | undefined,
  decoding: Decoding,
): CachedRecord<T> | undefined {
  if (entry?.value !== undefined) decodeOnce(collection, entry, entry.value, decoding)
  if (entry?.decoded === undefined) return undefined
  return { record: entry.decoded as T, modRevision: entry.modRevision }
}

function decodeOnce(
  collection: Collection<unknown>,
  entry: Entry,
  value: Uint8Array,
  { reads, onUnreadable }: Decoding,
): void {
  entry.value = undefined
  try {
    entry.decoded = decodeRecord(collection, value, reads)
  } catch (error) {
    onUnreadable(entry.key, error)
  }
}

function* walk(owners: Map<TenantScope, Folders>): Generator<ParsedKey> {
  for (const [tenant, folders] of owners) {
    for (const [folder, { entries }] of folders) {
      for (const id of entries.keys()) yield tenant === undefined ? { folder, id } : { tenant, folder, id }
    }
  }
}
