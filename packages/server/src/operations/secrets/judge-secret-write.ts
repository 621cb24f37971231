// Decides from stored records whether a credential may get another version. Checks the namespace of the credential's
// label, versions that are in use, and quotas.

import type { Rejection } from '@holdfast/contract'
import {
  checkQuotas,
  checkSecretPath,
  type Limits,
  planPatch,
  type QuotaFact,
  reject,
  type SentDocument,
} from '@holdfast/core'
import type { SlotDeps } from '../../quotas/hold-slot.ts'
import { credentialQuota } from '../../quotas/hold-slots.ts'
import { credentials, type StoredCredential } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant } from '../../store/transaction.ts'
import type { Caller } from '../caller.ts'
import { checkIfMatch } from '../preconditions.ts'
import { checkVersionRoom, newestUnstaged } from './versions/prune-versions.ts'
import { gatherUses } from './versions/version-uses.ts'

export interface JudgeDeps extends SlotDeps {
  readonly store: Store
  readonly namespaces: readonly string[]
  readonly limits: Limits
}

/** Namespace and resource of a secret, from the path of a request. */
export interface SecretAddress {
  readonly namespace: string
  readonly resource: string
}

/** A write of a secret whose path is valid. */
export interface SecretWrite {
  readonly caller: Caller
  readonly namespace: string
  readonly label: string
  readonly sent: SentDocument
  /** Whether the values are added to the newest version; otherwise they replace it. */
  readonly patch: boolean
  /** The version that the client believes to be the newest. */
  readonly ifMatch?: string | undefined
}

/**
 * Checks a write before its values go to the secrets store. A rejection from the cache is confirmed on fresh data.
 */
export async function judgeBeforeStaging(deps: JudgeDeps, write: SecretWrite): Promise<readonly Rejection[]> {
  if (judgeNow(deps, write).length === 0) return []
  await deps.store.fresh()
  return judgeNow(deps, write)
}

function judgeNow(deps: JudgeDeps, write: SecretWrite): readonly Rejection[] {
  const { tenant } = write.caller
  const stored = deps.store.get(inTenant(tenant, credentials, write.label))?.record
  const slots = needsSlot(stored) ? [credentialQuota(deps, tenant, 1)] : []
  return judgeSecretWrite(deps, write, stored, slots).faults
}

/** Whether a credential needs a quota slot, which it claims with its first version. */
export const needsSlot = (stored: StoredCredential | undefined): boolean => (stored?.slot ?? null) === null

export interface JudgedWrite {
  readonly faults: readonly Rejection[]
  /** Key names and size of the new version. */
  readonly document: SentDocument
}

/**
 * Judges a write. `stored` is the credential's current record; `slots` are the quotas of credentials to check;
 * `newestStored` is the version in the secrets store that a patch has extended, once it is written.
 */
export function judgeSecretWrite(
  deps: JudgeDeps,
  write: SecretWrite,
  stored: StoredCredential | undefined,
  slots: readonly QuotaFact[],
  newestStored = (stored && newestUnstaged(stored)) ?? 0,
): JudgedWrite {
  const conflict = checkIfMatch(write.ifMatch, newestVersion(stored))
  if (conflict !== undefined) return { faults: [conflict], document: write.sent }
  const { rejection, ...document } = documentAfter(deps, write, stored, newestStored)
  const faults = [
    ...checkSecretPath(write.namespace, write.label, deps.namespaces, stored?.namespace),
    rejection,
    stored && checkVersionRoom(stored, gatherUses(deps.store, write.caller.tenant)(stored)),
    checkRecordSize([[document.keys, stored]]),
  ]
  const quotas = checkQuotas([...slots, bytesQuota(deps, write, document.keys)])
  return { faults: [...faults.filter((fault) => fault !== undefined), ...quotas], document }
}

function documentAfter(
  { limits }: JudgeDeps,
  { patch, sent }: SecretWrite,
  stored: StoredCredential | undefined,
  newestStored: number,
): SentDocument & { readonly rejection?: Rejection } {
  if (!patch) return sent
  const planned = planPatch(listedVersions(stored), newestStored, sent, limits.secretDocumentBytes)
  return planned.kind === 'ok' ? planned : { ...sent, rejection: planned.rejection }
}

/** The versions of a credential as the rules for writes read them. */
export const listedVersions = (stored: StoredCredential | undefined) => ({
  versions: stored?.versions ?? [],
  staged: stored?.rotation?.new,
})

/** The newest version number, which is the secret's ETag; 0 if no version is listed. */
export const newestVersion = (stored: Pick<StoredCredential, 'versions'> | undefined): number =>
  Math.max(0, ...(stored?.versions.map(({ version }) => version) ?? []))

/**
 * The most bytes of credential records per write: an etcd request is limited to 1.5 MiB, and long key names need room.
 */
const MAX_RECORD_BYTES = 400 * 1024

/** Rejects a write if the records of all its credentials, with their new keys, are too large together. */
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

/** Estimated bytes that a version stores besides its key names: an entry in the record, an event and an audit entry. */
const OVERHEAD_BYTES = 2048

function bytesQuota(
  { store, quotas }: JudgeDeps,
  { caller: { tenant } }: SecretWrite,
  keys: readonly string[],
): QuotaFact {
  return {
    kind: 'stored_bytes',
    used: store.storedBytes(tenant),
    requested: keyBytes(keys) + OVERHEAD_BYTES,
    limit: quotas.limit(tenant, 'stored_bytes'),
  }
}

/** Size of the key names in bytes. Keys become names of environment variables and are ASCII, so characters are bytes. */
const keyBytes = (keys: readonly string[]): number => JSON.stringify(keys).length
