// Decides the effect of a write on the keys of a secret from key names alone: which keys a new version drops, and which
// version a patch extends. No value is read for it (docs/design/secrets.md#adding-keys).

import type { Rejection, Warning } from '@holdfast/contract'
import { reject } from '../reject.ts'

/** A version that the record of a credential lists. */
export interface ListedVersion {
  readonly version: number
  readonly keys: readonly string[]
  /** Upper bound of the size of the document; absent if it is not known. */
  readonly bytes?: number | undefined
}

/** The versions of a credential in ascending order, and the version that a rotation has staged. */
export interface ListedVersions {
  readonly versions: readonly ListedVersion[]
  readonly staged: number | undefined
}

/** Keys and size of a document that a write sends. */
export interface SentDocument {
  readonly keys: readonly string[]
  readonly bytes: number
}

/** The version that new deployments use, which a write replaces or extends. */
export function newestUsable<T extends ListedVersion>(
  versions: readonly T[],
  staged: number | undefined,
): T | undefined {
  return versions.findLast(({ version }) => version !== staged)
}

/** Warns that a new version leaves out keys of the version before it. `field` is the field that sends the new values. */
export function warnOfDroppedKeys(
  before: ListedVersion | undefined,
  keys: readonly string[],
  field: string,
): Warning[] {
  const dropped = before?.keys.filter((key) => !keys.includes(key)) ?? []
  if (before === undefined || dropped.length === 0) return []
  const named = dropped.length === 1 ? `The key ${dropped[0]}` : `The keys ${dropped.join(', ')}`
  const why = `${named} of version ${before.version} ${dropped.length === 1 ? 'is' : 'are'} not sent, and a write keeps only the keys that it sends. PATCH adds or changes keys and keeps the others.`
  return [{ code: 'secret_keys_dropped', field, why }]
}

export type PatchVerdict =
  | { readonly kind: 'ok'; readonly base: number; readonly keys: readonly string[]; readonly bytes: number }
  | { readonly kind: 'refused'; readonly rejection: Rejection }

/**
 * The document that a patch gives. The secrets store can only extend its newest version, so `newestStored` must be the
 * version that deployments use. The size counts a changed key twice, because the size of its old value is not known.
 */
export function planPatch(
  { versions, staged }: ListedVersions,
  newestStored: number,
  sent: SentDocument,
  maxBytes: number,
): PatchVerdict {
  const base = newestUsable(versions, staged)
  if (base === undefined) return refused(reject('secret_not_found', 'resource', undefined))
  if (base.version !== newestStored) {
    const cause =
      newestStored === staged ? 'a rotation has staged it' : 'its values were destroyed before any use'
    const about = { base: base.version, newest: newestStored, cause }
    return refused(
      reject('secret_patch_base_missing', 'values', undefined, about, `version ${base.version} in use`),
    )
  }
  const bytes = (base.bytes ?? 0) + sent.bytes
  if (bytes > maxBytes)
    return refused(
      reject('secret_value_too_long', 'values', undefined, { max: maxBytes }, `up to ${bytes} bytes`),
    )
  return { kind: 'ok', base: base.version, keys: [...new Set([...base.keys, ...sent.keys])], bytes }
}

const refused = (rejection: Rejection): PatchVerdict => ({ kind: 'refused', rejection })
