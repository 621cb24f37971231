// Reads the revision at which each etcd key was last changed, and checks that accepted writes explain all changes between
// two readings. Values are not read, so that frequent readings are cheap.

import { keyspaceWith, MEMORY_ENDPOINT } from '../platform/connect-store.ts'

export type KeyRevisions = ReadonlyMap<string, string>

const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** Reads the revisions of all keys that begin with the prefix, which must end in a slash. */
export async function readKeyRevisions(endpoint: string, prefix: string): Promise<KeyRevisions> {
  const rangeEnd = `${prefix.slice(0, -1)}0`
  if (endpoint === MEMORY_ENDPOINT) {
    const { kvs } = keyspaceWith(prefix).range({ key: prefix, rangeEnd, keysOnly: true })
    return new Map(kvs.map(({ key, modRevision }) => [key, `${modRevision}`]))
  }
  const response = await fetch(`${endpoint}/v3/kv/range`, {
    method: 'POST',
    body: JSON.stringify({ key: base64(prefix), range_end: base64(rangeEnd), keys_only: true }),
  })
  const answer = (await response.json()) as { kvs?: { key: string; mod_revision: string }[] }
  return new Map(
    (answer.kvs ?? []).map(({ key, mod_revision }) => [Buffer.from(key, 'base64').toString(), mod_revision]),
  )
}

export function changedKeys(before: KeyRevisions, after: KeyRevisions): string[] {
  const keys = new Set([...before.keys(), ...after.keys()])
  return [...keys].filter((key) => before.get(key) !== after.get(key))
}

export interface AcceptedWrite {
  /** True if the write created an object. Only a creation must change a key; an update without a difference stores nothing. */
  readonly created: boolean
  /** Name of the written deployment. Absent if the write did not concern a deployment. */
  readonly deployment?: string
}

/**
 * Describes changed keys that no accepted write explains; undefined if every change is explained. A rejected write must
 * change nothing.
 */
export function unexplainedChange(
  changed: readonly string[],
  accepted: readonly AcceptedWrite[],
): string | undefined {
  if (accepted.length === 0) return changed.length === 0 ? undefined : `changed: ${changed.slice(0, 5)}`
  const folder = (name: string) => changed.filter((key) => key.includes(`/${name}/`))
  // Each accepted write that changes something adds one audit entry in the same transaction.
  const audited = folder('aud').length
  const created = accepted.filter((write) => write.created).length
  if (audited < created || audited > accepted.length)
    return `${accepted.length} accepted, ${created} of them created, ${audited} audited`
  const names = new Set(accepted.flatMap(({ deployment }) => deployment ?? []))
  const stored = folder('dep').filter((key) => !names.has(key.split('/').at(-2) ?? ''))
  return stored.length === 0 ? undefined : `stored without an accepted write: ${stored.slice(0, 5)}`
}
