// Version numbers that records name and the secrets store has lost, because it was restored to an older state. It would give them
// to other documents, and containers may be pinned to them (docs/design/restored-stores.md#secret-versions).

import type { TenantId } from '@holdfast/contract'
import type { SecretPath } from '../../../ports/secrets-store.ts'
import { credentials, registryCredentials } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { inTenant } from '../../../store/transaction.ts'
import type { DestroyDeps } from './destroy-versions.ts'

/** The highest number that records name at the path; 0 if they name none. */
export function newestNamed(store: Pick<Store, 'get'>, tenant: TenantId, path: SecretPath): number {
  if ('registryHost' in path)
    return store.get(inTenant(tenant, registryCredentials, path.registryHost))?.record.version ?? 0
  const found = store.get(inTenant(tenant, credentials, path.label))?.record
  if (found?.namespace !== path.namespace) return 0
  const { versions, rotation } = found
  const listed = versions.map(({ version }) => version)
  return Math.max(0, rotation?.old ?? 0, rotation?.new ?? 0, ...listed)
}

/**
 * Uses up the number after `newest` with an empty version, and destroys it. False if the secrets store is unavailable; after a
 * conflict another writer has used the number.
 */
export async function useUpNumber(
  secrets: DestroyDeps['secrets'],
  tenant: TenantId,
  path: SecretPath,
  newest: number,
): Promise<boolean> {
  const written = await secrets.writeVersion(tenant, path, new Map(), newest)
  if (written.kind === 'conflict') return true
  if (written.kind !== 'ok') return false
  return (await secrets.destroyVersion(tenant, path, newest + 1)).kind === 'ok'
}
