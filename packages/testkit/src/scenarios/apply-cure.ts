// Applies the changes of a placement remedy exactly as stated, through the API or on the machine.

import {
  type Change,
  type ChangeKind,
  type Constraint,
  type DeploymentRecord,
  decodeOpen,
  deploymentRecordShape,
  NODE_COUNTRY,
  NODE_REGION,
  type Node,
  nodeShape,
  type ResidencyDemand,
  type Why,
  whyShape,
} from '@holdfast/contract'
import { type LabNode, waitUntil } from '@holdfast/testkit'
import { expect } from 'vitest'
import type { ApiClient } from '../platform/api-client.ts'
import { isOn } from './check-history.ts'
import { placementsOf, untilPhase } from './lab-reads.ts'
import type { LabPlatform } from './start-lab-platform.ts'

/** The labels that a machine advertises, and the location that the machine's join token attests. */
interface Advertised {
  readonly labels: { readonly [key: string]: string }
  readonly residency: { readonly country?: string; readonly region?: string }
}

/** One node, the API client of the node's tenant, and the labels and location that the node advertises now. */
export interface Ward {
  readonly cluster: LabPlatform
  readonly tenant: string
  readonly api: ApiClient
  readonly node: LabNode
  readonly nodeId: string
  advertised: Advertised
}

/** Applies the changes of a remedy. Resolves once all changes are in effect. */
export async function applyCure(ward: Ward, name: string, changes: readonly Change[]): Promise<void> {
  await reviseDeployment(ward, name, changes)
  // Raise the quota first, because the other changes may need more containers than the old quota allows.
  for (const change of changes.toSorted(quotaFirst)) await DONE[change.kind]?.(ward, change, name)
  const advertised = changes.reduce(advertisedAfter, ward.advertised)
  if (changes.some(({ kind }) => kind === 'make_ready')) await start(ward)
  if (advertised !== ward.advertised) await advertise(ward, advertised)
}

const quotaFirst = (left: Change, right: Change): number =>
  Number(right.kind === 'raise_quota') - Number(left.kind === 'raise_quota')

const DONE: {
  readonly [kind in ChangeKind]?: (ward: Ward, change: Change, name: string) => Promise<unknown>
} = {
  uncordon: (ward) => act(ward, 'uncordon'),
  free: ({ api, node }, { resources = {} }, name) => freeRoom(api, node.name, resources, name),
  place_beside: (ward, { deployment = '' }) => placeBeside(ward, deployment),
  async move_away({ api }, { deployment = '' }) {
    await put(api, deployment, { replicas: 0 })
    await untilPhase(api, deployment, 'Stopped')
  },
  raise_quota: (ward, { limit = 0 }) => setQuota(ward, limit),
}

export async function act({ api, nodeId }: Ward, verb: 'cordon' | 'uncordon' | 'drain'): Promise<void> {
  const { status, text } = await api.post(`/api/v1/nodes/${nodeId}/${verb}`, undefined)
  expect(status, text).toBeLessThan(300)
}

/** Sets a tenant's container quota, as the platform administrator, because no other role may change quotas. */
export async function setQuota({ cluster, tenant }: Ward, containers: number): Promise<void> {
  const { id } = tenant === 'acme' ? cluster.platform.acme : cluster.platform.globex
  const { status, text } = await cluster.platform
    .api()
    .send('PATCH', `/api/v1/tenants/${id}`, { quotas: { containers } })
  expect(status, text).toBe(200)
}

export async function put(api: ApiClient, name: string, body: object): Promise<void> {
  const { status, text } = await api.put(`/api/v1/deployments/${name}`, body)
  expect(status, text).toBe(200)
}

export async function recordOf(api: ApiClient, name: string): Promise<DeploymentRecord> {
  return decodeOpen(deploymentRecordShape, (await api.get(`/api/v1/deployments/${name}`)).body)
}

export async function whyOf(api: ApiClient, name: string): Promise<Why> {
  const { status, body, text } = await api.get(`/api/v1/deployments/${name}/why`)
  expect(status, text).toBe(200)
  return decodeOpen(whyShape, body)
}

async function nodeOf({ api, nodeId }: Pick<Ward, 'api' | 'nodeId'>): Promise<Node> {
  return decodeOpen(nodeShape, (await api.get(`/api/v1/nodes/${nodeId}`)).body)
}

interface Requirements extends Pick<DeploymentRecord, 'resources'> {
  readonly nodeId: DeploymentRecord['nodeId'] | undefined
  readonly placement: DeploymentRecord['placement'] | undefined
}

/** Applies all changes to a deployment in one revision. */
async function reviseDeployment({ api }: Ward, name: string, changes: readonly Change[]): Promise<void> {
  const { nodeId, placement, resources } = await recordOf(api, name)
  const before: Requirements = { nodeId, placement, resources }
  const after = changes.reduce(requirementsAfter, before)
  if (after !== before) await put(api, name, after)
}

function requirementsAfter(requirements: Requirements, change: Change): Requirements {
  const { placement = {} } = requirements
  const { constraints = [], affinity = [], antiAffinity = [] } = placement
  const isOther = (name: string): boolean => name !== change.deployment
  switch (change.kind) {
    case 'name_node':
      return { ...requirements, nodeId: change.nodeId }
    case 'lower_request':
      return { ...requirements, resources: { ...requirements.resources, ...change.resources } }
    case 'change_constraint': {
      const left = constraints.filter((each) => !isSame(each, change.constraint))
      return { ...requirements, placement: { ...placement, constraints: left } }
    }
    case 'change_affinity':
      return { ...requirements, placement: { ...placement, affinity: affinity.filter(isOther) } }
    case 'change_anti_affinity':
      return { ...requirements, placement: { ...placement, antiAffinity: antiAffinity.filter(isOther) } }
    case 'change_residency':
      return {
        ...requirements,
        placement: { ...placement, residency: demandAfter(placement.residency, change) },
      }
    default:
      return requirements
  }
}

const isSame = (left: Constraint, right: Constraint | undefined): boolean =>
  left.label === right?.label &&
  left.operator === right.operator &&
  (left.values ?? []).join('\n') === (right.values ?? []).join('\n')

function demandAfter(
  demand: ResidencyDemand = {},
  { demand: which = 'country', value }: Change,
): ResidencyDemand {
  const { [which]: _out, ...others } = demand
  const { blockedCountries = [] } = demand
  if (which !== 'blockedCountries') return others
  return { ...others, blockedCountries: blockedCountries.filter((country) => country !== value) }
}

/** Lowers the resource requests of the other deployments on the node by the given amounts. */
async function freeRoom(
  api: ApiClient,
  node: string,
  { cpuMillis = 0, memoryBytes = 0 }: NonNullable<Change['resources']>,
  except: string,
): Promise<void> {
  const { body } = await api.get('/api/v1/deployments?limit=500')
  const all = Object.values(Object(body['items'])).map((each) => decodeOpen(deploymentRecordShape, each))
  const left = { cpuMillis, memoryBytes }
  for (const { name, replicas, resources } of all) {
    if (replicas !== 1 || name === except || resources.cpuMillis + resources.memoryBytes === 0) continue
    if (!(await placementsOf(api, name)).some(({ nodeName }) => nodeName === node)) continue
    const less = {
      cpuMillis: Math.min(left.cpuMillis, resources.cpuMillis),
      memoryBytes: Math.min(left.memoryBytes, resources.memoryBytes),
    }
    left.cpuMillis -= less.cpuMillis
    left.memoryBytes -= less.memoryBytes
    await put(api, name, {
      resources: {
        cpuMillis: resources.cpuMillis - less.cpuMillis,
        memoryBytes: resources.memoryBytes - less.memoryBytes,
      },
    })
  }
  expect(left).toEqual({ cpuMillis: 0, memoryBytes: 0 })
}

/** Makes the deployment run on the node, and creates the deployment if it does not exist. */
async function placeBeside({ api, nodeId, node, cluster }: Ward, name: string): Promise<void> {
  const known = await api.get(`/api/v1/deployments/${name}`)
  const body = { kind: 'Deployment', name, image: cluster.image, replicas: 1, nodeId }
  if (known.status === 404) expect((await api.post('/api/v1/deployments', body)).status).toBe(201)
  else await put(api, name, { replicas: 1, nodeId })
  await waitUntil(
    async () => (await placementsOf(api, name)).some(({ nodeName }) => nodeName === node.name),
    {
      what: `${name} is placed on ${node.name}`,
    },
  )
}

function advertisedAfter(advertised: Advertised, { kind, label = '', value }: Change): Advertised {
  if (kind !== 'set_label' && kind !== 'attest_label') return advertised
  const { [label]: _before, ...others } = advertised.labels
  const labels = value === undefined ? others : { ...others, [label]: value }
  if (kind === 'set_label' || value === undefined) return { ...advertised, labels }
  const place = label === NODE_COUNTRY ? { country: value } : label === NODE_REGION ? { region: value } : {}
  return { labels, residency: { ...advertised.residency, ...place } }
}

/**
 * Name of a label whose number grows with each change of labels; it shows when the agent has connected with the newest
 * labels.
 */
const GENERATION = 'generation'

/** Sets the labels in the agent's configuration. If the attested location changes, the machine is enrolled again. */
export async function advertise(ward: Ward, advertised: Advertised): Promise<void> {
  const { cluster, node } = ward
  const generation = String(Number(ward.advertised.labels[GENERATION] ?? 0) + 1)
  const isAttested = advertised.residency === ward.advertised.residency
  const labels = { ...advertised.labels, [GENERATION]: generation }
  ward.advertised = { ...advertised, labels }
  if (isAttested) await cluster.relabel(node, labels)
  else await cluster.enrollAgain(node, ward.advertised)
  await waitUntil(
    async () => {
      const { status, labels: shown } = await nodeOf(ward)
      return status === 'ready' && shown[GENERATION] === generation
    },
    { what: `${node.name} advertises its new labels` },
  )
}

async function start(ward: Ward): Promise<void> {
  const { cluster, node } = ward
  if (isOn(node)) await cluster.lab.restartAgent(node)
  else await cluster.lab.powerOn(node)
  await untilStatus(ward, 'ready')
}

export async function untilStatus(ward: Ward, wanted: Node['status']): Promise<void> {
  await waitUntil(async () => (await nodeOf(ward)).status === wanted, {
    what: `${ward.node.name} is ${wanted}`,
  })
}

/** The remedy with one change left out or made smaller, which must not be enough; undefined if nothing can be reduced. */
export function smallerThan(changes: readonly Change[]): Change[] | undefined {
  const [only, ...others] = changes
  // The change that is left out must not be `make_ready`: applying another change of the remedy may restart the agent,
  // which makes the node ready anyway.
  const out = changes.find(({ kind }) => kind !== 'make_ready')
  if (others.length > 0) return changes.filter((change) => change !== out)
  if (only === undefined) return undefined
  const { kind, resources, limit } = only
  if (kind === 'raise_quota') return [{ ...only, limit: (limit ?? 0) - 1 }]
  // For `attest_label`, the smaller change only advertises the label and does not attest it.
  if (kind === 'attest_label') return [{ ...only, kind: 'set_label' }]
  if (kind !== 'free' && kind !== 'lower_request') return undefined
  const step = kind === 'free' ? -1 : 1
  const { cpuMillis, memoryBytes } = resources ?? {}
  const less =
    cpuMillis === undefined ? { memoryBytes: (memoryBytes ?? 0) + step } : { cpuMillis: cpuMillis + step }
  return [{ ...only, resources: { ...resources, ...less } }]
}
