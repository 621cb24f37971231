// Sets up the secrets store for the platform with a privileged identity: policies, the token role and the two AppRoles.
// Idempotent: the setup overwrites its own objects and changes nothing else.

import { type Secret, secret } from '../../ports/secret.ts'
import type { Denied, Unavailable } from '../../ports/secrets-store.ts'
import { API_IDENTITY, apiPolicy, BROKER_IDENTITY, BROKER_POLICY_PREFIX, brokerPolicy } from './policies.ts'
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

/** Result of the setup; `done` has one line for each object that was created or overwritten. */
export interface PlatformSetUp {
  readonly kind: 'ok'
  readonly done: readonly string[]
}

export type IdentityName = 'api' | 'broker'

export async function provisionPlatform(
  privileged: SecretsStoreClient,
  { namespaces }: { readonly namespaces: readonly string[] },
): Promise<PlatformIdentities | Failure> {
  const ready = await setUpPlatform(privileged, namespaces)
  if (ready.kind !== 'ok') return ready
  const api = await issueIdentity(privileged, 'api')
  if ('kind' in api) return api
  const broker = await issueIdentity(privileged, 'broker')
  return 'kind' in broker ? broker : { kind: 'ok', api, broker }
}

export const setUpPlatform = (privileged: SecretsStoreClient, namespaces: readonly string[]) =>
  privileged.within((signal) => setUp(privileged, namespaces, signal))

async function setUp(
  privileged: SecretsStoreClient,
  namespaces: readonly string[],
  signal: AbortSignal,
): Promise<PlatformSetUp | Failure> {
  const write: Write = (path, body) =>
    privileged.call({ method: 'POST', path, body: JSON.stringify(body), signal })
  const ready = await requireAppRole(privileged, write, signal)
  if (ready !== undefined) return ready
  const done = ['auth method approle: enabled']
  for (const [what, path, body] of platformWrites(namespaces)) {
    const answer = await write(path, body)
    if (answer.kind !== 'ok') return failure(answer)
    done.push(what)
  }
  return { kind: 'ok', done }
}

function platformWrites(namespaces: readonly string[]): readonly (readonly [string, string, unknown])[] {
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
    [`AppRole ${API_IDENTITY}`, `auth/approle/role/${API_IDENTITY}`, roleOf(API_IDENTITY)],
    [`AppRole ${BROKER_IDENTITY}`, `auth/approle/role/${BROKER_IDENTITY}`, roleOf(BROKER_IDENTITY)],
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

/** The store refuses to enable AppRole twice, so after a refusal the setup checks whether AppRole is already enabled. */
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

export const issueIdentity = (privileged: SecretsStoreClient, which: IdentityName) =>
  privileged.within((signal) => issue(privileged, which, signal))

async function issue(
  privileged: SecretsStoreClient,
  which: IdentityName,
  signal: AbortSignal,
): Promise<Identity | Failure> {
  const path = `auth/approle/role/${which === 'api' ? API_IDENTITY : BROKER_IDENTITY}`
  const role = await privileged.call({ method: 'GET', path: `${path}/role-id`, signal })
  if (role.kind !== 'ok') return failure(role)
  const issued = await privileged.call({ method: 'POST', path: `${path}/secret-id`, body: '{}', signal })
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
