// Proves with which secret versions a container was created: the broker sends a keyed hash of the versions with the
// environment, and the node returns it with each report. A node that never received the secret values cannot compute it.

import { createHmac, createSecretKey } from 'node:crypto'
import type { AssignmentId, TemplateSecret } from '@holdfast/contract'
import type { IdSource } from '../../../ports/clock.ts'
import { proofKeys } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { globally } from '../../../store/transaction.ts'

const KEY_BYTES = 32
const THE_KEY = globally(proofKeys, 'key')

/** The secret versions that the container of an assignment uses, by label. */
export type ContainerVersions = ReadonlyMap<string, number>

export function containerProof(key: string, assignmentId: AssignmentId, versions: ContainerVersions): string {
  const text = JSON.stringify([assignmentId, [...versions].sort(([a], [b]) => (a < b ? -1 : 1))])
  const keyed = createSecretKey(Buffer.from(key, 'base64url'))
  return createHmac('sha256', keyed).update(text).digest('base64url')
}

/**
 * The secret versions of a container; undefined while a secret has no version. `initial` returns the version of a secret
 * that containers without a pinned version use.
 */
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

/** The key for container proofs; undefined before any container received secret values, when no proof can exist. */
export const knownProofKey = (store: Pick<Store, 'get'>): string | undefined => store.get(THE_KEY)?.record.key

/** The platform's only key for container proofs, which is generated at the first call. */
export async function proofKeyOf(store: Store, ids: Pick<IdSource, 'bytes'>): Promise<string> {
  const known = knownProofKey(store)
  if (known !== undefined) return known
  return store.transact((transaction) => {
    const stored = transaction.get(THE_KEY)
    // If another server replica stored its key first, that key is used.
    if (stored !== undefined) return { kind: 'abort', result: stored.key }
    const key = Buffer.from(ids.bytes(KEY_BYTES)).toString('base64url')
    transaction.put(THE_KEY, { v: 1, key })
    return { kind: 'commit', result: key }
  })
}
