// Checks that an identity of the secrets store can log in and has its policy. The token of the check is revoked afterwards.

import type { TenantId } from '@holdfast/contract'
import type { Unavailable } from '../../ports/secrets-store.ts'
import { BROKER_IDENTITY, tenantPolicyName } from './policies.ts'
import type { IdentityName } from './provision-platform.ts'
import { mountOf } from './secret-path.ts'
import type { SecretsStoreClient } from './secrets-store-client.ts'
import { type CallOutcome, type StoreCall, unavailable } from './store-call.ts'

/** `denied`: the policy does not allow what the identity needs. */
export type IdentityProbed = { readonly kind: 'works' | 'denied' } | Unavailable

export function probeIdentity(
  client: SecretsStoreClient,
  name: IdentityName,
  tenant: TenantId,
): Promise<IdentityProbed> {
  return client.within(async (signal) => {
    const answer = await client.call({ ...callOf(name, tenant), signal })
    if (answer.kind === 'ok' || answer.kind === 'denied')
      await client.call({ method: 'POST', path: 'auth/token/revoke-self', signal })
    return explainAnswer(answer)
  })
}

/** A call that only the identity's policy allows, and that changes nothing beyond a token that is revoked with its parent. */
function callOf(name: IdentityName, tenant: TenantId): Omit<StoreCall, 'signal'> {
  if (name === 'api') return { method: 'GET', path: `sys/mounts/${mountOf(tenant)}` }
  const body = JSON.stringify({ policies: [tenantPolicyName(tenant)], ttl: '1m' })
  return { method: 'POST', path: `auth/token/create/${BROKER_IDENTITY}`, body }
}

function explainAnswer(answer: CallOutcome): IdentityProbed {
  if (answer.kind === 'ok') return { kind: 'works' }
  if (answer.kind === 'denied' || answer.kind === 'unavailable') return answer
  return unavailable('answer_invalid', 'no')
}
