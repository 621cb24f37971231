// GET /deployments/{name}/secrets/rotation: shows the phase of each credential's rotation, the phases allowed next, and
// what those phases wait for.

import { type CredentialRotation, defined, type Rotation, type TenantId } from '@holdfast/contract'
import { blockers, credentialPath, hasProved, nextSteps } from '@holdfast/core'
import { credentials, type StoredCredential, type StoredDeployment } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { inTenant } from '../../../store/transaction.ts'
import { done, type Outcome } from '../../caller.ts'
import { findStored } from '../../deployments/read/find-deployment.ts'
import { newCredential } from '../versions/claim-credentials.ts'
import { type GatheredConsumer, gatherRotation } from './rotation-guards.ts'

export async function readRotation(store: Store, tenant: TenantId, path: string): Promise<Outcome<Rotation>> {
  await store.fresh()
  const found = findStored(store, tenant, path)
  return found.ok ? done(rotationView(store, tenant, found.value)) : found
}

/** Builds the view of a rotation; `changed` has the credentials, by label, that a transaction is about to write. */
export function rotationView(
  store: Pick<Store, 'get' | 'list'>,
  tenant: TenantId,
  stored: StoredDeployment,
  changed: ReadonlyMap<string, StoredCredential> = new Map(),
): Rotation {
  const { name, secretsVersion, secrets } = stored.spec
  const shown = secrets.map(({ name: secret, vault_path }): CredentialRotation => {
    const { namespace, label } = credentialPath(vault_path)
    const kept = changed.get(label) ?? store.get(inTenant(tenant, credentials, label))?.record
    const credential = kept ?? newCredential(namespace, label)
    return { secret, vault_path, ...credentialView(store, tenant, stored, credential) }
  })
  return { deployment: name, secretsVersion, credentials: shown }
}

function credentialView(
  store: Pick<Store, 'get' | 'list'>,
  tenant: TenantId,
  stored: StoredDeployment,
  credential: StoredCredential,
): Omit<CredentialRotation, 'secret' | 'vault_path'> {
  const facts = gatherRotation(store, tenant, credential, stored)
  const { rotation } = facts
  return {
    phase: rotation?.phase ?? 'idle',
    since: credential.rotation?.since ?? null,
    next: [...nextSteps(rotation)],
    versions: { old: rotation?.old ?? null, new: rotation?.new ?? null },
    consumers: facts.consumers.map((each) => ({
      ...shownConsumer(each),
      proved: rotation !== undefined && hasProved(each, rotation),
    })),
    blockedBy: blockers(facts),
  }
}

const shownConsumer = ({ name, pin, running, isCanary }: GatheredConsumer) => ({
  deployment: name,
  ...defined({ canary: isCanary }),
  pinned: pin,
  running: running.map((each) => ({ ...each })),
})
