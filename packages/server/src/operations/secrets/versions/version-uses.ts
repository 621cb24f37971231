// Finds which workloads use which versions of a credential: deployments and jobs through their pins, and all owners through the
// container templates of their placements, which replicas run or a rollback would restore.

import { isFinalPhase, ownerOf, type TenantId } from '@holdfast/contract'
import { isActiveCanary, pinOf } from '@holdfast/core'
import { canarySpec } from '../../../scheduling/canary-spec.ts'
import { canaryPins } from '../../../scheduling/canary-target.ts'
import { countedName } from '../../../scheduling/scheduling-facts.ts'
import { deployments, jobs, placements, type StoredCredential } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'

/** Sorted names of the workloads that use each version, by version number. */
export type VersionUses = ReadonlyMap<number, readonly string[]>
type CredentialKey = Pick<StoredCredential, 'namespace' | 'label' | 'initial'>

interface Use {
  readonly user: string
  /** The version in use; null means the credential's initial version. */
  readonly version: number | null
}

export const pathOf = ({ namespace, label }: Pick<CredentialKey, 'namespace' | 'label'>): string =>
  `${namespace}/${label}`

/**
 * Finds all uses of secret versions in a tenant from the cache. A use that the cache does not show yet can only be of the
 * newest version or of a rotation's versions, because a transaction that pins a version compares the credential's record.
 */
export function gatherUses(
  store: Pick<Store, 'list'>,
  tenant: TenantId,
): (credential: CredentialKey) => VersionUses {
  const uses = new Map<string, Use[]>()
  const add = (path: string, use: Use): void => {
    const known = uses.get(path)
    if (known === undefined) uses.set(path, [use])
    else known.push(use)
  }
  for (const { record } of store.list(deployments, tenant)) {
    const { spec, pins, canary } = record
    for (const { vault_path } of spec.secrets)
      add(vault_path, { user: spec.name, version: pinOf(pins, vault_path) })
    if (canary === undefined || !isActiveCanary(canary)) continue
    for (const { vault_path } of canarySpec(record, canary).secrets)
      add(vault_path, { user: spec.name, version: pinOf(canaryPins(record, canary), vault_path) })
  }
  for (const { record } of store.list(jobs, tenant)) {
    if (isFinalPhase(record.phase)) continue
    for (const { vault_path } of record.spec.secrets)
      add(vault_path, { user: ownerOf('job', record.id), version: pinOf(record.pins, vault_path) })
  }
  for (const { record } of store.list(placements, tenant)) {
    const user = countedName(record)
    for (const { secrets = [] } of Object.values(record.templates))
      for (const used of secrets) add(pathOf(used), { user, version: used.version })
  }
  return (credential) => byVersion(uses.get(pathOf(credential)) ?? [], credential.initial)
}

function byVersion(uses: readonly Use[], initial: number | null): VersionUses {
  const names = new Map<number, Set<string>>()
  for (const { user, version } of uses) {
    const used = version ?? initial
    if (used === null) continue
    names.set(used, (names.get(used) ?? new Set()).add(user))
  }
  return new Map([...names].map(([version, users]) => [version, [...users].sort()]))
}

const NAMED = 20

/** Some names for a message; GET /secrets/resources/{name}/consumers returns the full list. */
export function nameUsers(users: readonly string[]): string {
  const more = users.length - NAMED
  return more <= 0 ? users.join(', ') : `${users.slice(0, NAMED).join(', ')} and ${more} more`
}
