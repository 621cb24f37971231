// The janitor of half-finished writes to two stores (SAFETY 4a, step 6): an intent that nobody ended within a minute is
// deleted first, after which its write can no longer be pinned, and only then is its version destroyed.

import type { TenantId } from '@holdfast/contract'
import type { Clock } from '../ports/clock.ts'
import type { SecretPath, SecretsWriter } from '../ports/secrets-store.ts'
import { intents, registryCredentials } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { globally, inTenant } from '../store/transaction.ts'

export interface SweepDeps {
  readonly store: Store
  readonly clock: Clock
  readonly secrets: Pick<SecretsWriter, 'destroyVersion'>
}

const PATIENCE_MS = 60_000

interface Abandoned {
  readonly tenant: TenantId
  readonly path: SecretPath
  readonly version: number
}

export async function sweepIntents(deps: SweepDeps): Promise<void> {
  const old = deps.store
    .listWithIds(intents)
    .filter(({ record }) => Date.parse(record.createdAt) < deps.clock.now() - PATIENCE_MS)
  for (const { id } of old) {
    const abandoned = await endIntent(deps, id)
    if (abandoned !== undefined)
      await deps.secrets.destroyVersion(abandoned.tenant, abandoned.path, abandoned.version)
  }
}

/** Undefined where the version is in use after all: two writers may have wanted one number, and one of them won it. */
async function endIntent({ store }: SweepDeps, id: string): Promise<Abandoned | undefined> {
  return store.transact((transaction) => {
    const intent = transaction.get(globally(intents, id))
    if (intent === undefined) return { kind: 'refuse', result: undefined }
    transaction.delete(globally(intents, id))
    const { tenant, namespace, resource: label, version } = intent
    const registry = namespace === 'registries'
    const pinned = registry
      ? transaction.get(inTenant(tenant, registryCredentials, label))?.version
      : undefined
    const path = registry ? { registryHost: label } : { namespace, label }
    return { kind: 'commit', result: pinned === version ? undefined : { tenant, path, version } }
  })
}
