// Creates a tenant's mount in the secrets store, the mount's settings, and the policy by which the broker reads the
// mount. Each step accepts that an earlier or concurrent call has already done the same.

import type { TenantId } from '@holdfast/contract'
import { sleep } from '../../lib/sleep.ts'
import type { Denied, Done, Unavailable } from '../../ports/secrets-store.ts'
import { tenantPolicy, tenantPolicyName } from './policies.ts'
import { mountOf } from './secret-path.ts'
import type { SecretsStoreClient } from './secrets-store-client.ts'
import { type CallOutcome, member, unavailable } from './store-call.ts'

const MOUNT = JSON.stringify({ type: 'kv', options: { version: '2' } })
/** Settings of a mount. The store never drops a version in use: operations/secrets rejects writes before the limit. */
const SETTINGS = JSON.stringify({ max_versions: 1000, cas_required: true })
const RETRY_MS = 25

type Outcome = Done | Denied | Unavailable

export async function provisionTenant(
  client: SecretsStoreClient,
  tenant: TenantId,
  granted: readonly string[],
  signal: AbortSignal,
): Promise<Outcome> {
  const mount = mountOf(tenant)
  if (mount === undefined) return { kind: 'denied' }
  const mounted = await ensureMount(client, mount, signal)
  if (mounted.kind !== 'ok') return mounted
  const settled = await ensureSettings(client, mount, signal)
  if (settled.kind !== 'ok') return settled
  const path = `sys/policies/acl/${tenantPolicyName(tenant)}`
  const body = JSON.stringify({ policy: tenantPolicy(tenant, granted) })
  return outcome(await client.call({ method: 'POST', path, body, signal }))
}

/** Creates the mount. If the store reports that the mount exists, the type of the existing mount is checked. */
async function ensureMount(client: SecretsStoreClient, mount: string, signal: AbortSignal): Promise<Outcome> {
  const path = `sys/mounts/${mount}`
  const created = await client.call({ method: 'POST', path, body: MOUNT, signal })
  if (created.kind !== 'refused') return outcome(created)
  const found = await client.call({ method: 'GET', path, signal })
  if (found.kind !== 'ok') return outcome(found)
  const [type, version] = [
    member(found.body, 'data', 'type'),
    member(found.body, 'data', 'options', 'version'),
  ]
  return type === 'kv' && version === '2' ? { kind: 'ok' } : unavailable('answer_invalid', 'no')
}

/** Writes the mount's settings. A new mount rejects calls for a moment, so the write is retried until the deadline. */
async function ensureSettings(
  client: SecretsStoreClient,
  mount: string,
  signal: AbortSignal,
): Promise<Outcome> {
  for (;;) {
    const answer = await client.call({ method: 'POST', path: `${mount}/config`, body: SETTINGS, signal })
    if (answer.kind !== 'refused') return outcome(answer)
    await sleep(RETRY_MS)
    if (signal.aborted) return unavailable('timeout', 'no')
  }
}

/** Removes the mount with every secret of the tenant. A repeated call does no harm. */
export async function removeTenant(
  client: SecretsStoreClient,
  tenant: TenantId,
  signal: AbortSignal,
): Promise<Outcome> {
  const mount = mountOf(tenant)
  if (mount === undefined) return { kind: 'denied' }
  const unmounted = await client.call({ method: 'DELETE', path: `sys/mounts/${mount}`, signal })
  if (unmounted.kind !== 'ok' && unmounted.kind !== 'absent') return outcome(unmounted)
  const path = `sys/policies/acl/${tenantPolicyName(tenant)}`
  return outcome(await client.call({ method: 'DELETE', path, signal }))
}

function outcome(answer: CallOutcome): Outcome {
  if (answer.kind === 'ok') return { kind: 'ok' }
  if (answer.kind === 'denied' || answer.kind === 'unavailable') return answer
  return unavailable('answer_invalid', 'no')
}
