// Which versions of a credential somebody may still need, and who: deployments by their pins, and their placements by the
// templates that replicas are made of or would go back to. DECISIONS 5.

import type { TenantId } from '@holdfast/contract'
import { pinOf } from '@holdfast/core'
import { deployments, placements, type StoredCredential } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'

/** By version: names of deployments, sorted. */
export type VersionUses = ReadonlyMap<number, readonly string[]>
type Bound = Pick<StoredCredential, 'namespace' | 'label' | 'initial'>

interface Use {
  readonly deployment: string
  /** Null: the credential's initial one. */
  readonly version: number | null
}

export const pathOf = ({ namespace, label }: Pick<Bound, 'namespace' | 'label'>): string =>
  `${namespace}/${label}`

/**
 * From the cache as it is, of the whole tenant at once. A use that it does not show yet is of the newest version that the
 * credential had before its record last changed, or of one of its rotation: whoever pins compares that record.
 */
export function gatherUses(store: Pick<Store, 'list'>, tenant: TenantId): (credential: Bound) => VersionUses {
  const uses = new Map<string, Use[]>()
  const note = (path: string, use: Use): void => {
    const known = uses.get(path)
    if (known === undefined) uses.set(path, [use])
    else known.push(use)
  }
  for (const { record } of store.list(deployments, tenant)) {
    for (const { vault_path } of record.spec.secrets)
      note(vault_path, { deployment: record.spec.name, version: pinOf(record.pins, vault_path) })
  }
  for (const { record } of store.list(placements, tenant)) {
    for (const { secrets = [] } of Object.values(record.templates))
      for (const used of secrets) note(pathOf(used), { deployment: record.name, version: used.version })
  }
  return (credential) => byVersion(uses.get(pathOf(credential)) ?? [], credential.initial)
}

function byVersion(uses: readonly Use[], initial: number | null): VersionUses {
  const names = new Map<number, Set<string>>()
  for (const { deployment, version } of uses) {
    const used = version ?? initial
    if (used === null) continue
    names.set(used, (names.get(used) ?? new Set()).add(deployment))
  }
  return new Map([...names].map(([version, users]) => [version, [...users].sort()]))
}

const NAMED = 20

/** For a sentence; the list itself is GET /secrets/resources/{name}/consumers. */
export function nameUsers(users: readonly string[]): string {
  const more = users.length - NAMED
  return more <= 0 ? users.join(', ') : `${users.slice(0, NAMED).join(', ')} and ${more} more`
}
