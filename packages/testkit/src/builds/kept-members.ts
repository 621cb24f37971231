// Compares the records of a store before and after writes of an older build, to find members of a newer build that were
// lost. Only records that were changed in between are compared: one that was deleted and created again is a new record.

import type { KeyDump } from '../platform/dump-keys.ts'

export interface KeptMembers {
  /** Number of compared records by kind. */
  readonly compared: ReadonlyMap<string, number>
  /** Keys of records that lost the member. */
  readonly lost: readonly string[]
}

/** `member` is the name of the member that the newer build adds to every object. */
export function compareMembers(before: KeyDump, after: KeyDump, member: string): KeptMembers {
  const compared = new Map<string, number>()
  const lost: string[] = []
  for (const [key, { created, revision, value }] of Object.entries(before)) {
    const now = after[key]
    if (now?.created !== created || now.revision === revision || !hasMember(value, member)) continue
    compared.set(kindOf(key), (compared.get(kindOf(key)) ?? 0) + 1)
    if (!hasMember(now.value, member)) lost.push(key)
  }
  return { compared, lost }
}

export const hasMember = (text: string, member: string): boolean =>
  Object.hasOwn(Object(JSON.parse(text)), member)

/** Kind of the record under a key: the folder below the tenant, or below the global prefix. */
export function kindOf(key: string): string {
  const [, , scope, ...rest] = key.split('/')
  return (scope === 't' ? rest[1] : rest[0]) ?? ''
}
