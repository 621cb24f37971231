// The records in memory, by tenant, folder and id. Values stay the bytes that arrived and are decoded when first asked
// for; of collections that are not cached only the presence and the size are kept.

import type { TenantId } from '@holdfast/contract'
import type { KeyValue } from '../ports/key-value.ts'
import { decodeRecord } from './encode.ts'
import type { Keyspace, ParsedKey } from './keys.ts'
import { COLLECTIONS, type Collection } from './records.ts'

interface Entry {
  readonly key: string
  readonly createRevision: number
  readonly modRevision: number
  readonly bytes: number
  readonly value?: Uint8Array
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

export interface Change {
  readonly kind: 'put' | 'delete'
  readonly key: ParsedKey
}

/** `undefined` owns what is global. */
type Owner = TenantId | undefined
type Folders = Map<string, Map<string, Entry>>

export interface RecordIndex {
  put(kv: KeyValue): ParsedKey | undefined
  delete(key: string): ParsedKey | undefined
  get<T>(collection: Collection<T>, owner: Owner, id: string): CachedRecord<T> | undefined
  list<T>(collection: Collection<T>, owner: Owner): CachedRecord<T>[]
  /** Every key of a folder in the order in which it came to be, whether its value is kept or not. */
  keysOf(collection: Collection<unknown>, owner: Owner): readonly IndexedKey[]
  /** Keys and values of the tenant together, as its byte budget counts them (DECISIONS 6). */
  storedBytes(owner: Owner): number
  tenants(): readonly TenantId[]
  find(key: ParsedKey): { readonly modRevision: number } | undefined
  keys(): Iterable<ParsedKey>
}

const CACHED_FOLDERS = new Set(COLLECTIONS.filter(({ cached }) => cached).map(({ folder }) => folder))

/** A value that cannot be read is one tenant's trouble: it is reported, and the rest goes on (SAFETY 2, row 31). */
export type OnUnreadable = (key: string, error: unknown) => void

export function createRecordIndex(keyspace: Keyspace, onUnreadable: OnUnreadable): RecordIndex {
  const owners = new Map<Owner, Folders>()
  const bytesOf = new Map<Owner, number>()
  const entries = (owner: Owner, folder: string) => owners.get(owner)?.get(folder)
  const grow = (owner: Owner, bytes: number) => bytesOf.set(owner, (bytesOf.get(owner) ?? 0) + bytes)

  return {
    put(kv) {
      const parsed = keyspace.parse(kv.key)
      if (parsed === undefined) return undefined
      const folder = folderOf(owners, parsed)
      const entry = entryOf(kv, CACHED_FOLDERS.has(parsed.folder))
      grow(parsed.tenant, entry.bytes - (folder.get(parsed.id)?.bytes ?? 0))
      folder.set(parsed.id, entry)
      return parsed
    },
    delete(key) {
      const parsed = keyspace.parse(key)
      if (parsed === undefined) return undefined
      const folder = entries(parsed.tenant, parsed.folder)
      grow(parsed.tenant, -(folder?.get(parsed.id)?.bytes ?? 0))
      folder?.delete(parsed.id)
      return parsed
    },
    get: (collection, owner, id) =>
      read(collection, entries(owner, collection.folder)?.get(id), onUnreadable),
    list: (collection, owner) =>
      [...(entries(owner, collection.folder)?.values() ?? [])].flatMap(
        (entry) => read(collection, entry, onUnreadable) ?? [],
      ),
    keysOf: (collection, owner) =>
      [...(entries(owner, collection.folder) ?? [])].map(([id, { key, createRevision }]) => ({
        id,
        key,
        createRevision,
      })),
    storedBytes: (owner) => bytesOf.get(owner) ?? 0,
    tenants: () => [...owners.keys()].filter((owner) => owner !== undefined),
    find: ({ tenant, folder, id }) => entries(tenant, folder)?.get(id),
    keys: () => walk(owners),
  }
}

/** What a listener missed while the history was out of reach. */
export function difference(before: RecordIndex, after: RecordIndex): Change[] {
  const changes: Change[] = []
  for (const key of after.keys()) {
    if (before.find(key)?.modRevision !== after.find(key)?.modRevision) changes.push({ kind: 'put', key })
  }
  for (const key of before.keys()) if (after.find(key) === undefined) changes.push({ kind: 'delete', key })
  return changes
}

function folderOf(owners: Map<Owner, Folders>, { tenant, folder }: ParsedKey): Map<string, Entry> {
  const folders = owners.get(tenant) ?? new Map<string, Map<string, Entry>>()
  owners.set(tenant, folders)
  const entries = folders.get(folder) ?? new Map<string, Entry>()
  folders.set(folder, entries)
  return entries
}

function entryOf({ key, value, createRevision, modRevision }: KeyValue, keepValue: boolean): Entry {
  const bytes = key.length + value.length
  return keepValue
    ? { key, createRevision, modRevision, bytes, value }
    : { key, createRevision, modRevision, bytes }
}

function read<T>(
  collection: Collection<T>,
  entry: Entry | undefined,
  onUnreadable: OnUnreadable,
): CachedRecord<T> | undefined {
  if (entry?.value === undefined) return undefined
  try {
    entry.decoded ??= decodeRecord(collection, entry.value)
    return { record: entry.decoded as T, modRevision: entry.modRevision }
  } catch (error) {
    onUnreadable(entry.key, error)
    return undefined
  }
}

function* walk(owners: Map<Owner, Folders>): Generator<ParsedKey> {
  for (const [tenant, folders] of owners) {
    for (const [folder, entries] of folders) {
      for (const id of entries.keys()) yield tenant === undefined ? { folder, id } : { tenant, folder, id }
    }
  }
}
