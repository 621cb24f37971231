// The volumes, deployments and nodes that the rejections of volumes and mounts refer to. They are the same on a platform
// whose nodes are scripted and on a lab with real agents.

import type { Code } from '@holdfast/contract'
import { EXAMPLE, type ExampleRequest } from '@holdfast/contract/examples'
import { makeNode } from '../nodes/enroll.ts'
import { givePool } from '../nodes/give-pool.ts'
import { makeVolumeReady } from '../nodes/ready-volume.ts'
import type { ApiAnswer, ApiClient } from '../platform/api-client.ts'
import { ownPlatform } from '../platform/shared-platform.ts'
import type { Platform } from '../platform/start-platform.ts'
import { type Replacement, replacementsOn } from './run-examples.ts'

/** The codes that requests for volumes return. */
export const VOLUME_CODES = [
  'volume_access_mode_conflict',
  'volume_class_not_wired',
  'volume_primary_mismatch',
  'volume_spec_invalid',
  'volume_not_found',
  'volume_not_ready',
  'volume_in_use',
  'replica_node_invalid',
  'volume_snapshot_not_found',
  'volume_snapshot_not_implemented',
] as const satisfies readonly Code[]

/** A platform that has volumes enabled, and what differs between scripted nodes and real agents. */
export interface VolumeHost {
  readonly platform: Platform
  /** Ids of two nodes of tenant acme and of one node of globex. Those of acme have pools of 1 GiB. */
  readonly nodes: { readonly primary: string; readonly other: string; readonly foreign: string }
  /** Resolves when the volume of acme is Ready and all its copies are current. */
  untilReady(volume: string): Promise<void>
}

export interface VolumeWorld {
  readonly platform: Platform
  /** An API client with the role tenant-admin of acme. */
  readonly api: ApiClient
  readonly nodes: VolumeHost['nodes']
  /** Path of the volumes of acme. */
  readonly path: string
  readonly volumes: WorldVolumes
  /** An example in which names of the examples are replaced by the real ones. */
  real(request: ExampleRequest): ExampleRequest
  /** Sends an example as acme's administrator. */
  send(request: ExampleRequest): Promise<ApiAnswer>
  /** A text of a response with the names of the examples instead of the real ones. */
  asExample(text: string): string
}

/** Ids of the volumes. Replicated volumes have one replica, unless stated otherwise. */
interface WorldVolumes {
  /** Larger than every pool, so its phase is Pending. */
  readonly waiting: string
  /** On the node `primary`; the deployment `orders` writes to it. */
  readonly mounted: string
  /** On the node `primary`, mounted by nothing. */
  readonly free: string
  /** On the node `primary`, without replicas. */
  readonly alone: string
  /** On the node `other`; `reader` reads it. */
  readonly elsewhere: string
  /** Of the class ephemeral; `cache` mounts it in memory. */
  readonly scratch: string
  /** Of the class object. */
  readonly objects: string
  /** A volume of globex. */
  readonly foreign: string
}

/** The secret of the deployment `orders`, on which the data of its volume depends. */
export const anchoredSecret = ({ volumes }: Pick<VolumeWorld, 'volumes'>) => ({
  name: 'DB',
  vault_path: 'deployments/orders-db',
  anchor: `volume(${volumes.mounted})`,
})

/** Starts a platform whose nodes have no agents. */
export const startVolumeWorld = async (): Promise<VolumeWorld> =>
  prepareVolumeWorld(await scriptedHost(await ownPlatform({ settings: { volumes: { enabled: true } } })))

/** Enrolls nodes without agents and makes volumes Ready as the reports of agents would. */
export async function scriptedHost(platform: Platform): Promise<VolumeHost> {
  const { acme, globex, baseUrl } = platform
  const enroll = async (name: string): Promise<string> => {
    const nodeId = await makeNode(baseUrl, platform.api(acme.token), name)
    await givePool(platform, acme.id, nodeId, 2 ** 30)
    return nodeId
  }
  const nodes = {
    primary: await enroll('storage-1'),
    other: await enroll('storage-2'),
    foreign: await makeNode(baseUrl, platform.api(globex.token), 'storage-3'),
  }
  return { platform, nodes, untilReady: (volume) => makeVolumeReady(platform, acme.id, volume) }
}

/** Creates the volumes and deployments. No deployment has a container, so nothing changes them. */
export async function prepareVolumeWorld(host: VolumeHost): Promise<VolumeWorld> {
  const { platform, nodes } = host
  const { acme } = platform
  const api = platform.api(acme.token)
  const volumes = await createVolumes(host, api)
  for (const deployment of deploymentsOf(platform, volumes)) {
    const answer = await api.post('/api/v1/deployments', deployment)
    if (answer.status !== 201) throw new Error(answer.text)
  }
  const names: readonly Replacement[] = [
    ...replacementsOn(platform),
    [EXAMPLE.volume, volumes.waiting],
    [EXAMPLE.mountedVolume, volumes.mounted],
    [EXAMPLE.objectVolume, volumes.objects],
    [EXAMPLE.primaryNode, nodes.primary],
    [EXAMPLE.node, nodes.other],
  ]
  const replaced = (text: string) => names.reduce((sent, [example, id]) => sent.replaceAll(example, id), text)
  const real = (request: ExampleRequest): ExampleRequest => JSON.parse(replaced(JSON.stringify(request)))
  return {
    platform,
    api,
    nodes,
    path: volumesOf(acme),
    volumes,
    real,
    send: (request) => {
      const { method, path, body } = real(request)
      return api.send(method, path, body)
    },
    asExample: (text) => names.reduce((shown, [example, id]) => shown.replaceAll(id, example), text),
  }
}

const volumesOf = ({ id }: { readonly id: string }) => `/api/v1/tenants/${id}/volumes`

async function createVolumes(host: VolumeHost, api: ApiClient): Promise<WorldVolumes> {
  const { platform, nodes, untilReady } = host
  const create = async (name: string, parts: object, { client = api, tenant = platform.acme } = {}) => {
    const answer = await client.post(volumesOf(tenant), { name, sizeBytes: 2 ** 24, ...parts })
    if (answer.status !== 201) throw new Error(answer.text)
    return String(Object(answer.body['volume']).id)
  }
  const replicated = { class: 'replicated', replicas: 1, nodeId: nodes.primary }
  const volumes = {
    mounted: await create('mounted', replicated),
    free: await create('free', replicated),
    alone: await create('alone', { ...replicated, replicas: 0 }),
    elsewhere: await create('elsewhere', { ...replicated, nodeId: nodes.other }),
    scratch: await create('scratch', { class: 'ephemeral' }),
  }
  await Promise.all(Object.values(volumes).map(untilReady))
  return {
    ...volumes,
    waiting: await create('data', { class: 'replicated', replicas: 1, sizeBytes: 10 * 2 ** 30 }),
    objects: await create('objects', { class: 'object', sizeBytes: 2 ** 30 }),
    foreign: await create(
      'foreign',
      { class: 'object' },
      { client: platform.api(platform.globex.token), tenant: platform.globex },
    ),
  }
}

function deploymentsOf({ image }: Platform, volumes: WorldVolumes): object[] {
  const mount = (volume: string, parts: object = {}) => ({
    volume,
    target: '/data',
    type: 'volume',
    ...parts,
  })
  const deployments: { readonly [name: string]: object } = {
    orders: {
      volumes: [mount(volumes.mounted, { readOnly: false })],
      secrets: [anchoredSecret({ volumes })],
    },
    reader: { volumes: [mount(volumes.elsewhere, { readOnly: true })] },
    cache: { volumes: [mount(volumes.scratch, { readOnly: false, type: 'tmpfs' })] },
    plain: {},
  }
  return Object.entries(deployments).map(([name, parts]) => ({
    ...{ kind: 'Deployment', name, image, replicas: 0 },
    ...parts,
  }))
}
