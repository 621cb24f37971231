// Lists a tenant's secrets without their material: paths, versions and the deployments that use them.

import {
  defined,
  type SecretConsumer,
  type SecretEntry,
  type SecretReference,
  type SecretSummary,
  type TenantId,
} from '@holdfast/contract'
import { credentialPath, may, pinOf } from '@holdfast/core'
import {
  credentials,
  deployments,
  type StoredCredential,
  type StoredDeployment,
} from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant } from '../../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from '../caller.ts'
import type { PageRequest } from '../deployments/read/read-deployments.ts'
import { type Page, pageOf, readCursor } from '../page.ts'
import { gatherUses, pathOf, type VersionUses } from './versions/version-uses.ts'

/** Paths with material. Key names are shown only to roles that may read them. */
export async function listSecrets(
  store: Store,
  { tenant, role }: Caller,
  page: PageRequest,
): Promise<Outcome<Page<SecretSummary>>> {
  const listed = await pageOfCredentials(store, tenant, page, ({ versions }) => versions.length > 0)
  if (!listed.ok) return listed
  const usesOf = gatherUses(store, tenant)
  const showKeys = may(role, 'secrets:read-keys')
  return mapPage(listed.value, (one) => secretView(one, usesOf(one), showKeys))
}

/** Paths that a deployment refers to, with or without material. */
export async function listReferences(
  store: Store,
  tenant: TenantId,
  page: PageRequest,
): Promise<Outcome<Page<SecretReference>>> {
  const listed = await pageOfCredentials(store, tenant, page, ({ consumers }) => consumers.length > 0)
  return listed.ok ? mapPage(listed.value, referenceView) : listed
}

async function pageOfCredentials(
  store: Store,
  tenant: TenantId,
  { limit, cursor }: PageRequest,
  isListed: (credential: StoredCredential) => boolean,
): Promise<Outcome<Page<StoredCredential>>> {
  const from = readCursor(cursor)
  if (!from.ok) return refused(from.rejection)
  await store.fresh()
  const found = store.list(credentials, tenant).map(({ record }) => record)
  const sorted = found.filter(isListed).sort((left, right) => (pathOf(left) < pathOf(right) ? -1 : 1))
  return done(pageOf(sorted, pathOf, limit, from.after))
}

function mapPage<T, U>({ items, nextCursor }: Page<T>, show: (item: T) => U): Outcome<Page<U>> {
  return done({ items: items.map(show), nextCursor })
}

export function secretView(
  { namespace, label, versions, consumers, rotation }: StoredCredential,
  uses: VersionUses,
  showKeys: boolean,
): SecretSummary {
  return {
    path: pathOf({ namespace, label }),
    namespace,
    resource: label,
    versions: versions.map(({ version, createdAt, keys }) => ({
      version,
      createdAt,
      ...defined({ keys: showKeys ? keys : undefined }),
      staged: version === rotation?.new,
      pinnedBy: [...(uses.get(version) ?? [])],
    })),
    consumers,
  }
}

function referenceView({ namespace, label, versions, consumers }: StoredCredential): SecretReference {
  const path = pathOf({ namespace, label })
  return { path, namespace, resource: label, hasMaterial: versions.length > 0, consumers: consumers.length }
}

/** Every entry of a deployment that refers to the label, in any namespace; empty for an unknown label. */
export async function listConsumers(
  store: Store,
  tenant: TenantId,
  label: string,
  { limit, cursor }: PageRequest,
): Promise<Outcome<Page<SecretConsumer>>> {
  const from = readCursor(cursor)
  if (!from.ok) return refused(from.rejection)
  await store.fresh()
  const initial = store.get(inTenant(tenant, credentials, label))?.record.initial ?? null
  const found = store
    .list(deployments, tenant)
    .flatMap(({ record }) => entriesOf(record, label).map((entry) => consumerView(record, entry, initial)))
  const sorted = found.sort((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1))
  return done(pageOf(sorted, keyOf, limit, from.after))
}

const keyOf = ({ deployment, secret }: SecretConsumer): string => `${deployment}/${secret}`

const entriesOf = ({ spec }: StoredDeployment, label: string): SecretEntry[] =>
  spec.secrets.filter(({ vault_path }) => credentialPath(vault_path).label === label)

function consumerView(
  { spec, uid, pins }: StoredDeployment,
  { name, vault_path, anchor }: SecretEntry,
  initial: number | null,
): SecretConsumer {
  const version = pinOf(pins, vault_path) ?? initial
  return { deployment: spec.name, uid, secret: name, vault_path, anchor, version }
}
