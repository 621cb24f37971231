// Sets the store up for the platform, with a privileged identity: policies, the token role and the two AppRoles.
// SAFETY 4a "OpenBao layout". May be repeated: it overwrites what it wrote before and leaves everything else alone.

import { type Secret, secret } from '../../ports/secret.ts'
import type { Denied, Unavailable } from '../../ports/secrets-store.ts'
import { API_IDENTITY, apiPolicy, BROKER_IDENTITY, BROKER_POLICY_PREFIX, brokerPolicy } from './policies.ts'
import type { SecretsStoreClient } from './secrets-store-client.ts'
import { type CallOutcome, member, unavailable } from './store-call.ts'

export interface Identity {
  readonly roleId: string
  /** Fresh at every call; earlier ones stay valid, so that servers that run with them are not cut off. */
  readonly secretId: Secret
}
export interface PlatformIdentities {
  readonly kind: 'ok'
  readonly api: Identity
  readonly broker: Identity
}

type Failure = Denied | Unavailable
/** One write after another; the first that fails ends the row. */
type Write = (path: string, body: unknown) => Promise<CallOutcome>

const CHILD_SECONDS = 300

export async function provisionPlatform(
  privileged: SecretsStoreClient,
  { namespaces }: { readonly namespaces: readonly string[] },
): Promise<PlatformIdentities | Failure> {
  const signal = privileged.deadline()
  const write: Write = (path, body) =>
    privileged.call({ method: 'POST', path, body: JSON.stringify(body), signal })
  const ready = await requireAppRole(privileged, write, signal)
  if (ready !== undefined) return ready
  for (const [path, body] of platformWrites(namespaces)) {
    const answer = await write(path, body)
    if (answer.kind !== 'ok') return failure(answer)
  }
  const api = await issueIdentity(privileged, write, API_IDENTITY, signal)
  if ('kind' in api) return api
  const broker = await issueIdentity(privileged, write, BROKER_IDENTITY, signal)
  return 'kind' in broker ? broker : { kind: 'ok', api, broker }
}

function platformWrites(namespaces: readonly string[]): readonly (readonly [string, unknown])[] {
  return [
    [`sys/policies/acl/${API_IDENTITY}`, { policy: apiPolicy(namespaces) }],
    [`sys/policies/acl/${BROKER_IDENTITY}`, { policy: brokerPolicy() }],
    [
      `auth/token/roles/${BROKER_IDENTITY}`,
      {
        allowed_policies_glob: [`${BROKER_POLICY_PREFIX}*`],
        token_no_default_policy: true,
        token_explicit_max_ttl: CHILD_SECONDS,
        renewable: false,
        orphan: false,
      },
    ],
    [`auth/approle/role/${API_IDENTITY}`, roleOf(API_IDENTITY)],
    [`auth/approle/role/${BROKER_IDENTITY}`, roleOf(BROKER_IDENTITY)],
  ]
}

function roleOf(policy: string) {
  return {
    token_policies: [policy],
    token_no_default_policy: true,
    token_ttl: '1h',
    token_max_ttl: '24h',
    token_type: 'service',
  }
}

/** A second enabling is refused; whether that is the reason, the list of methods says. */
async function requireAppRole(
  client: SecretsStoreClient,
  write: Write,
  signal: AbortSignal,
): Promise<Failure | undefined> {
  const enabled = await write('sys/auth/approle', { type: 'approle' })
  if (enabled.kind === 'ok') return undefined
  if (enabled.kind !== 'refused') return failure(enabled)
  const listed = await client.call({ method: 'GET', path: 'sys/auth', signal })
  if (listed.kind !== 'ok') return failure(listed)
  const type = member(listed.body, 'data', 'approle/', 'type')
  return type === 'approle' ? undefined : unavailable('answer_invalid', 'no')
}

async function issueIdentity(
  client: SecretsStoreClient,
  write: Write,
  name: string,
  signal: AbortSignal,
): Promise<Identity | Failure> {
  const path = `auth/approle/role/${name}`
  const role = await client.call({ method: 'GET', path: `${path}/role-id`, signal })
  if (role.kind !== 'ok') return failure(role)
  const issued = await write(`${path}/secret-id`, {})
  if (issued.kind !== 'ok') return failure(issued)
  const roleId = member(role.body, 'data', 'role_id')
  const secretId = member(issued.body, 'data', 'secret_id')
  if (typeof roleId !== 'string' || typeof secretId !== 'string')
    return unavailable('answer_invalid', 'unknown')
  return { roleId, secretId: secret(secretId) }
}

function failure(answer: Exclude<CallOutcome, { kind: 'ok' }>): Failure {
  if (answer.kind === 'unavailable' || answer.kind === 'denied') return answer
  return unavailable('answer_invalid', 'no')
}
