// The end of a version that was listed: an intent that says so is written in the transaction after which nobody can use it.
// Then the store is asked to destroy it, and then the intent goes (destroyStaged); whoever dies in between leaves the rest to
// the janitor. SAFETY 4a, step 6.

import type { TenantId } from '@holdfast/contract'
import { type Clock, timestamp } from '../../../ports/clock.ts'
import type { SecretPath } from '../../../ports/secrets-store.ts'
import { intents } from '../../../store/records.ts'
import { globally, type Transaction } from '../../../store/transaction.ts'
import { destructionIdOf, intentOf } from './retire-version-number.ts'
import type { StagedVersion } from './stage-version.ts'

export function markVersionsForDestruction(
  transaction: Transaction,
  clock: Clock,
  tenant: TenantId,
  of: SecretPath,
  versions: readonly number[],
): StagedVersion[] {
  const path = 'registryHost' in of ? of : { namespace: of.namespace, label: of.label }
  const createdAt = timestamp(clock)
  return versions.map((version) => {
    const intent = destructionIdOf(tenant, path, version)
    transaction.put(globally(intents, intent), {
      ...intentOf(tenant, path, version),
      createdAt,
      pendingDestruction: true,
    })
    return { path, version, intent }
  })
}
