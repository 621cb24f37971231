// Which versions of a credential are kept. A write makes a new one, so those that nobody needs any more go; and a write that
// would make the store forget one that somebody needs is refused. DECISIONS 5.

import type { Rejection, TenantId } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import { credentials, type StoredCredential } from '../../../store/records.ts'
import { StoreUnavailableError } from '../../../store/store.ts'
import { inTenant } from '../../../store/transaction.ts'
import { destroyStaged } from './destroy-staged.ts'
import { markVersionsForDestruction } from './mark-for-destruction.ts'
import type { StageDeps, StagedVersion } from './stage-version.ts'
import { gatherUses, nameUsers, type VersionUses } from './version-uses.ts'

/**
 * The store keeps a thousand numbers of a path and then forgets the oldest. The last hundred of them are for versions that
 * were staged and never listed.
 */
const NUMBERS_KEPT = 900
/** Deleting the credential dooms all of them in one transaction, which holds 120 operations (SAFETY 4a). */
export const VERSIONS_KEPT = 100

type Kept = Pick<StoredCredential, 'versions' | 'rotation'>

/** What a deployment is pinned to that is admitted now; undefined while there is none. */
export function newestUnstaged({ versions, rotation }: Kept): number | undefined {
  return versions.findLast(({ version }) => version !== rotation?.new)?.version
}

/** Versions that nobody needs: not the newest one, not of the rotation, and in no use. */
export function unneededVersions(credential: Kept, uses: VersionUses): number[] {
  const { versions, rotation } = credential
  const needed = new Set([newestUnstaged(credential), rotation?.old, rotation?.new, ...uses.keys()])
  return versions.map(({ version }) => version).filter((version) => !needed.has(version))
}

/** Whether one more version of this credential leaves every other one that is in use where it is. */
export function checkVersionRoom(credential: Kept, uses: VersionUses): Rejection | undefined {
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
 * After a write, in a transaction of its own: only a version that was the newest one no longer when the record last changed
 * is surely pinned by nobody but those whom the cache shows. What is left undone, the next write does.
 */
export async function pruneVersions(deps: StageDeps, tenant: TenantId, label: string): Promise<void> {
  const { store } = deps
  const pruned = store.transact<StagedVersion[]>((transaction) => {
    const address = inTenant(tenant, credentials, label)
    const credential = transaction.get(address)
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
  const pendingDestruction = await pruned.catch(noneWhileAway)
  await destroyStaged(deps, tenant, pendingDestruction)
}

/** The write itself stands. */
function noneWhileAway(error: unknown): StagedVersion[] {
  if (error instanceof StoreUnavailableError) return []
  throw error
}
