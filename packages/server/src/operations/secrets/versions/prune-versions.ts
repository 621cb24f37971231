// Decides which versions of a credential are kept. Each write adds one, so versions that are not in use are destroyed, and a
// write that would make the secrets store drop a version in use is rejected.

import type { Rejection, TenantId } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import { credentials, type StoredCredential } from '../../../store/records.ts'
import { StoreUnavailableError } from '../../../store/store.ts'
import { inTenant } from '../../../store/transaction.ts'
import { destroyStaged, markVersionsForDestruction } from './destroy-versions.ts'
import type { StagedVersion } from './intents.ts'
import type { StageDeps } from './stage-version.ts'
import { gatherUses, nameUsers, type VersionUses } from './version-uses.ts'

/**
 * The secrets store keeps the last 1,000 versions of a path and drops older ones. A hundred of them are left for versions
 * that were staged and never pinned.
 */
const NUMBERS_KEPT = 900
/** Deleting a credential marks all its versions in one transaction, which holds 120 operations. */
export const VERSIONS_KEPT = 100

type VersionsAndRotation = Pick<StoredCredential, 'versions' | 'rotation'>

/** The version to which a deployment admitted now is pinned; undefined while there is none. */
export function newestUnstaged({ versions, rotation }: VersionsAndRotation): number | undefined {
  return versions.findLast(({ version }) => version !== rotation?.new)?.version
}

/** Versions that may be destroyed: not the newest one, not part of a rotation, and not in use. */
export function unneededVersions(credential: VersionsAndRotation, uses: VersionUses): number[] {
  const { versions, rotation } = credential
  const needed = new Set([newestUnstaged(credential), rotation?.old, rotation?.new, ...uses.keys()])
  return versions.map(({ version }) => version).filter((version) => !needed.has(version))
}

/** Rejects one more version of this credential if the secrets store would then drop one that is in use. */
export function checkVersionRoom(credential: VersionsAndRotation, uses: VersionUses): Rejection | undefined {
  const { versions } = credential
  const used = versions.filter(({ version }) => uses.has(version))
  const [oldest] = used
  const next = (versions.at(-1)?.version ?? 0) + 1
  const crowded = used.length >= VERSIONS_KEPT
  if (oldest === undefined || !(crowded || next - oldest.version >= NUMBERS_KEPT)) return undefined
  const consumers = nameUsers(uses.get(oldest.version) ?? [])
  return reject('secret_in_use', 'values', undefined, { consumers }, `version ${oldest.version} in use`)
}

/**
 * Destroys versions that are not in use, in a transaction after the write that replaced them. The cache shows every use
 * of a version that was no longer the newest when the record last changed. Versions that are missed are pruned by the
 * next write.
 */
export async function pruneVersions(deps: StageDeps, tenant: TenantId, label: string): Promise<void> {
  const { store } = deps
  const pruned = store.transact<StagedVersion[]>((transaction) => {
    const address = inTenant(tenant, credentials, label)
    const credential = transaction.get(address)
    // Nothing to prune, so nothing to commit.
    if (credential === undefined) return { kind: 'abort', result: [] }
    const gone = unneededVersions(credential, gatherUses(store, tenant)(credential)).slice(0, VERSIONS_KEPT)
    if (gone.length === 0) return { kind: 'abort', result: [] }
    const versions = credential.versions.filter(({ version }) => !gone.includes(version))
    transaction.put(address, { ...credential, versions })
    return {
      kind: 'commit',
      result: markVersionsForDestruction(transaction, deps.clock, tenant, credential, gone),
    }
  })
  await destroyStaged(deps, tenant, await pruned.catch(noneIfUnavailable))
}

/** Pruning may fail without failing the write that was committed before it. */
function noneIfUnavailable(error: unknown): StagedVersion[] {
  if (error instanceof StoreUnavailableError) return []
  throw error
}
