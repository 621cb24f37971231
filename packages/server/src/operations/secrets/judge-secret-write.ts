// Whether one more version of a credential may be written, as far as the world decides it: the label's namespace, versions
// that somebody still needs, and quotas. DECISIONS 3, 5 and 6.

import type { Rejection } from '@holdfast/contract'
import { checkQuotas, checkSecretPath, type QuotaFact, reject } from '@holdfast/core'
import type { SlotDeps } from '../../quotas/hold-slot.ts'
import { credentialQuota } from '../../quotas/hold-slots.ts'
import { credentials, type StoredCredential } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant } from '../../store/transaction.ts'
import type { Caller } from '../caller.ts'
import { checkIfMatch } from '../check-if-match.ts'
import { checkVersionRoom } from './versions/prune-versions.ts'
import { gatherUses } from './versions/version-uses.ts'

export interface JudgeDeps extends SlotDeps {
  readonly store: Store
  readonly namespaces: readonly string[]
}

/** As the path of a request names it. */
export interface SecretAddress {
  readonly namespace: string
  readonly resource: string
}

/** To a path that is sound. */
export interface SecretWrite {
  readonly caller: Caller
  readonly namespace: string
  readonly label: string
  readonly keys: readonly string[]
  /** Of the version that the writer believes to be the newest. */
  readonly ifMatch?: string | undefined
}

/** Before anything is staged. What the cache refuses is looked at again on a current view before it is said. */
export async function judgeBefore(deps: JudgeDeps, write: SecretWrite): Promise<Rejection[]> {
  if (judgeNow(deps, write).length === 0) return []
  await deps.store.fresh()
  return judgeNow(deps, write)
}

function judgeNow(deps: JudgeDeps, write: SecretWrite): Rejection[] {
  const { tenant } = write.caller
  const stored = deps.store.get(inTenant(tenant, credentials, write.label))?.record
  return judgeSecretWrite(deps, write, stored, needsSlot(stored) ? [credentialQuota(deps, tenant, 1)] : [])
}

/** A credential takes its slot with its first version. */
export const needsSlot = (stored: StoredCredential | undefined): boolean => (stored?.slot ?? null) === null

/** With the record that the transaction compares, and with the quota of slots as that knows it. */
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
  const bytes = budgetOf(deps, write)
  return [...faults.filter((fault) => fault !== undefined), ...checkQuotas([...slots, bytes])]
}

/** By which a secret is told from what it was; 0 where nothing is listed. */
export const newestVersion = (stored: Pick<StoredCredential, 'versions'> | undefined): number =>
  Math.max(0, ...(stored?.versions.map(({ version }) => version) ?? []))

/** Records travel in one transaction, which takes 1.5 MiB (SAFETY 4a); names of keys are what makes them long. */
const MAX_RECORD_BYTES = 400 * 1024

/** Of all credentials that are written together: the keys to be, and what is stored. */
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

/** What a version adds beside its keys: its place in the record, the event, the audit entry. */
const OVERHEAD_BYTES = 2048

function budgetOf({ store, quotas }: JudgeDeps, write: SecretWrite): QuotaFact {
  const { tenant } = write.caller
  return {
    kind: 'stored_bytes',
    used: store.storedBytes(tenant),
    requested: keyBytes(write.keys) + OVERHEAD_BYTES,
    limit: quotas.limit(tenant, 'stored_bytes'),
  }
}

/** They are of ASCII: environment variables are made of them. */
const keyBytes = (keys: readonly string[]): number => JSON.stringify(keys).length
