// Proves with which secret versions a container was created: the broker sends a keyed hash of them with the environment, and
// the node returns it with each report. A node that never received the material cannot compute one.

import { createHmac, createSecretKey } from 'node:crypto'
import type { AssignmentId, TemplateSecret } from '@holdfast/contract'
import type { IdSource } from '../../../ports/clock.ts'
import { proofKeys } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { globally } from '../../../store/transaction.ts'

const KEY_BYTES = 32
const THE_KEY = globally(proofKeys, 'key')

/** The versions that an assignment's container uses, by label. */
export type ContainerVersions = ReadonlyMap<string, number>

export function containerProof(key: string, assignmentId: AssignmentId, versions: ContainerVersions): string {
  const text = JSON.stringify([assignmentId, [...versions].sort(([a], [b]) => (a < b ? -1 : 1))])
  const keyed = createSecretKey(Buffer.from(key, 'base64url'))
  return createHmac('sha256', keyed).update(text).digest('base64url')
}

/** Undefined while an entry has no version: then no container can be created. `initial` looks up a credential's initial version. */
export function containerVersions(
  secrets: readonly TemplateSecret[],
  initial: (label: string) => number | null | undefined,
): ContainerVersions | undefined {
  const versions = new Map<string, number>()
  for (const { label, version } of secrets) {
    const used = version ?? initial(label)
    if (used === null || used === undefined) return undefined
    versions.set(label, used)
  }
  return versions
}

/** Undefined before the first container received material: then no proof can exist. */
export const knownProofKey = (store: Pick<Store, 'get'>): string | undefined => store.get(THE_KEY)?.record.key

/** The platform's one proof key; generated where there is none yet. */
export async function proofKeyOf(store: Store, ids: Pick<IdSource, 'bytes'>): Promise<string> {
  const known = knownProofKey(store)
  if (known !== undefined) return known
  return store.transact((transaction) => {
    const stored = transaction.get(THE_KEY)
    // Another server stored the key first: use that one.
    if (stored !== undefined) return { kind: 'abort', result: stored.key }
    const key = Buffer.from(ids.bytes(KEY_BYTES)).toString('base64url')
    transaction.put(THE_KEY, { v: 1, key })
    return { kind: 'commit', result: key }
  })
}
