// Every record that is stored, as a shape: the allow-list of the encoder. `v` is the schema version (DECISIONS 10).

import {
  archiveEntryShape,
  auditEntryShape,
  boolean,
  branded,
  type DeploymentUid,
  deploymentSpecShape,
  eventShape,
  type Infer,
  integer,
  json,
  nullable,
  object,
  type Shape,
  string,
  type TenantId,
  type TransactionId,
  tenantShape,
  tokenShape,
} from '@holdfast/contract'

const v = integer({ minimum: 1 })

export const storedDeploymentShape = object({
  v,
  uid: branded<DeploymentUid>(),
  spec: deploymentSpecShape,
  revision: integer(),
  specHash: string(),
  createdAt: string(),
  updatedAt: string(),
  /** What the registry said the image is; null until a resolution succeeds (DECISIONS 3). */
  digest: nullable(string()),
  /** The quota slot that this record holds. */
  slot: integer(),
  tx: branded<TransactionId>(),
  deleting: boolean(),
})
export type StoredDeployment = Infer<typeof storedDeploymentShape>

export const slotShape = object({ v, holder: string() })
export const storedTenantShape = object({ v, ...tenantShape.fields })
export type StoredTenant = Infer<typeof storedTenantShape>

/** Only the SHA-256 of the secret half of a token is kept (DECISIONS 8). */
export const storedTokenShape = object({
  v,
  ...tokenShape.fields,
  tenant: branded<TenantId>(),
  secretHash: string(),
})
export type StoredToken = Infer<typeof storedTokenShape>

/** That a credential exists and which version of it counts; the credential itself is in the secrets store. */
export const registryCredentialShape = object({ v, host: string(), version: integer(), updatedAt: string() })

export const storedEventShape = object({ v, ...eventShape.fields })
export const storedAuditShape = object({ v, ...auditEntryShape.fields })
export const storedArchiveShape = object({ v, ...archiveEntryShape.fields, tx: branded<TransactionId>() })

/** The first 2xx answer to an Idempotency-Key (DECISIONS 2). */
export const idempotentAnswerShape = object({
  v,
  requestHash: string(),
  status: integer(),
  body: json<object>(),
  etag: nullable(string()),
  expiresAt: string(),
})

/** A version that was written to the secrets store and is pinned by nobody yet (SAFETY 4a, step 4). */
export const intentShape = object({
  v,
  tenant: branded<TenantId>(),
  namespace: string(),
  resource: string(),
  version: integer(),
  createdAt: string(),
})

/** A transaction whose outcome was unknown and that may no longer be applied. */
export const cancelShape = object({ v, at: string() })

/** What DELETE marked and a loop must finish; `name` is a deployment's, or absent for the whole tenant. */
export const removalShape = object({ v, tenant: branded<TenantId>(), name: nullable(string()) })

/** Which tenant is the platform; one fixed key. */
export const platformShape = object({ v, tenant: branded<TenantId>() })

export interface Collection<T> {
  readonly folder: string
  readonly scope: 'tenant' | 'global'
  readonly shape: Shape<T>
  /** Whether the cache holds the values, or only that they exist and how large they are. */
  readonly cached: boolean
}

const tenantCollection = <T>(folder: string, shape: Shape<T>, cached: boolean): Collection<T> => ({
  folder,
  scope: 'tenant',
  shape,
  cached,
})
const globalCollection = <T>(folder: string, shape: Shape<T>): Collection<T> => ({
  folder,
  scope: 'global',
  shape,
  cached: true,
})

export const deployments = tenantCollection('dep', storedDeploymentShape, true)
export const slots = tenantCollection('slot', slotShape, true)
export const registryCredentials = tenantCollection('reg', registryCredentialShape, true)
export const archive = tenantCollection('arc', storedArchiveShape, false)
export const events = tenantCollection('evt', storedEventShape, false)
export const audit = tenantCollection('aud', storedAuditShape, false)
export const idempotentAnswers = tenantCollection('idem', idempotentAnswerShape, false)
export const tenants = globalCollection('tenant', storedTenantShape)
export const platform = globalCollection('cfg', platformShape)
export const tokens = globalCollection('token', storedTokenShape)
export const removals = globalCollection('removal', removalShape)
export const intents = globalCollection('intent', intentShape)
export const cancels = globalCollection('cancel', cancelShape)

export const COLLECTIONS: readonly Collection<unknown>[] = [
  deployments,
  slots,
  registryCredentials,
  archive,
  events,
  audit,
  idempotentAnswers,
  tenants,
  platform,
  tokens,
  removals,
  intents,
  cancels,
]
