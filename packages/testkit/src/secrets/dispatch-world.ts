// A broker over a real record store and a real secrets store. Nodes, placements and credentials are written as the other
// parts of the server would write them.

import { openSealed } from '@holdfast/agent/session/open-sealed'
import {
  type Answer,
  type ContainerTemplate,
  consumerOf,
  type DeploymentUid,
  decode,
  defined,
  type Infer,
  ownerOf,
  sealedEnvironmentShape,
  type TemplateSecret,
  type TenantId,
} from '@holdfast/contract'
import type { RealStore } from '@holdfast/server/adapters/secrets-store/real-store.fixture'
import { createSecretsReader } from '@holdfast/server/adapters/secrets-store/secrets-reader'
import { type BrokerDeps, createBroker } from '@holdfast/server/broker/create-broker'
import type { Broker, EnvironmentAsk } from '@holdfast/server/ports/broker'
import { secret } from '@holdfast/server/ports/secret'
import type { SecretsWriter } from '@holdfast/server/ports/secrets-store'
import { credentials, deployments, type StoredCredential } from '@holdfast/server/store/records'
import { aDeployment, aSpec } from '@holdfast/server/store/records.fixture'
import type { Store } from '@holdfast/server/store/store'
import { inTenant, placementAt } from '@holdfast/server/store/transaction'
import { realIds as ids } from '@holdfast/server/system-clock'
import { sharedEtcd, uniqueName } from '@holdfast/testkit'
import {
  addTenant,
  anAssignment,
  aPlacement,
  type EnrolledNode,
  enroll,
  write,
} from '../session/session-records.ts'
import { openTestStore, type TestStoreOptions } from '../store/open-test-store.ts'

export interface DispatchWorld {
  readonly store: Store
  readonly broker: Broker
  /** Log output of the broker. */
  readonly logged: string[]
  readonly outcomes: string[]
  tenant(): Promise<TenantId>
  /** Writes the next version of a secret and records this version in the credential. */
  put(tenant: TenantId, label: string, values: { readonly [key: string]: string }): Promise<number>
  change(tenant: TenantId, label: string, changes: Partial<StoredCredential>): Promise<void>
  /** Places a running assignment on the node. Returns the agent's request for the environment of the assignment. */
  place(node: EnrolledNode, template: Partial<ContainerTemplate>): Promise<EnvironmentAsk>
  close(): void
}

export interface WorldOptions extends Partial<Pick<BrokerDeps, 'nowMs' | 'deadlineMs'>> {
  readonly real: RealStore
  /** Address of the secrets store that the broker uses. */
  readonly address?: string
  /** Endpoints of an etcd that no other test writes to. */
  readonly endpoints?: readonly string[]
  /** Wraps the key-value client between the store and etcd. */
  readonly wrap?: NonNullable<TestStoreOptions['wrap']>
}

const TEMPLATE: ContainerTemplate = {
  name: 'web',
  image: `registry.example:5000/app@sha256:${'a'.repeat(64)}`,
  environment: {},
  labels: {},
  stopGracePeriod: '10s',
}

export async function openDispatchWorld(worldOptions: WorldOptions): Promise<DispatchWorld> {
  const { real, address, wrap, endpoints: own, ...options } = worldOptions
  const endpoints = own ?? (await sharedEtcd()).endpoints
  const root = `/${uniqueName('dispatch')}`
  const { store, close } = await openTestStore({ endpoints, root, ...(wrap === undefined ? {} : { wrap }) })
  const logged: string[] = []
  const log = (facts: object, text: string) => logged.push(`${text} ${JSON.stringify(facts)}`)
  const outcomes: string[] = []
  const client = real.open(real.platform.broker, defined({ address, deadlineMs: options.deadlineMs }))
  const broker = createBroker({
    store,
    ids,
    log: { warn: log, error: log },
    ...options,
    secretsStore: createSecretsReader({ client, namespaces: ['deployments', 'resources'] }),
    registry: { checkManifest: async () => ({ kind: 'absent' }) },
    onAnswer: (outcome) => outcomes.push(outcome),
  })
  return {
    store,
    broker,
    logged,
    outcomes,
    close,
    tenant: () => provisioned(store, real),
    put: (tenant, label, values) => putVersion(store, real.writer, tenant, label, values),
    change: (tenant, label, changes) => changeCredential(store, tenant, label, changes),
    place: (node, template) => placeOn(store, node, template),
  }
}

async function provisioned(store: Store, real: RealStore): Promise<TenantId> {
  const tenant = await addTenant(store)
  const done = await real.writer.provisionTenant(tenant)
  if (done.kind !== 'ok') throw new Error(`setting up the tenant failed: ${done.kind}`)
  return tenant
}

async function changeCredential(
  store: Store,
  tenant: TenantId,
  label: string,
  changes: Partial<StoredCredential>,
): Promise<void> {
  const empty = {
    v: 1,
    label,
    namespace: 'deployments',
    consumers: [consumerOf('deployment', 'web')],
    versions: [],
  }
  const at = inTenant(tenant, credentials, label)
  await write(store, (transaction) => {
    const before = transaction.get(at) ?? { ...empty, initial: null, slot: 0 }
    transaction.put(at, { ...before, ...changes })
  })
}

export async function putVersion(
  store: Store,
  writer: SecretsWriter,
  tenant: TenantId,
  label: string,
  values: { readonly [key: string]: string },
): Promise<number> {
  await store.fresh()
  const known = store.get(inTenant(tenant, credentials, label))?.record
  const path = { namespace: 'deployments', label }
  const document = new Map(Object.entries(values).map(([key, value]) => [key, secret(value)]))
  const written = await writer.writeVersion(tenant, path, document, known?.versions.at(-1)?.version ?? 0)
  if (written.kind !== 'ok') throw new Error(`writing the secret failed: ${written.kind}`)
  const { version } = written
  await changeCredential(store, tenant, label, {
    versions: [...(known?.versions ?? []), { version, keys: Object.keys(values), createdAt: '' }],
    initial: known?.initial ?? version,
  })
  return version
}

export async function placeOn(
  store: Store,
  { tenant, nodeId }: Pick<EnrolledNode, 'tenant' | 'nodeId'>,
  changes: Partial<ContainerTemplate>,
): Promise<EnvironmentAsk> {
  const name = uniqueName('web')
  const uid = `dep_${ids.ulid()}` as DeploymentUid
  const assignment = anAssignment(nodeId)
  const placement = {
    ...aPlacement([assignment], uid),
    name,
    templates: { 'hash-1': { ...TEMPLATE, ...changes } },
  }
  const owner = ownerOf('deployment', uid)
  await write(store, (transaction) => {
    transaction.put(placementAt(tenant, owner), placement)
    transaction.put(inTenant(tenant, deployments, name), aDeployment(name, { uid, spec: aSpec(name) }))
  })
  return { tenant, nodeId, owner, assignmentId: assignment.id, attempt: 'attempt-1' }
}

export const aNodeOf = (world: DispatchWorld, tenant: TenantId): Promise<EnrolledNode> =>
  enroll(world.store, tenant)

/** A secret reference of a container template; without a version, the credential's first version is used. */
export const secretEntry = (name: string, label: string, version: number | null = null): TemplateSecret => ({
  name,
  namespace: 'deployments',
  label,
  version,
})

/** Opens the sealed environment of a container with the node's key. */
export function opened(
  node: Pick<EnrolledNode, 'openingKey'>,
  answer: Pick<Answer, 'sealed'>,
): Infer<typeof sealedEnvironmentShape> {
  if (answer.sealed === undefined)
    throw new Error(`the response has no sealed environment: ${JSON.stringify(answer)}`)
  return decode(sealedEnvironmentShape, JSON.parse(openSealed(node.openingKey, answer.sealed).toString()))
}
