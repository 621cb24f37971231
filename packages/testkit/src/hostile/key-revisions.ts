// When was each key last changed, according to etcd? Values are left out, so that it can be read often. Also compares two such
// readings with the accepted writes.

export type KeyRevisions = ReadonlyMap<string, string>

const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** All keys that begin with a prefix which ends in a slash. */
export async function readKeyRevisions(endpoint: string, prefix: string): Promise<KeyRevisions> {
  const response = await fetch(`${endpoint}/v3/kv/range`, {
    method: 'POST',
    body: JSON.stringify({
      key: base64(prefix),
      range_end: base64(`${prefix.slice(0, -1)}0`),
      keys_only: true,
    }),
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
  /** A new object was created. An update may leave the object unchanged, and then nothing is stored. */
  readonly created: boolean
  /** Absent: the write did not concern a deployment. */
  readonly deployment?: string
}

/** Every changed key must be explained by an accepted write, because a rejected one changes nothing. Undefined: all are. */
export function unexplainedChange(
  changed: readonly string[],
  accepted: readonly AcceptedWrite[],
): string | undefined {
  if (accepted.length === 0) return changed.length === 0 ? undefined : `changed: ${changed.slice(0, 5)}`
  const folder = (name: string) => changed.filter((key) => key.includes(`/${name}/`))
  // Each accepted write with a change leaves one audit entry in its own transaction.
  const audited = folder('aud').length
  const created = accepted.filter((write) => write.created).length
  if (audited < created || audited > accepted.length)
    return `${accepted.length} accepted, ${created} of them created, ${audited} audited`
  const names = new Set(accepted.flatMap(({ deployment }) => deployment ?? []))
  const stored = folder('dep').filter((key) => !names.has(key.split('/').at(-2) ?? ''))
  return stored.length === 0 ? undefined : `stored without an accepted write: ${stored.slice(0, 5)}`
}
