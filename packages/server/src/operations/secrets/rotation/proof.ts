// How a container proves with which versions it was made: the broker hands a keyed hash of them to the node together with
// the environment, and the node sends it back with each report. A node that never had the material cannot make one.
// DECISIONS 5 (retire).

import { createHmac, createSecretKey } from 'node:crypto'
import type { AssignmentId, TemplateSecret } from '@holdfast/contract'
import type { IdSource } from '../../../ports/clock.ts'
import { proofKeys } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { globally } from '../../../store/transaction.ts'

const KEY_BYTES = 32
const THE_KEY = globally(proofKeys, 'key')

/** The versions that an assignment's container has, by label. */
export type MadeWith = ReadonlyMap<string, number>

export function containerProof(key: string, assignmentId: AssignmentId, made: MadeWith): string {
  const text = JSON.stringify([assignmentId, [...made].sort(([a], [b]) => (a < b ? -1 : 1))])
  const keyed = createSecretKey(Buffer.from(key, 'base64url'))
  return createHmac('sha256', keyed).update(text).digest('base64url')
}

/** Undefined while an entry has no version at all: then no container can be made. `initial` is that of the credential. */
export function madeWith(
  secrets: readonly TemplateSecret[],
  initial: (label: string) => number | null | undefined,
): MadeWith | undefined {
  const made = new Map<string, number>()
  for (const { label, version } of secrets) {
    const used = version ?? initial(label)
    if (used === null || used === undefined) return undefined
    made.set(label, used)
  }
  return made
}

/** Undefined before the first container was given any material: then nobody can have proved anything. */
export const knownProofKey = (store: Pick<Store, 'get'>): string | undefined => store.get(THE_KEY)?.record.key

/** The one key of the platform; made here where there is none yet. */
export async function proofKeyOf(store: Store, ids: Pick<IdSource, 'bytes'>): Promise<string> {
  const known = knownProofKey(store)
  if (known !== undefined) return known
  return store.transact((transaction) => {
    const stored = transaction.get(THE_KEY)
    if (stored !== undefined) return { kind: 'abort', result: stored.key }
    const key = Buffer.from(ids.bytes(KEY_BYTES)).toString('base64url')
    transaction.put(THE_KEY, { v: 1, key })
    return { kind: 'commit', result: key }
  })
}
