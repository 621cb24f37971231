// Lists a tenant's secrets without secret values: paths, versions and the deployments that use them.

import {
  consumerName,
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
import type { Caller, Outcome } from '../caller.ts'
import { listPage, mapPage, type Page, type PageRequest } from '../page.ts'
import { gatherUses, pathOf, type VersionUses } from './versions/version-uses.ts'

/** Lists the secrets that have stored values. Key names are shown only to roles that may read them. */
export async function listSecrets(
  store: Store,
  { tenant, role }: Caller,
  page: PageRequest,
): Promise<Outcome<Page<SecretSummary>>> {
  const stored = await listCredentials(store, tenant, page, ({ versions }) => versions.length > 0)
  const usesOf = gatherUses(store, tenant)
  const showKeys = may(role, 'secrets:read-keys')
  return mapPage(stored, (one) => secretView(one, usesOf(one), showKeys))
}

/** Lists the secret paths that any deployment refers to, with or without stored values. */
export async function listReferences(
  store: Store,
  tenant: TenantId,
  page: PageRequest,
): Promise<Outcome<Page<SecretReference>>> {
  const stored = await listCredentials(store, tenant, page, ({ consumers }) => consumers.length > 0)
  return mapPage(stored, referenceView)
}

function listCredentials(
  store: Store,
  tenant: TenantId,
  page: PageRequest,
  matches: (credential: StoredCredential) => boolean,
): Promise<Outcome<Page<StoredCredential>>> {
  const find = () => store.list(credentials, tenant).map(({ record }) => record)
  return listPage(store, page, () => find().filter(matches), pathOf)
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
    consumers: consumers.map(consumerName),
  }
}

function referenceView({ namespace, label, versions, consumers }: StoredCredential): SecretReference {
  const path = pathOf({ namespace, label })
  return { path, namespace, resource: label, hasMaterial: versions.length > 0, consumers: consumers.length }
}

/** Lists the secret entries, of all deployments, that refer to the label in any namespace; empty for an unknown label. */
export function listConsumers(
  store: Store,
  tenant: TenantId,
  label: string,
  page: PageRequest,
): Promise<Outcome<Page<SecretConsumer>>> {
  const find = (): SecretConsumer[] => {
    const initial = store.get(inTenant(tenant, credentials, label))?.record.initial ?? null
    return store
      .list(deployments, tenant)
      .flatMap(({ record }) => entriesOf(record, label).map((entry) => consumerView(record, entry, initial)))
  }
  return listPage(store, page, find, keyOf)
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
