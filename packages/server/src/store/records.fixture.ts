// Valid records for tests of the store.

import { randomUUID } from 'node:crypto'
import {
  asJobId,
  type DeploymentSpec,
  type DeploymentUid,
  type JobSpec,
  type JsonObject,
  type TenantId,
  type TokenId,
  type TransactionId,
} from '@holdfast/contract'
import { createRecordIndex } from './cache/record-index.ts'
import { encodeRecord } from './encode.ts'
import { createKeyspace } from './keys.ts'
import {
  audit,
  type Collection,
  deployments,
  type StoredCanary,
  type StoredDeployment,
  type StoredJob,
} from './records.ts'
import type { Store } from './store.ts'
import { inTenant, type Transaction } from './transaction.ts'

const TIME = '2026-01-01T00:00:00.000Z'

export const someTenant = (): TenantId => randomUUID() as TenantId

export const aSpec = (name: string): DeploymentSpec => ({
  kind: 'Deployment',
  name,
  image: 'registry.example/app:1.0',
  replicas: 1,
  secrets: [],
  secretsVersion: 0,
  resources: { cpuMillis: 100, memoryBytes: 64 },
  update: { order: 'start-first', parallelism: 1, failureAction: 'pause', progressDeadline: '60s' },
  stopGracePeriod: '10s',
})

export const aDeployment = (name: string, changes: Partial<StoredDeployment> = {}): StoredDeployment => ({
  v: 1,
  uid: 'dep_0' as DeploymentUid,
  spec: aSpec(name),
  revision: 1,
  specHash: '',
  createdAt: TIME,
  updatedAt: TIME,
  digest: null,
  slot: 0,
  tx: '' as TransactionId,
  deleting: false,
  ...changes,
})

const JOB_SPEC: JobSpec = {
  ...{ kind: 'Job', name: 'migrate', image: 'registry.example.com:443/migrate:1' },
  ...{ secrets: [], resources: { cpuMillis: 1000, memoryBytes: 0 }, stopGracePeriod: '10s' },
  ...{ timeout: '1h', retries: 0, onNodeLoss: 'wait' },
}

/** A job that was created and has no attempt yet. */
export const aJob = (spec: Partial<JobSpec> = {}, changes: Partial<StoredJob> = {}): StoredJob => ({
  ...{ v: 1, id: asJobId('job_01JCPZ0000000000000000000A'), spec: { ...JOB_SPEC, ...spec } },
  ...{ digest: `sha256:${'d'.repeat(64)}`, revision: 1, createdAt: TIME, slot: 0, phase: 'pending' },
  ...{ reason: '', unplaced: '', cancelled: false, attempts: 0, failures: 0, nodeId: null, nodeName: null },
  ...{ startedAt: null, finishedAt: null, exitCode: null },
  ...changes,
})

export const anAuditEntry = (tenant: TenantId, transaction: TransactionId, requestId = '') => ({
  v: 1,
  id: transaction,
  time: TIME,
  tenant,
  actor: { token: 'tok_0' as TokenId, role: 'developer' as const },
  onBehalf: false,
  action: 'deployment:create',
  subject: { kind: 'Deployment', name: 'app' },
  requestId,
})

/** Writes a deployment, and an audit entry that serves as the receipt of the transaction. */
export function putDeployment(
  transaction: Transaction,
  tenant: TenantId,
  name: string,
  changes: Partial<StoredDeployment> = {},
): void {
  const record = aDeployment(name, { tx: transaction.id, ...changes })
  transaction.put(inTenant(tenant, deployments, name), record)
  const entry = anAuditEntry(tenant, transaction.id, `${name} ${record.revision}`)
  transaction.put(inTenant(tenant, audit, transaction.id), entry)
}

/** Records of one tenant and of the platform in a cache without a store. */
export function cachedRecords(tenant: TenantId) {
  const keyspace = createKeyspace()
  const index = createRecordIndex(keyspace, {
    reads: 2,
    onUnreadable(_key, error) {
      throw error
    },
  })
  let revision = 1
  const store: Pick<Store, 'get' | 'list' | 'keysOf'> = {
    get: ({ collection, tenant: owner, id }) => index.get(collection, owner, id),
    list: (collection, owner) => index.list(collection, owner),
    keysOf: (collection, owner) => index.keysOf(collection, owner),
  }
  const put = <T>(collection: Collection<T>, id: string, record: T): void => {
    revision += 1
    const { folder, scope } = collection
    const key = scope === 'global' ? keyspace.globalKey(folder, id) : keyspace.tenantKey(tenant, folder, id)
    const value = encodeRecord(collection, record)
    index.put({ key, value, createRevision: revision, modRevision: revision, version: 1 })
  }
  return { store, put }
}

/** A canary that runs, with a change of its own. */
export const aCanary = (change: JsonObject, over: Partial<StoredCanary> = {}): StoredCanary => ({
  phase: 'observing',
  reason: '',
  since: TIME,
  startedAt: TIME,
  replicas: 1,
  weight: 10,
  observe: '10m',
  failures: [],
  change,
  digest: null,
  ...over,
})
