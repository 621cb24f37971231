// What people do about a refusal: every change of a cure, through the API or at the machine, and exactly as far as it says.

import {
  type Change,
  type ChangeKind,
  type Constraint,
  type DeploymentRecord,
  decodeKnown,
  deploymentRecordShape,
  NODE_COUNTRY,
  NODE_REGION,
  type Node,
  nodeShape,
  type ResidencyDemand,
} from '@holdfast/contract'
import { type LabNode, waitUntil } from '@holdfast/testkit'
import { expect } from 'vitest'
import type { ApiClient } from '../platform/api-client.ts'
import { isOn } from './check-history.ts'
import { placementsOf, untilPhase } from './lab-reads.ts'
import type { LabPlatform } from './start-lab-platform.ts'

/** What a machine was last told to say of itself, and what its join token attests. */
interface Said {
  readonly labels: { readonly [key: string]: string }
  readonly residency: { readonly country?: string; readonly region?: string }
}

/** One node and those of its tenant who see to it. */
export interface Ward {
  readonly whole: LabPlatform
  readonly tenant: string
  readonly api: ApiClient
  readonly node: LabNode
  readonly nodeId: string
  said: Said
}

/** When it resolves, all of it has come to be. */
export async function applyCure(ward: Ward, name: string, changes: readonly Change[]): Promise<void> {
  await reviseDeployment(ward, name, changes)
  // Whatever is to come beside it needs the room of the quota itself.
  for (const change of changes.toSorted(quotaFirst)) await DONE[change.kind]?.(ward, change, name)
  const said = changes.reduce(saidAfter, ward.said)
  if (changes.some(({ kind }) => kind === 'make_ready')) await start(ward)
  if (said !== ward.said) await tell(ward, said)
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

/** The platform's administrator alone may. */
export async function setQuota({ whole, tenant }: Ward, containers: number): Promise<void> {
  const { id } = tenant === 'acme' ? whole.platform.acme : whole.platform.globex
  const { status, text } = await whole.platform
    .api()
    .send('PATCH', `/api/v1/tenants/${id}`, { quotas: { containers } })
  expect(status, text).toBe(200)
}

export async function put(api: ApiClient, name: string, body: object): Promise<void> {
  const { status, text } = await api.put(`/api/v1/deployments/${name}`, body)
  expect(status, text).toBe(200)
}

export async function recordOf(api: ApiClient, name: string): Promise<DeploymentRecord> {
  return decodeKnown(deploymentRecordShape, (await api.get(`/api/v1/deployments/${name}`)).body)
}

async function nodeOf({ api, nodeId }: Pick<Ward, 'api' | 'nodeId'>): Promise<Node> {
  return decodeKnown(nodeShape, (await api.get(`/api/v1/nodes/${nodeId}`)).body)
}

interface Wishes extends Pick<DeploymentRecord, 'resources'> {
  readonly nodeId: DeploymentRecord['nodeId'] | undefined
  readonly placement: DeploymentRecord['placement'] | undefined
}

/** All of it in one revision. */
async function reviseDeployment({ api }: Ward, name: string, changes: readonly Change[]): Promise<void> {
  const { nodeId, placement, resources } = await recordOf(api, name)
  const before: Wishes = { nodeId, placement, resources }
  const after = changes.reduce(wishesAfter, before)
  if (after !== before) await put(api, name, after)
}

function wishesAfter(wishes: Wishes, change: Change): Wishes {
  const { placement = {} } = wishes
  const { constraints = [], affinity = [], antiAffinity = [] } = placement
  const isOther = (name: string): boolean => name !== change.deployment
  switch (change.kind) {
    case 'name_node':
      return { ...wishes, nodeId: change.nodeId }
    case 'lower_request':
      return { ...wishes, resources: { ...wishes.resources, ...change.resources } }
    case 'change_constraint': {
      const left = constraints.filter((each) => !isSame(each, change.constraint))
      return { ...wishes, placement: { ...placement, constraints: left } }
    }
    case 'change_affinity':
      return { ...wishes, placement: { ...placement, affinity: affinity.filter(isOther) } }
    case 'change_anti_affinity':
      return { ...wishes, placement: { ...placement, antiAffinity: antiAffinity.filter(isOther) } }
    case 'change_residency':
      return { ...wishes, placement: { ...placement, residency: demandAfter(placement.residency, change) } }
    default:
      return wishes
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

/** What else runs there asks for so much less. */
async function freeRoom(
  api: ApiClient,
  node: string,
  { cpuMillis = 0, memoryBytes = 0 }: NonNullable<Change['resources']>,
  except: string,
): Promise<void> {
  const { body } = await api.get('/api/v1/deployments?limit=500')
  const all = Object.values(Object(body['items'])).map((each) => decodeKnown(deploymentRecordShape, each))
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

/** One that does not run is started there, and one that is not there at all is made. */
async function placeBeside({ api, nodeId, node, whole }: Ward, name: string): Promise<void> {
  const known = await api.get(`/api/v1/deployments/${name}`)
  const body = { kind: 'Deployment', name, image: whole.image, replicas: 1, nodeId }
  if (known.status === 404) expect((await api.post('/api/v1/deployments', body)).status).toBe(201)
  else await put(api, name, { replicas: 1, nodeId })
  await waitUntil(
    async () => (await placementsOf(api, name)).some(({ nodeName }) => nodeName === node.name),
    {
      what: `${name} is placed on ${node.name}`,
    },
  )
}

function saidAfter(said: Said, { kind, label = '', value }: Change): Said {
  if (kind !== 'set_label' && kind !== 'attest_label') return said
  const { [label]: _before, ...others } = said.labels
  const labels = value === undefined ? others : { ...others, [label]: value }
  if (kind === 'set_label' || value === undefined) return { ...said, labels }
  const place = label === NODE_COUNTRY ? { country: value } : label === NODE_REGION ? { region: value } : {}
  return { labels, residency: { ...said.residency, ...place } }
}

/** So that it can be seen that the agent has come with the newest. */
const TIMES_TOLD = 'told'

/** In the configuration of the agent; where it is attested otherwise than before, the machine is enrolled anew. */
export async function tell(ward: Ward, said: Said): Promise<void> {
  const { whole, node } = ward
  const told = String(Number(ward.said.labels[TIMES_TOLD] ?? 0) + 1)
  const isAttested = said.residency === ward.said.residency
  const labels = { ...said.labels, [TIMES_TOLD]: told }
  ward.said = { ...said, labels }
  if (isAttested) await whole.relabel(node, labels)
  else await whole.enrollAgain(node, ward.said)
  await waitUntil(
    async () => {
      const { status, labels: shown } = await nodeOf(ward)
      return status === 'ready' && shown[TIMES_TOLD] === told
    },
    { what: `${node.name} says what it was told` },
  )
}

async function start(ward: Ward): Promise<void> {
  const { whole, node } = ward
  if (isOn(node)) await whole.lab.restartAgent(node)
  else await whole.lab.powerOn(node)
  await untilStatus(ward, 'ready')
}

export async function untilStatus(ward: Ward, wanted: Node['status']): Promise<void> {
  await waitUntil(async () => (await nodeOf(ward)).status === wanted, {
    what: `${ward.node.name} is ${wanted}`,
  })
}

/** Less of the same, or the same less one thing; undefined where there is nothing in between. */
export function smallerThan(changes: readonly Change[]): Change[] | undefined {
  const [only, ...others] = changes
  // An agent that is told something is started by it.
  const out = changes.find(({ kind }) => kind !== 'make_ready')
  if (others.length > 0) return changes.filter((change) => change !== out)
  if (only === undefined) return undefined
  const { kind, resources, limit } = only
  if (kind === 'raise_quota') return [{ ...only, limit: (limit ?? 0) - 1 }]
  // To say it without having it attested.
  if (kind === 'attest_label') return [{ ...only, kind: 'set_label' }]
  if (kind !== 'free' && kind !== 'lower_request') return undefined
  const step = kind === 'free' ? -1 : 1
  const { cpuMillis, memoryBytes } = resources ?? {}
  const less =
    cpuMillis === undefined ? { memoryBytes: (memoryBytes ?? 0) + step } : { cpuMillis: cpuMillis + step }
  return [{ ...only, resources: { ...resources, ...less } }]
}
