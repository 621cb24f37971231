// Writes secrets with the API's identity: new versions with check-and-set, version numbers, destruction. This file has no
// call that reads secret data, and the policy of the identity denies such a call.

import type { TenantId } from '@holdfast/contract'
import type {
  Absent,
  Conflict,
  Denied,
  Done,
  SecretDocument,
  SecretPath,
  SecretsWriter,
  SecretVersion,
  Unavailable,
  VersionList,
  Written,
} from '../../ports/secrets-store.ts'
import { provisionTenant, removeTenant } from './provision-tenant.ts'
import { requireNamespaces, storePath } from './secret-path.ts'
import type { SecretsStoreClient } from './secrets-store-client.ts'
import { type CallOutcome, member, unavailable } from './store-call.ts'

interface WriterContext {
  readonly client: SecretsStoreClient
  readonly granted: readonly string[]
}

export function createSecretsWriter(options: {
  readonly client: SecretsStoreClient
  readonly namespaces: readonly string[]
}): SecretsWriter {
  const store: WriterContext = { client: options.client, granted: requireNamespaces(options.namespaces) }
  return {
    health: () => store.client.health(),
    provisionTenant: (tenant) =>
      store.client.within((signal) => provisionTenant(store.client, tenant, store.granted, signal)),
    removeTenant: (tenant) => store.client.within((signal) => removeTenant(store.client, tenant, signal)),
    writeVersion: (tenant, path, document, cas) =>
      store.client.within((signal) => writeVersion(store, tenant, path, document, cas, signal)),
    patchVersion: (tenant, path, document, cas) =>
      store.client.within((signal) => sendDocument(store, 'PATCH', tenant, path, document, cas, signal)),
    currentVersion: (tenant, path) =>
      store.client.within((signal) => readVersions(store, tenant, path, signal)),
    destroyVersion: (tenant, path, version) =>
      store.client.within((signal) => destroyVersions(store, tenant, path, [version], signal)),
    deleteAll: (tenant, path) => store.client.within((signal) => deleteAll(store, tenant, path, signal)),
  }
}

async function writeVersion(
  store: WriterContext,
  tenant: TenantId,
  path: SecretPath,
  document: SecretDocument,
  cas: number,
  signal: AbortSignal,
): Promise<Written | Conflict | Denied | Unavailable> {
  const answer = await sendDocument(store, 'POST', tenant, path, document, cas, signal)
  return answer.kind === 'absent' ? failure(answer) : answer
}

/** Sends a document, whole or as a patch. A missing mount and a destroyed newest version have one answer: `absent`. */
async function sendDocument(
  store: WriterContext,
  method: 'POST' | 'PATCH',
  tenant: TenantId,
  path: SecretPath,
  document: SecretDocument,
  cas: number,
  signal: AbortSignal,
): Promise<Written | Absent | Conflict | Denied | Unavailable> {
  const to = storePath(tenant, 'data', path, store.granted)
  if (to === undefined) return { kind: 'denied' }
  const body = `{"options":{"cas":${Math.trunc(cas)}},"data":${documentText(document)}}`
  const answer = await store.client.call({ method, path: to, body, signal })
  if (answer.kind === 'absent') return answer
  if (answer.kind === 'refused') return explainRefusal(await readVersions(store, tenant, path, signal), cas)
  if (answer.kind !== 'ok') return failure(answer)
  const version = member(answer.body, 'data', 'version')
  const storedAt = member(answer.body, 'data', 'created_time')
  if (typeof version !== 'number') return unavailable('answer_invalid', 'unknown')
  return { kind: 'ok', version, ...(typeof storedAt === 'string' ? { storedAt } : {}) }
}

/** Explains a 400: it is a conflict if `cas` is not the current version number, otherwise an invalid answer. */
function explainRefusal(
  found: VersionList | Absent | Denied | Unavailable,
  cas: number,
): Conflict | Denied | Unavailable {
  if (found.kind === 'denied' || found.kind === 'unavailable') return found
  const newest = found.kind === 'ok' ? found.version : 0
  return newest === cas ? unavailable('answer_invalid', 'no') : { kind: 'conflict' }
}

async function readVersions(
  store: WriterContext,
  tenant: TenantId,
  path: SecretPath,
  signal: AbortSignal,
): Promise<VersionList | Absent | Denied | Unavailable> {
  const to = storePath(tenant, 'metadata', path, store.granted)
  if (to === undefined) return { kind: 'denied' }
  const answer = await store.client.call({ method: 'GET', path: to, signal })
  if (answer.kind === 'absent') return answer
  if (answer.kind !== 'ok') return failure(answer)
  return decodeVersions(member(answer.body, 'data')) ?? unavailable('answer_invalid', 'no')
}

function decodeVersions(data: unknown): VersionList | Absent | undefined {
  const version = member(data, 'current_version')
  const listed = member(data, 'versions')
  if (typeof version !== 'number' || typeof listed !== 'object' || listed === null) return undefined
  if (version === 0) return { kind: 'absent' }
  const versions = Object.entries(listed).map(([number, about]): SecretVersion => {
    const createdAt = member(about, 'created_time')
    return {
      version: Number(number),
      createdAt: typeof createdAt === 'string' ? createdAt : '',
      destroyed: member(about, 'destroyed') === true,
    }
  })
  return { kind: 'ok', version, versions: versions.sort((a, b) => a.version - b.version) }
}

async function destroyVersions(
  store: WriterContext,
  tenant: TenantId,
  path: SecretPath,
  versions: readonly number[],
  signal: AbortSignal,
): Promise<Done | Denied | Unavailable> {
  const to = storePath(tenant, 'destroy', path, store.granted)
  if (to === undefined) return { kind: 'denied' }
  const body = JSON.stringify({ versions })
  const answer = await store.client.call({ method: 'POST', path: to, body, signal })
  return answer.kind === 'ok' || answer.kind === 'absent' ? { kind: 'ok' } : failure(answer)
}

async function deleteAll(
  store: WriterContext,
  tenant: TenantId,
  path: SecretPath,
  signal: AbortSignal,
): Promise<Done | Denied | Unavailable> {
  const found = await readVersions(store, tenant, path, signal)
  if (found.kind === 'absent') return { kind: 'ok' }
  if (found.kind !== 'ok') return found
  const live = found.versions.filter(({ destroyed }) => !destroyed).map(({ version }) => version)
  return live.length === 0 ? { kind: 'ok' } : destroyVersions(store, tenant, path, live, signal)
}

/** Builds the JSON text of a document by hand, because JSON.stringify would redact each Secret. */
function documentText(document: SecretDocument): string {
  const members = [...document].map(
    ([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value.reveal())}`,
  )
  return `{${members.join(',')}}`
}

function failure(answer: Exclude<CallOutcome, { kind: 'ok' }>): Denied | Unavailable {
  if (answer.kind === 'denied' || answer.kind === 'unavailable') return answer
  return unavailable(answer.kind === 'absent' ? 'mount_missing' : 'answer_invalid', 'no')
}
