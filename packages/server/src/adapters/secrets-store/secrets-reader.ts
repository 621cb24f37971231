// Reads secrets with the broker's identity: one version of one path, with a child token that can access only one tenant's
// mount. A child token lives 5 minutes and is used for at most 4 minutes.

import type { TenantId } from '@holdfast/contract'
import { type Secret, secret } from '../../ports/secret.ts'
import type {
  Absent,
  Denied,
  ReadVersion,
  SecretDocument,
  SecretPath,
  SecretsReader,
  Unavailable,
} from '../../ports/secrets-store.ts'
import { BROKER_IDENTITY, tenantPolicyName } from './policies.ts'
import { requireNamespaces, storePath } from './secret-path.ts'
import type { SecretsStoreClient } from './secrets-store-client.ts'
import { type CallOutcome, member, type StoreCall, unavailable, withinDeadline } from './store-call.ts'

const CHILD_USE_MS = 4 * 60_000
const CHILD_TTL = '5m'

interface Child {
  readonly kind: 'child'
  readonly token: Secret
  /** Number of the login whose token created the child token. The store revokes the child together with that token. */
  readonly login: number
}
type Minted = Child | Denied | Unavailable
type ReadResult = ReadVersion | Absent | Denied | Unavailable

export function createSecretsReader(options: {
  readonly client: SecretsStoreClient
  readonly namespaces: readonly string[]
}): SecretsReader {
  const { client } = options
  const granted = requireNamespaces(options.namespaces)
  const children = childTokens(client)
  return {
    health: () => client.health(),
    readVersion: async (tenant, path, version) => {
      const from = pathOfVersion(tenant, path, version, granted)
      if (from === undefined) return { kind: 'denied' }
      return client.within((signal) =>
        readAs(client, children, tenant, { method: 'GET', path: from, signal }),
      )
    },
  }
}

function pathOfVersion(
  tenant: TenantId,
  path: SecretPath,
  version: number,
  granted: readonly string[],
): string | undefined {
  const from = storePath(tenant, 'data', path, granted)
  // Version 0 would mean the newest version to the store; readers must name an exact version.
  return from === undefined || !Number.isSafeInteger(version) || version < 1
    ? undefined
    : `${from}?version=${version}`
}

/**
 * Reads a secret. A denied read may mean that the child token was revoked, so a new child token is created. The read is
 * repeated only if a new login created that child token; a path without permission is therefore read once.
 */
async function readAs(
  client: SecretsStoreClient,
  children: ChildTokens,
  tenant: TenantId,
  call: StoreCall,
): Promise<ReadResult> {
  const child = await withinDeadline(children.of(tenant), call.signal)
  if (child.kind !== 'child') return child
  const first = decodeRead(await client.callAs(child.token, call))
  if (first.kind !== 'denied') return first
  children.forget(tenant)
  const next = await withinDeadline(children.of(tenant), call.signal)
  if (next.kind !== 'child') return next
  return next.login === child.login ? first : decodeRead(await client.callAs(next.token, call))
}

function decodeRead(answer: CallOutcome): ReadResult {
  if (answer.kind === 'refused') return unavailable('answer_invalid', 'no')
  if (answer.kind !== 'ok') return answer
  const document = decodeDocument(member(answer.body, 'data', 'data'))
  const storedAt = member(answer.body, 'data', 'metadata', 'created_time')
  if (document === undefined) return unavailable('answer_invalid', 'no')
  return { kind: 'ok', document, ...(typeof storedAt === 'string' ? { storedAt } : {}) }
}

function decodeDocument(data: unknown): SecretDocument | undefined {
  if (typeof data !== 'object' || data === null) return undefined
  const document = new Map<string, Secret>()
  for (const [key, value] of Object.entries(data)) {
    if (typeof value !== 'string') return undefined
    document.set(key, secret(value))
  }
  return document
}

interface ChildTokens {
  of(tenant: TenantId): Promise<Minted>
  forget(tenant: TenantId): void
}

/** Caches one child token per tenant; concurrent requests share its creation. Failures are not cached. */
function childTokens(client: SecretsStoreClient): ChildTokens {
  const kept = new Map<TenantId, { readonly until: number; readonly minted: Promise<Minted> }>()
  const dropOld = (now: number) => {
    for (const [tenant, { until }] of kept) {
      // Cached tokens are in order of age, so the first valid token ends the loop over expired tokens.
      if (until > now) return
      kept.delete(tenant)
    }
  }
  const of = async (tenant: TenantId): Promise<Minted> => {
    const now = client.nowMs()
    dropOld(now)
    const found = kept.get(tenant)
    if (found !== undefined) return found.minted
    const minted = mintChild(client, tenant)
    kept.set(tenant, { until: now + CHILD_USE_MS, minted })
    const result = await minted
    if (result.kind !== 'child' && kept.get(tenant)?.minted === minted) kept.delete(tenant)
    return result
  }
  return { of, forget: (tenant) => kept.delete(tenant) }
}

async function mintChild(client: SecretsStoreClient, tenant: TenantId): Promise<Minted> {
  const body = JSON.stringify({ policies: [tenantPolicyName(tenant)], ttl: CHILD_TTL })
  const path = `auth/token/create/${BROKER_IDENTITY}`
  const answer = await client.within((signal) => client.call({ method: 'POST', path, body, signal }))
  if (answer.kind === 'unavailable') return { ...answer, applied: 'no' }
  if (answer.kind !== 'ok') return { kind: 'denied' }
  const token = member(answer.body, 'auth', 'client_token')
  return typeof token === 'string'
    ? { kind: 'child', token: secret(token), login: client.logins() }
    : unavailable('answer_invalid', 'no')
}
