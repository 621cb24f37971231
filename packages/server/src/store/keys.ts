// The layout of keys in etcd (docs/design/store.md#keys). A key begins with the tenant, so the records
// of a tenant are one range. Every key ends in `/`, so no prefix scan matches a longer name. Global
// records are few and have a separate prefix.

import { isTenantId, type TenantId } from '@holdfast/contract'
import type { KeyRange } from '../ports/key-value.ts'

export interface ParsedKey {
  /** The tenant that owns the record; absent for a global record. */
  readonly tenant?: TenantId
  readonly folder: string
  readonly id: string
}

export interface Keyspace {
  readonly root: string
  tenantKey(tenant: TenantId, folder: string, id: string): string
  globalKey(folder: string, id: string): string
  parse(key: string): ParsedKey | undefined
  everything(): KeyRange
  wholeTenant(tenant: TenantId): KeyRange
  folderOf(tenant: TenantId, folder: string, within?: string): KeyRange
  /** The keys of the reserve, which hold no record (reserve.ts). */
  reserve(): KeyRange
  reserveKey(piece: number): string
}

/** `root` is the first part of all keys: `/hf` in production; tests that share an etcd each use another root. */
export function createKeyspace(root = '/hf'): Keyspace {
  return {
    root,
    tenantKey: (tenant, folder, id) => `${root}/t/${tenant}/${folder}/${id}/`,
    globalKey: (folder, id) => `${root}/g/${folder}/${id}/`,
    parse: (key) => parseKey(root, key),
    everything: () => prefixRange(`${root}/`),
    wholeTenant: (tenant) => prefixRange(`${root}/t/${tenant}/`),
    folderOf: (tenant, folder, within) =>
      prefixRange(`${root}/t/${tenant}/${folder}/${within ? `${within}/` : ''}`),
    reserve: () => prefixRange(`${root}/reserve/`),
    reserveKey: (piece) => `${root}/reserve/${piece}/`,
  }
}

/**
 * The range of all keys with a prefix that ends in `/`. In `rangeEnd`, `0`, the character after `/`, replaces that `/`.
 */
export function prefixRange(prefix: string): KeyRange {
  return { key: prefix, rangeEnd: `${prefix.slice(0, -1)}0` }
}

function parseKey(root: string, key: string): ParsedKey | undefined {
  if (!key.startsWith(`${root}/`) || !key.endsWith('/')) return undefined
  const rest = key.slice(root.length + 1, -1)
  if (rest.startsWith('g/')) return parseFolder(rest.slice(2))
  const tenant = rest.slice(2, 38)
  if (!rest.startsWith('t/') || rest[38] !== '/' || !isTenantId(tenant)) return undefined
  const inside = parseFolder(rest.slice(39))
  return inside && { tenant, ...inside }
}

function parseFolder(text: string): { folder: string; id: string } | undefined {
  const slash = text.indexOf('/')
  return slash <= 0 ? undefined : { folder: text.slice(0, slash), id: text.slice(slash + 1) }
}
