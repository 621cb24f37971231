// Sets up the secrets store for the platform with a privileged identity: policies, the token role and the two AppRoles.
// Idempotent: the setup overwrites its own objects and changes nothing else.

import type { Secret } from '../../ports/secret.ts'
import type { SecretIdOwner } from '../../ports/secret-ids.ts'
import type { Denied, Unavailable } from '../../ports/secrets-store.ts'
import { API_IDENTITY, apiPolicy, BROKER_IDENTITY, BROKER_POLICY_PREFIX, brokerPolicy } from './policies.ts'
import { failure, issueSecretId } from './secret-ids.ts'
import type { SecretsStoreClient } from './secrets-store-client.ts'
import { type CallOutcome, member, unavailable } from './store-call.ts'

export interface Identity {
  readonly roleId: string
  /** AppRole secret id, new at every call. Earlier secret ids stay valid, so that running servers keep access. */
  readonly secretId: Secret
}
export interface PlatformIdentities {
  readonly kind: 'ok'
  readonly api: Identity
  readonly broker: Identity
}

type Failure = Denied | Unavailable
/** Writes one object to the secrets store. Writes are sequential; the first failure ends the setup. */
type Write = (path: string, body: unknown) => Promise<CallOutcome>

const CHILD_SECONDS = 300
/** Lifetime of a secret id, unless the configuration has another one. */
export const SECRET_ID_DAYS = 90

export interface PlatformSetUpOptions {
  readonly namespaces: readonly string[]
  readonly secretIdDays?: number
}

/** Result of the setup; `done` has one line for each object that was created or overwritten. */
export interface PlatformSetUp {
  readonly kind: 'ok'
  readonly done: readonly string[]
}

export type IdentityName = 'api' | 'broker'

export async function provisionPlatform(
  privileged: SecretsStoreClient,
  options: PlatformSetUpOptions,
): Promise<PlatformIdentities | Failure> {
  const ready = await setUpPlatform(privileged, options)
  if (ready.kind !== 'ok') return ready
  const api = await issueIdentity(privileged, 'api')
  if ('kind' in api) return api
  const broker = await issueIdentity(privileged, 'broker')
  return 'kind' in broker ? broker : { kind: 'ok', api, broker }
}

export const setUpPlatform = (privileged: SecretsStoreClient, options: PlatformSetUpOptions) =>
  privileged.within((signal) => setUp(privileged, options, signal))

async function setUp(
  privileged: SecretsStoreClient,
  options: PlatformSetUpOptions,
  signal: AbortSignal,
): Promise<PlatformSetUp | Failure> {
  const write: Write = (path, body) =>
    privileged.call({ method: 'POST', path, body: JSON.stringify(body), signal })
  const ready = await requireAppRole(privileged, write, signal, lifetimeOf(options))
  if (ready !== undefined) return ready
  const done = ['auth method approle: enabled']
  for (const [what, path, body] of platformWrites(options)) {
    const answer = await write(path, body)
    if (answer.kind !== 'ok') return failure(answer)
    done.push(what)
  }
  return { kind: 'ok', done }
}

const lifetimeOf = ({ secretIdDays = SECRET_ID_DAYS }: PlatformSetUpOptions): string =>
  `${secretIdDays * 24}h`

function platformWrites(options: PlatformSetUpOptions): readonly (readonly [string, string, unknown])[] {
  const { namespaces, secretIdDays = SECRET_ID_DAYS } = options
  const lifetime = lifetimeOf(options)
  const children = {
    allowed_policies_glob: [`${BROKER_POLICY_PREFIX}*`],
    token_no_default_policy: true,
    token_explicit_max_ttl: CHILD_SECONDS,
    renewable: false,
    orphan: false,
  }
  return [
    [
      `policy ${API_IDENTITY}: writes and destroys, reads no secret`,
      `sys/policies/acl/${API_IDENTITY}`,
      { policy: apiPolicy(namespaces) },
    ],
    [
      `policy ${BROKER_IDENTITY}: creates tokens that read one tenant for five minutes`,
      `sys/policies/acl/${BROKER_IDENTITY}`,
      { policy: brokerPolicy() },
    ],
    [`token role ${BROKER_IDENTITY}: limits those tokens`, `auth/token/roles/${BROKER_IDENTITY}`, children],
    ...[API_IDENTITY, BROKER_IDENTITY].map(
      (role) =>
        [
          `AppRole ${role}: secret ids end after at most ${secretIdDays} days`,
          `auth/approle/role/${role}`,
          roleOf(role, lifetime),
        ] as const,
    ),
  ]
}

function roleOf(policy: string, lifetime: string) {
  return {
    secret_id_ttl: lifetime,
    token_policies: [policy],
    token_no_default_policy: true,
    token_ttl: '1h',
    token_max_ttl: '24h',
    token_type: 'service',
  }
}

/** The store refuses to enable AppRole twice, so after a refusal the setup checks whether AppRole is already enabled. */
async function requireAppRole(
  client: SecretsStoreClient,
  write: Write,
  signal: AbortSignal,
  lifetime: string,
): Promise<Failure | undefined> {
  // The maximum of the auth method, by default 32 days, also limits secret ids. An existing method may be that of others.
  const config = { max_lease_ttl: lifetime }
  const enabled = await write('sys/auth/approle', { type: 'approle', config })
  if (enabled.kind === 'ok') return undefined
  if (enabled.kind !== 'refused') return failure(enabled)
  const listed = await client.call({ method: 'GET', path: 'sys/auth', signal })
  if (listed.kind !== 'ok') return failure(listed)
  const type = member(listed.body, 'data', 'approle/', 'type')
  return type === 'approle' ? undefined : unavailable('answer_invalid', 'no')
}

export const roleOfIdentity = (which: IdentityName): string =>
  which === 'api' ? API_IDENTITY : BROKER_IDENTITY

/** `owner` as in `issueSecretId`. */
export const issueIdentity = (
  privileged: SecretsStoreClient,
  which: IdentityName,
  owner: SecretIdOwner = 'operator',
) => privileged.within((signal) => issue(privileged, which, owner, signal))

async function issue(
  privileged: SecretsStoreClient,
  which: IdentityName,
  owner: SecretIdOwner,
  signal: AbortSignal,
): Promise<Identity | Failure> {
  const path = `auth/approle/role/${roleOfIdentity(which)}/role-id`
  const role = await privileged.call({ method: 'GET', path, signal })
  if (role.kind !== 'ok') return failure(role)
  const issued = await issueSecretId(privileged, roleOfIdentity(which), owner, signal)
  if (issued.kind !== 'issued') return issued
  const roleId = member(role.body, 'data', 'role_id')
  if (typeof roleId !== 'string') return unavailable('answer_invalid', 'unknown')
  return { roleId, secretId: issued.secretId }
}
