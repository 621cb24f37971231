// Volumes and their mounts over HTTP on a real etcd: every rejection with the store unchanged, alterations and warnings,
// the claim of the one writer, and concurrent writes that want the same volume.

import type { JsonObject } from '@holdfast/contract'
import { isTenantId } from '@holdfast/contract'
import { waitUntil } from '@holdfast/testkit'
import { inRun } from '@holdfast/testkit/long-run'
import { makeNode } from '@holdfast/testkit/nodes/enroll'
import { givePool } from '@holdfast/testkit/nodes/give-pool'
import { makeVolumeReady } from '@holdfast/testkit/nodes/ready-volume'
import type { ApiClient } from '@holdfast/testkit/platform/api-client'
import { dumpTenants } from '@holdfast/testkit/platform/dump-keys'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import { makeTenant, type Platform } from '@holdfast/testkit/platform/start-platform'
import {
  ALTERED,
  createAltered,
  rejectionFaults,
  VOLUME_PROVOCATIONS,
} from '@holdfast/testkit/provocations/volume-provocations'
import {
  prepareVolumeWorld,
  scriptedHost,
  type VolumeWorld,
} from '@holdfast/testkit/provocations/volume-world'
import { afterAll, beforeAll, expect, test } from 'vitest'

const GIB = 1024 ** 3
const WRITES = inRun(200, 1_000)
const COLLECTION = '/api/v1/deployments'
const PATIENCE = { timeout: 180_000 }

let platform: Platform
let world: VolumeWorld
let tenant: string
let api: ApiClient
let path: string
let nodeIds: string[]

beforeAll(async () => {
  platform = await ownPlatform({
    settings: { volumes: { enabled: true }, quotas: { deployments: 5_000 } },
  })
  const made = await makeTenant(platform.api(), 'mounting')
  tenant = made.id
  api = platform.api(made.token)
  path = `/api/v1/tenants/${tenant}/volumes`
  nodeIds = []
  for (const name of ['m-1', 'm-2']) {
    const nodeId = await makeNode(platform.baseUrl, api, name)
    await givePool(platform, tenant, nodeId, 100 * GIB)
    nodeIds.push(nodeId)
  }
  world = await prepareVolumeWorld(await scriptedHost(platform))
})
afterAll(() => platform.stop())

let serial = 0
const unique = (prefix: string) => `${prefix}-${++serial}`

/** Creates a Ready volume with its primary on the first node and a copy on the second. */
async function volume(): Promise<string> {
  const sent = { name: unique('data'), class: 'replicated', sizeBytes: 2 ** 24, replicas: 1 }
  const answer = await api.post(path, sent)
  expect(answer.status, answer.text).toBe(201)
  const id = String(Object(answer.body['volume']).id)
  const [primary = '', replica = ''] = nodeIds
  await makeVolumeReady(platform, tenant, id, { primary, replicas: [replica] })
  return id
}

const mount = (id: string, parts: JsonObject = {}): JsonObject => ({
  volume: id,
  target: '/data',
  type: 'volume',
  readOnly: false,
  ...parts,
})

/** Without replicas no controller writes anything about the deployment. */
const bodyOf = (parts: JsonObject): JsonObject => ({
  kind: 'Deployment',
  name: unique('app'),
  image: platform.image,
  replicas: 0,
  ...parts,
})

interface Written {
  readonly deployment: JsonObject & { readonly name: string; readonly revision: number }
}

async function create(parts: JsonObject): Promise<Written> {
  const answer = await api.post(COLLECTION, bodyOf(parts))
  expect(answer.status, answer.text).toBe(201)
  return JSON.parse(answer.text)
}

const update = (name: string, parts: JsonObject) => api.send('PUT', `${COLLECTION}/${name}`, parts)

/** The claims of the tenant, as `volume owner-name state`. */
async function claims(): Promise<string[]> {
  if (!isTenantId(tenant)) throw new TypeError(tenant)
  const prefix = `/t/${tenant}/volw/`
  return Object.entries(await dumpTenants(platform))
    .filter(([key]) => key.includes(prefix))
    .map(([, { value }]) => {
      const { volume: id, name, state } = JSON.parse(value)
      return `${id} ${name} ${state}`
    })
}

const claimOn = async (id: string) => (await claims()).find((claim) => claim.startsWith(id))

const titles = VOLUME_PROVOCATIONS.map(({ code, field }, row) => [row, code, field] as const)

test.each(titles)('row %i is rejected with %s at %s and stores nothing', async (row) => {
  const provocation = VOLUME_PROVOCATIONS[row]
  if (provocation === undefined) throw new Error('no such row')
  expect(await rejectionFaults(world, provocation)).toEqual([])
})

test('an anchored secret may be dropped together with its volume', async () => {
  const body = { secrets: [], volumes: [] }
  const released = await world.api.put(`${COLLECTION}/orders?dryRun=true`, body)
  expect(released.status, released.text).toBe(200)
})

test('alterations and warnings of mounts', async () => {
  const created = await createAltered(world)
  expect(created.status, created.text).toBe(201)
  const { deployment, alterations, warnings } = Object(created.body)
  expect([...alterations, ...warnings]).toEqual(
    expect.arrayContaining(ALTERED.map((each) => expect.objectContaining(each))),
  )
  const { primary } = world.nodes
  expect(alterations).toContainEqual(expect.objectContaining({ field: 'nodeId', from: primary, to: null }))
  expect(alterations).toContainEqual(expect.objectContaining({ field: 'update.order', to: 'stop-first' }))
  expect([deployment.nodeId, deployment.update.order]).toEqual([undefined, 'stop-first'])
  const again = await world.api.put(`${COLLECTION}/${deployment.name}`, { nodeId: primary })
  expect(again.body['alterations']).toMatchObject([{ code: 'node_follows_volume' }])
  expect(Object(again.body['deployment']).revision).toBe(1)
})

test('the claim of a writer follows updates, rollbacks and the deletion of its deployment', async () => {
  const id = await volume()
  const { deployment } = await create({ volumes: [mount(id)] })
  const { name } = deployment
  expect(await claimOn(id)).toBe(`${id} ${name} bound`)
  for (const volumes of [[], [mount(id, { readOnly: true })]]) {
    expect((await update(name, { volumes })).status).toBe(200)
    // No controller runs, so nothing confirms that the last container is gone.
    expect(await claimOn(id)).toBe(`${id} ${name} releasing`)
    const second = await api.post(COLLECTION, bodyOf({ volumes: [mount(id)] }))
    expect([second.status, second.codes]).toEqual([409, ['volume_access_mode_conflict']])
    expect(second.body['why']).toContain(`the last container of ${name} is not confirmed gone`)
    const back = await api.post(`${COLLECTION}/${name}/rollback`, { revision: 1 })
    expect(back.status, back.text).toBe(200)
    expect(await claimOn(id)).toBe(`${id} ${name} bound`)
  }
  expect((await api.delete(`${COLLECTION}/${name}`)).status).toBe(202)
  const what = 'the claim is deleted with the deployment, which had no container'
  await waitUntil(async () => (await claimOn(id)) === undefined, { what })
  expect((await api.delete(`${path}/${id}`)).status).toBe(202)
})

test('a reader cannot become a second writer, not even after it wrote to another volume', async () => {
  const [id, other] = [await volume(), await volume()]
  const first = await create({ volumes: [mount(id)] })
  const { name } = first.deployment
  await create({ volumes: [mount(other)] })
  const reading = await update(name, { volumes: [mount(other, { readOnly: true })] })
  expect(reading.status, reading.text).toBe(200)
  const faults = await rejectionFaults(
    { platform, api },
    {
      code: 'volume_access_mode_conflict',
      field: 'volumes[0].volume',
      sent: () => ({ method: 'PUT', path: `${COLLECTION}/${name}`, body: { volumes: [mount(other)] } }),
    },
  )
  expect(faults).toEqual([])
})

test(`of ${WRITES} concurrent creates and updates exactly one becomes the writer`, PATIENCE, async () => {
  const id = await volume()
  const others = await Promise.all(Array.from({ length: WRITES / 4 }, () => create({})))
  const updates = others.map(({ deployment }) => update(deployment.name, { volumes: [mount(id)] }))
  const creates = Array.from({ length: WRITES - updates.length }, () =>
    api.post(COLLECTION, bodyOf({ volumes: [mount(id)] })),
  )
  const answers = await Promise.all([...updates, ...creates])
  const accepted = answers.filter(({ status }) => status < 300)
  expect(accepted).toHaveLength(1)
  const refused = answers.filter(({ status }) => status >= 300)
  expect(new Set(refused.flatMap(({ codes }) => codes))).toEqual(new Set(['volume_access_mode_conflict']))
  const winner = Object(accepted[0]?.body['deployment']).name
  expect((await claims()).filter((claim) => claim.startsWith(id))).toEqual([`${id} ${winner} bound`])
  const read = await api.get(`${path}/${id}`)
  expect(read.body['consumers']).toEqual([winner])
})

test('of concurrent deletions and mounts of a volume, one kind wins', PATIENCE, async () => {
  for (let round = 0; round < inRun(5, 50); round += 1) {
    const id = await volume()
    const readOnly = round % 2 === 0
    const [removed, ...created] = await Promise.all([
      api.delete(`${path}/${id}`),
      ...Array.from({ length: 3 }, () =>
        api.post(COLLECTION, bodyOf({ volumes: [mount(id, { readOnly })] })),
      ),
    ])
    const mounted = created.some(({ status }) => status === 201)
    const isGone = removed?.status === 202
    expect([mounted, isGone].filter(Boolean), created.map(({ text }) => text).join()).toHaveLength(1)
  }
})
