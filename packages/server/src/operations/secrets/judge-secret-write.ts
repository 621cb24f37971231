// Decides from stored records whether a credential may get one more version: the namespace of its label, versions that are
// in use, and quotas.

import type { Rejection } from '@holdfast/contract'
import { checkQuotas, checkSecretPath, type QuotaFact, reject } from '@holdfast/core'
import type { SlotDeps } from '../../quotas/hold-slot.ts'
import { credentialQuota } from '../../quotas/hold-slots.ts'
import { credentials, type StoredCredential } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant } from '../../store/transaction.ts'
import type { Caller } from '../caller.ts'
import { checkIfMatch } from '../preconditions.ts'
import { checkVersionRoom } from './versions/prune-versions.ts'
import { gatherUses } from './versions/version-uses.ts'

export interface JudgeDeps extends SlotDeps {
  readonly store: Store
  readonly namespaces: readonly string[]
}

/** A secret as the path of a request names it. */
export interface SecretAddress {
  readonly namespace: string
  readonly resource: string
}

/** A write to a path that is valid. */
export interface SecretWrite {
  readonly caller: Caller
  readonly namespace: string
  readonly label: string
  readonly keys: readonly string[]
  /** Names the version that the writer believes to be the newest. */
  readonly ifMatch?: string | undefined
}

/** Runs before anything is staged. A rejection based on the cache is confirmed on a current view. */
export async function judgeBeforeStaging(deps: JudgeDeps, write: SecretWrite): Promise<Rejection[]> {
  if (judgeNow(deps, write).length === 0) return []
  await deps.store.fresh()
  return judgeNow(deps, write)
}

function judgeNow(deps: JudgeDeps, write: SecretWrite): Rejection[] {
  const { tenant } = write.caller
  const stored = deps.store.get(inTenant(tenant, credentials, write.label))?.record
  return judgeSecretWrite(deps, write, stored, needsSlot(stored) ? [credentialQuota(deps, tenant, 1)] : [])
}

/** A credential claims its quota slot with its first version. */
export const needsSlot = (stored: StoredCredential | undefined): boolean => (stored?.slot ?? null) === null

/** `stored` is the record that the transaction compares; `slots` are quotas that it found exhausted. */
export function judgeSecretWrite(
  deps: JudgeDeps,
  write: SecretWrite,
  stored: StoredCredential | undefined,
  slots: readonly QuotaFact[],
): Rejection[] {
  const conflict = checkIfMatch(write.ifMatch, newestVersion(stored))
  if (conflict !== undefined) return [conflict]
  const faults = [
    ...checkSecretPath(write.namespace, write.label, deps.namespaces, stored?.namespace),
    stored && checkVersionRoom(stored, gatherUses(deps.store, write.caller.tenant)(stored)),
    checkRecordSize([[write.keys, stored]]),
  ]
  const bytes = bytesQuota(deps, write)
  return [...faults.filter((fault) => fault !== undefined), ...checkQuotas([...slots, bytes])]
}

/** The number in the secret's ETag; 0 where no version is listed. */
export const newestVersion = (stored: Pick<StoredCredential, 'versions'> | undefined): number =>
  Math.max(0, ...(stored?.versions.map(({ version }) => version) ?? []))

/** Records share one etcd request, which is limited to 1.5 MiB; many long key names make them large. */
const MAX_RECORD_BYTES = 400 * 1024

/** Takes the new keys and the stored record of all credentials that are written together. */
export function checkRecordSize(
  written: readonly (readonly [readonly string[], StoredCredential | undefined])[],
  max = MAX_RECORD_BYTES,
): Rejection | undefined {
  const sizes = written.map(
    ([keys, stored]) => keyBytes(keys) + (stored === undefined ? 0 : JSON.stringify(stored).length),
  )
  if (sizes.reduce((sum, each) => sum + each, 0) <= max) return undefined
  return reject('body_too_large', 'body', undefined, { max })
}

/** Bytes that a version stores beside its keys: its entry in the record, the event and the audit entry. */
const OVERHEAD_BYTES = 2048

function bytesQuota({ store, quotas }: JudgeDeps, write: SecretWrite): QuotaFact {
  const { tenant } = write.caller
  return {
    kind: 'stored_bytes',
    used: store.storedBytes(tenant),
    requested: keyBytes(write.keys) + OVERHEAD_BYTES,
    limit: quotas.limit(tenant, 'stored_bytes'),
  }
}

/** Keys become names of environment variables and are ASCII, so characters are bytes. */
const keyBytes = (keys: readonly string[]): number => JSON.stringify(keys).length
