// Secret ids of an AppRole: issued, looked up, tried and destroyed with an identity that holds the value of each secret id.

import { type Secret, secret } from '../../ports/secret.ts'
import type { IssuedSecretId, SecretIdFacts, SecretIdLookUp, SecretIdOwner } from '../../ports/secret-ids.ts'
import type { Denied, Done, Unavailable } from '../../ports/secrets-store.ts'
import type { SecretsStoreClient } from './secrets-store-client.ts'
import { type CallOutcome, member, unavailable } from './store-call.ts'

type Failure = Denied | Unavailable
const OWNER = 'holdfast_owner'
const pathOf = (role: string): string => `auth/approle/role/${role}/secret-id`

/** The lifetime is that of the role. A secret id whose issue has an unknown outcome is held by no process, and expires. */
export async function issueSecretId(
  client: SecretsStoreClient,
  role: string,
  owner: SecretIdOwner,
  signal: AbortSignal,
): Promise<IssuedSecretId | Failure> {
  const body = JSON.stringify({ metadata: JSON.stringify({ [OWNER]: owner }) })
  const answer = await client.call({ method: 'POST', path: pathOf(role), body, signal })
  if (answer.kind !== 'ok') return failure(answer)
  const secretId = member(answer.body, 'data', 'secret_id')
  if (typeof secretId !== 'string') return unavailable('answer_invalid', 'unknown')
  return { kind: 'issued', secretId: secret(secretId) }
}

export async function lookUpSecretId(
  client: SecretsStoreClient,
  role: string,
  secretId: Secret,
  signal: AbortSignal,
): Promise<SecretIdLookUp> {
  const answer = await client.call({ ...withValue(`${pathOf(role)}/lookup`, secretId), signal })
  if (answer.kind === 'absent') return answer
  if (answer.kind !== 'ok') return failure(answer)
  // Vault answers 204 for a secret id that it does not know.
  return answer.body === undefined ? { kind: 'absent' } : factsOf(answer.body)
}

/** Destroys a secret id. After an unknown outcome the secret id is looked up, so `ok` means that it is gone. */
export async function destroySecretId(
  client: SecretsStoreClient,
  role: string,
  secretId: Secret,
  signal: AbortSignal,
): Promise<Done | Failure> {
  const answer = await client.call({ ...withValue(`${pathOf(role)}/destroy`, secretId), signal })
  if (answer.kind === 'denied') return answer
  const left = await lookUpSecretId(client, role, secretId, signal)
  if (left.kind === 'absent') return { kind: 'ok' }
  return left.kind === 'found' ? unavailable('answer_invalid', 'no') : left
}

export function failure(answer: Exclude<CallOutcome, { kind: 'ok' }>): Failure {
  if (answer.kind === 'unavailable' || answer.kind === 'denied') return answer
  return unavailable('answer_invalid', 'no')
}

const withValue = (path: string, secretId: Secret) =>
  ({ method: 'POST', path, body: JSON.stringify({ secret_id: secretId.reveal() }) }) as const

function factsOf(body: unknown): SecretIdFacts | Unavailable {
  const created = member(body, 'data', 'creation_time')
  const expires = member(body, 'data', 'expiration_time')
  const owner = member(body, 'data', 'metadata', OWNER) === 'process' ? 'process' : 'operator'
  const [createdAtMs, endMs] = [Date.parse(String(created)), Date.parse(String(expires))]
  if (Number.isNaN(createdAtMs) || Number.isNaN(endMs)) return unavailable('answer_invalid', 'no')
  // An unlimited secret id expires in the year 1.
  return { kind: 'found', createdAtMs, expiresAtMs: endMs <= 0 ? undefined : endMs, owner }
}
