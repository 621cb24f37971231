// Decides which versions of a credential are kept. Each write adds a version, so unused versions are destroyed, and a
// write that would make the secrets store drop a version in use is rejected.

import type { Rejection, TenantId } from '@holdfast/contract'
import { newestUsable, reject } from '@holdfast/core'
import { backups, credentials, type StoredCredential } from '../../../store/records.ts'
import { type Store, StoreUnavailableError } from '../../../store/store.ts'
import { inTenant } from '../../../store/transaction.ts'
import { destroyStaged, markVersionsForDestruction } from './destroy-versions.ts'
import type { StagedVersion } from './intents.ts'
import type { StageDeps } from './stage-version.ts'
import { gatherUses, nameUsers, type VersionUses } from './version-uses.ts'

/**
 * The most version numbers between the oldest version in use and the newest. The secrets store keeps the last 1,000
 * versions of a path; a hundred of those are reserved for versions that were written but never pinned.
 */
const NUMBERS_KEPT = 900
/** The most versions of a credential: deleting a credential marks all of them in one transaction of 120 operations. */
export const VERSIONS_KEPT = 100

type VersionsAndRotation = Pick<StoredCredential, 'versions' | 'rotation'>

/** The version to which a new deployment is pinned; undefined while the credential has none. */
export function newestUnstaged({ versions, rotation }: VersionsAndRotation): number | undefined {
  return newestUsable(versions, rotation?.new)?.version
}

/**
 * The most versions of a credential that are kept for backups only, the newest ones: deleting the credential marks them in
 * the same transaction as the versions in use.
 */
const BACKED_UP_VERSIONS = 10

/** Versions that the data on volumes of deployments with a backup depends on. A restore pins them again. */
function backedUpVersions(store: Pick<Store, 'list'>, tenant: TenantId, label: string): number[] {
  const versions = store.list(backups, tenant).flatMap(({ record: { anchored = {} } }) => {
    const version = Object.hasOwn(anchored, label) ? anchored[label] : undefined
    return version === undefined ? [] : [version]
  })
  return [...new Set(versions)].sort((left, right) => left - right).slice(-BACKED_UP_VERSIONS)
}

/** Versions that may be destroyed: not the newest one, not part of a rotation, not in use, not `kept` for a backup. */
export function unneededVersions(
  credential: VersionsAndRotation,
  uses: VersionUses,
  kept: readonly number[] = [],
): number[] {
  const { versions, rotation } = credential
  const needed = new Set([newestUnstaged(credential), rotation?.old, rotation?.new, ...uses.keys(), ...kept])
  return versions.map(({ version }) => version).filter((version) => !needed.has(version))
}

/** Rejects another version of this credential if the secrets store would then drop a version that is in use. */
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
 * Destroys unused versions, in a transaction after the write that replaced them. The cache shows every use of a version
 * that was no longer the newest when the record last changed. Versions that are missed are pruned after the next write.
 */
export async function pruneVersions(deps: StageDeps, tenant: TenantId, label: string): Promise<void> {
  const { store } = deps
  const pruned = store.transact<StagedVersion[]>((transaction) => {
    const address = inTenant(tenant, credentials, label)
    const credential = transaction.get(address)
    // A credential that no longer exists has no versions to prune.
    if (credential === undefined) return { kind: 'abort', result: [] }
    const kept = backedUpVersions(store, tenant, label)
    const uses = gatherUses(store, tenant)(credential)
    const gone = unneededVersions(credential, uses, kept).slice(0, VERSIONS_KEPT)
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

/** Ignores a failure of pruning, because the write before it was already committed. */
function noneIfUnavailable(error: unknown): StagedVersion[] {
  if (error instanceof StoreUnavailableError) return []
  throw error
}
