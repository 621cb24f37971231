// Translates a change in the store into the record of the API that a reader must read again. Records that no response
// shows, such as claims of names, are no change.

import {
  asOwner,
  type ChangedRecord,
  type ChangedResource,
  type Owner,
  readOwner,
  type TenantId,
} from '@holdfast/contract'
import type { Change } from '../../store/cache/record-index.ts'
import {
  AUDIT_COLLECTIONS,
  backups,
  type Collection,
  copyReports,
  credentials,
  decisions,
  deployments,
  events,
  jobs,
  networkReports,
  networks,
  nodeNames,
  nodes,
  observations,
  placements,
  pools,
  registryCredentials,
  slots,
  tenants,
  tokenIssues,
  tokens,
  volumes,
  volumeUse,
  volumeWriters,
} from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { globally, inTenant, placementAt } from '../../store/transaction.ts'

type Read = Pick<Store, 'get' | 'list'>
type Translate = (store: Read, tenant: TenantId, id: string) => ChangedRecord | undefined

const named = (resource: ChangedResource, name: string, uid = name): ChangedRecord => ({
  resource,
  name,
  uid,
})

/** A record whose own change is the change of the resource. The name of a removed record is no longer known. */
function own<T>(
  resource: ChangedResource,
  collection: Collection<T>,
  name: (record: T, id: string) => [string, string],
) {
  return [
    collection.folder,
    (store: Read, tenant: TenantId, id: string): ChangedRecord => {
      const record = store.get(inTenant(tenant, collection, id))?.record
      return record === undefined
        ? { ...named(resource, id), gone: true }
        : named(resource, ...name(record, id))
    },
  ] as const
}

/** A record that belongs to another one, whose id is the first part of its own id. */
function partOf<T>(
  resource: ChangedResource,
  part: Collection<unknown>,
  whole: Collection<T>,
  name: (record: T) => string,
) {
  return [
    part.folder,
    (store: Read, tenant: TenantId, id: string): ChangedRecord | undefined => {
      const [uid = ''] = id.split('/')
      const record = store.get(inTenant(tenant, whole, uid))?.record
      return record && named(resource, name(record), uid)
    },
  ] as const
}

function workload(store: Read, tenant: TenantId, owner: Owner): ChangedRecord | undefined {
  const known = readOwner(owner)
  const name = store.get(placementAt(tenant, owner))?.record.name
  if (known === undefined || name === undefined) return undefined
  return named(known.kind === 'job' ? 'jobs' : 'deployments', name, known.id)
}

/** Many records of these are written at a time, and readers read them as a list, so they are not named one by one. */
const unnamed =
  (resource: ChangedResource): Translate =>
  () =>
    named(resource, '')

const TRANSLATIONS: ReadonlyMap<string, Translate> = new Map<string, Translate>([
  own('deployments', deployments, ({ uid }, id) => [id, uid]),
  own('nodes', nodes, ({ name }, id) => [name, id]),
  own('volumes', volumes, ({ spec }, id) => [spec.name, id]),
  own('networks', networks, ({ options }, id) => [options.name, id]),
  own('jobs', jobs, ({ spec }, id) => [spec.name, id]),
  own('backups', backups, (_, id) => [id, id]),
  own('secrets', credentials, ({ namespace, label }) => [`${namespace}/${label}`, label]),
  own('registries', registryCredentials, ({ host }) => [host, host]),
  partOf('volumes', copyReports, volumes, ({ spec }) => spec.name),
  partOf('volumes', volumeWriters, volumes, ({ spec }) => spec.name),
  partOf('networks', networkReports, networks, ({ options }) => options.name),
  partOf('nodes', pools, nodes, ({ name }) => name),
  [placements.folder, (store, tenant, id) => workload(store, tenant, asOwner(id))],
  [
    decisions.folder,
    (store, tenant, id) => workload(store, tenant, asOwner(id.split('/').slice(0, 2).join('/'))),
  ],
  [
    observations.folder,
    (store, tenant, id) => {
      const owner = store.get(inTenant(tenant, observations, id))?.record.owner
      return owner && workload(store, tenant, owner)
    },
  ],
  [volumeUse.folder, () => named('quotas', 'volume_bytes')],
  [tokenIssues.folder, () => named('quotas', 'tokens')],
  [slots.folder, (_store, _tenant, id) => named('quotas', id.split('/')[0] ?? '')],
  [events.folder, unnamed('events')],
  ...AUDIT_COLLECTIONS.map(({ folder }) => [folder, unnamed('audit')] as const),
])

/** The changed records that readers of a tenant may see. `tokensOf` knows the tokens of the tenant, also those that were removed. */
export function changedRecords(
  store: Read,
  tenant: TenantId,
  { kind, key }: Change,
  tokensOf: ReadonlySet<string>,
): ChangedRecord[] {
  const { folder, id } = key
  if (key.tenant === tenant) {
    const changed = TRANSLATIONS.get(folder)?.(store, tenant, id)
    return changed === undefined ? [] : [changed]
  }
  if (key.tenant !== undefined) return []
  if (folder === tenants.folder) return changedTenant(store, tenant, id)
  if (folder === tokens.folder && tokensOf.has(id))
    return [{ ...named('tokens', id), ...(kind === 'delete' ? { gone: true } : {}) }]
  return folder === nodeNames.folder ? changedClaims(store, tenant, id) : []
}

/** A tenant sees its own record and its limits; administrators see the records of all tenants. */
function changedTenant(store: Read, tenant: TenantId, id: string): ChangedRecord[] {
  const own = id === tenant
  if (!own && store.get(globally(tenants, tenant))?.record.platform !== true) return []
  const record = store.get(globally(tenants, id))?.record
  const changed =
    record === undefined ? { ...named('tenants', id), gone: true } : named('tenants', record.name, id)
  return own ? [changed, named('quotas', '')] : [changed]
}

function changedClaims(store: Read, tenant: TenantId, name: string): ChangedRecord[] {
  const claims = store.get(globally(nodeNames, name))?.record.claims ?? []
  const own = claims.find((claim) => claim.tenant === tenant)
  return own === undefined ? [] : [named('nodes', name, own.nodeId)]
}
