// Lists a tenant's secrets without secret values: paths, versions and the deployments that use them.

import {
  consumerName,
  consumerOf,
  defined,
  isFinalPhase,
  type SecretConsumer,
  type SecretEntry,
  type SecretReference,
  type SecretSummary,
  type TenantId,
} from '@holdfast/contract'
import { credentialPath, isActiveCanary, may, pinOf } from '@holdfast/core'
import { canarySpec } from '../../scheduling/canary-spec.ts'
import { canaryPins } from '../../scheduling/canary-target.ts'
import {
  credentials,
  deployments,
  jobs,
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

/**
 * Lists the secret entries, of all deployments with their running canaries and of all jobs that have not ended, that refer to the label in any
 * namespace; empty for an unknown label.
 */
export function listConsumers(
  store: Pick<Store, 'get' | 'list' | 'fresh'>,
  tenant: TenantId,
  label: string,
  page: PageRequest,
): Promise<Outcome<Page<SecretConsumer>>> {
  const find = (): SecretConsumer[] => {
    const initial = store.get(inTenant(tenant, credentials, label))?.record.initial ?? null
    return workloadsOf(store, tenant).flatMap((workload) =>
      entriesOf(workload, label).map((entry) => consumerView(workload, entry, initial)),
    )
  }
  return listPage(store, page, find, keyOf)
}

const keyOf = ({ deployment, secret, canary }: SecretConsumer): string =>
  `${deployment}/${secret}${canary === true ? '/canary' : ''}`

interface Workload {
  readonly name: string
  readonly uid: string
  readonly secrets: readonly SecretEntry[]
  readonly pins: StoredDeployment['pins']
  readonly canary?: true
}

/** A job is named by its kind and id, as in every list of consumers. */
function workloadsOf(store: Pick<Store, 'list'>, tenant: TenantId): Workload[] {
  const running = store.list(jobs, tenant).filter(({ record }) => !isFinalPhase(record.phase))
  return [
    ...store.list(deployments, tenant).flatMap(({ record }) => deploymentParts(record)),
    ...running.map(({ record: { spec, id, pins } }) => ({
      ...{ name: consumerOf('job', id), uid: id, secrets: spec.secrets, pins },
    })),
  ]
}

/** A deployment, and its running canary as another workload of the same name. */
function deploymentParts(stored: StoredDeployment): Workload[] {
  const { spec, uid, pins, canary } = stored
  const { name, secrets } = spec
  const own = { name, uid, secrets, pins }
  if (canary === undefined || !isActiveCanary(canary)) return [own]
  const other = { secrets: canarySpec(stored, canary).secrets, pins: canaryPins(stored, canary) }
  return [own, { ...own, ...other, canary: true }]
}

const entriesOf = ({ secrets }: Workload, label: string): SecretEntry[] =>
  secrets.filter(({ vault_path }) => credentialPath(vault_path).label === label)

function consumerView(
  { name: deployment, uid, pins, canary }: Workload,
  { name, vault_path, anchor }: SecretEntry,
  initial: number | null,
): SecretConsumer {
  const version = pinOf(pins, vault_path) ?? initial
  return { deployment, uid, secret: name, vault_path, anchor, version, ...defined({ canary }) }
}
