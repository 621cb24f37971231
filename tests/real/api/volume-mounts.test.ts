// Mounts of volumes over HTTP on a real etcd: every rejection with the store unchanged, alterations and warnings, the
// claim of the one writer, and concurrent writes that want the same volume.

import type { Alteration, JsonObject, Warning } from '@holdfast/contract'
import { isTenantId } from '@holdfast/contract'
import { waitUntil } from '@holdfast/testkit'
import { inRun } from '@holdfast/testkit/long-run'
import { makeNode } from '@holdfast/testkit/nodes/enroll'
import { givePool } from '@holdfast/testkit/nodes/give-pool'
import { makeVolumeReady } from '@holdfast/testkit/nodes/ready-volume'
import type { ApiAnswer, ApiClient } from '@holdfast/testkit/platform/api-client'
import { dumpTenants } from '@holdfast/testkit/platform/dump-keys'
import { makeTenant, type Platform, startPlatform } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const GIB = 1024 ** 3
const WRITES = inRun(200, 1_000)
const COLLECTION = '/api/v1/deployments'
const PATIENCE = { timeout: 180_000 }

let platform: Platform
let tenant: string
let api: ApiClient
let path: string
let nodeIds: string[]

beforeAll(async () => {
  platform = await startPlatform({
    settings: { volumes: { enabled: true }, quotas: { deployments: 5_000 } },
  })
  const made = await makeTenant(platform.api(), 'mounting')
  tenant = made.id
  api = platform.api(made.token)
  path = `/api/v1/tenants/${tenant}/volumes`
  nodeIds = []
  for (const name of ['m-1', 'm-2', 'm-3']) {
    const nodeId = await makeNode(platform.baseUrl, api, name)
    await givePool(platform, tenant, nodeId, 100 * GIB)
    nodeIds.push(nodeId)
  }
})
afterAll(() => platform.stop())

let serial = 0
const unique = (prefix: string) => `${prefix}-${++serial}`

/** Creates a volume; by default it is Ready, with its primary on the first node and a copy on the second. */
async function volume(
  parts: JsonObject = {},
  copies: { primary?: string; replicas?: string[] } | 'as created' = {},
): Promise<string> {
  const sent = { name: unique('data'), class: 'replicated', sizeBytes: 2 ** 24, replicas: 1, ...parts }
  const answer = await api.post(path, sent)
  expect(answer.status, answer.text).toBe(201)
  const id = String(Object(answer.body['volume']).id)
  const replicas = parts['class'] === 'ephemeral' ? [] : [nodeIds[1] ?? '']
  if (copies !== 'as created')
    await makeVolumeReady(platform, tenant, id, { primary: nodeIds[0] ?? '', replicas, ...copies })
  return id
}

const ephemeral = () => volume({ class: 'ephemeral', replicas: 0 })

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
  readonly alterations: readonly Alteration[]
  readonly warnings: readonly Warning[]
}

async function create(parts: JsonObject): Promise<Written> {
  const answer = await api.post(COLLECTION, bodyOf(parts))
  expect(answer.status, answer.text).toBe(201)
  return JSON.parse(answer.text)
}

const update = (name: string, parts: JsonObject) => api.send('PUT', `${COLLECTION}/${name}`, parts)

/** Expects one rejection at one field, also from a dry run, and that no key of any tenant changes. */
async function expectRejected(
  send: (query: string) => Promise<ApiAnswer>,
  status: number,
  code: string,
  field: string,
): Promise<ApiAnswer> {
  const before = await dumpTenants(platform)
  const dry = await send('?dryRun=true')
  const answer = await send('')
  for (const each of [dry, answer])
    expect([each.status, each.codes, each.body['field']], each.text).toEqual([status, [code], field])
  expect(await dumpTenants(platform)).toEqual(before)
  return answer
}

const rejectsCreate = (parts: JsonObject, status: number, code: string, field: string) => {
  const body = bodyOf(parts)
  return expectRejected((query) => api.post(`${COLLECTION}${query}`, body), status, code, field)
}

const rejectsUpdate = (name: string, parts: JsonObject, status: number, code: string, field: string) =>
  expectRejected((query) => api.send('PUT', `${COLLECTION}/${name}${query}`, parts), status, code, field)

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

describe('rejected mounts', () => {
  const AT = 'volumes[0].volume'

  test('of a volume that does not exist, or of another tenant', async () => {
    const unknown = 'vol_01JCPZ0000000000000000000A'
    await rejectsCreate({ volumes: [mount(unknown)] }, 422, 'volume_not_found', AT)
  })

  test('of the class object', async () => {
    const id = await volume({ class: 'object', replicas: 0 }, 'as created')
    await rejectsCreate({ volumes: [mount(id)] }, 422, 'volume_class_not_wired', AT)
  })

  test('of a malformed mount, and of a replicated volume in memory', async () => {
    const id = await volume()
    const shape = 'volume_mount_shape'
    await rejectsCreate({ volumes: [mount(id, { type: 'tmpfs' })] }, 422, shape, 'volumes[0].type')
    await rejectsCreate({ volumes: [mount(id, { source: '/' })] }, 422, shape, 'volumes[0].source')
    await rejectsCreate({ volumes: [mount(id), mount(id)] }, 422, shape, 'volumes[1].target')
  })

  test('of a volume that is not Ready, unless the deployment has it already', async () => {
    const id = await volume({}, 'as created')
    await rejectsCreate({ volumes: [mount(id)] }, 409, 'volume_not_ready', AT)
    const { deployment } = await create({})
    await rejectsUpdate(deployment.name, { volumes: [mount(id)] }, 409, 'volume_not_ready', AT)
  })

  test('of a second writer, and of several replicas that write', async () => {
    const id = await volume()
    const { deployment } = await create({ volumes: [mount(id)] })
    const conflict = 'volume_access_mode_conflict'
    const answer = await rejectsCreate({ volumes: [mount(id)] }, 409, conflict, AT)
    expect(answer.body['why']).toContain(deployment.name)
    const reader = await create({ volumes: [mount(id, { readOnly: true })] })
    await rejectsUpdate(reader.deployment.name, { volumes: [mount(id)] }, 409, conflict, AT)
    await rejectsUpdate(deployment.name, { replicas: 2 }, 409, conflict, AT)
    const scratch = await ephemeral()
    await create({ volumes: [mount(scratch, { type: 'tmpfs' })] })
    await rejectsCreate({ volumes: [mount(scratch)] }, 409, conflict, AT)
  })

  test('beside a nodeId that is not the primary, and of volumes with two primaries', async () => {
    const [id, elsewhere] = [await volume(), await volume({}, { primary: nodeIds[2] ?? '' })]
    const mismatch = 'volume_primary_mismatch'
    await rejectsCreate({ nodeId: nodeIds[1] ?? '', volumes: [mount(id)] }, 409, mismatch, 'nodeId')
    const both = [mount(id), mount(elsewhere, { target: '/other' })]
    await rejectsCreate({ volumes: both }, 409, mismatch, 'volumes[1].volume')
    const { deployment } = await create({ volumes: [mount(id)] })
    await rejectsUpdate(deployment.name, { nodeId: nodeIds[1] ?? '' }, 409, mismatch, 'nodeId')
  })

  test('that drop or repoint a secret on which the data of a mounted volume depends', async () => {
    const id = await volume()
    const label = unique('db')
    const secret = { name: 'DB', vault_path: `deployments/${label}`, anchor: `volume(${id})` }
    const { deployment } = await create({ volumes: [mount(id)], secrets: [secret] })
    const { name } = deployment
    await rejectsUpdate(name, { secrets: [] }, 409, 'anchored_secret_dropped', 'secrets')
    const other = { ...secret, vault_path: `deployments/${unique('db')}` }
    await rejectsUpdate(name, { secrets: [other] }, 409, 'anchored_secret_repointed', 'secrets[0].vault_path')
    const released = await update(name, { secrets: [], volumes: [] })
    expect(released.status, released.text).toBe(200)
  })

  test('of a volume that is to be deleted while something mounts it', async () => {
    const id = await volume()
    const reader = await create({ volumes: [mount(id, { readOnly: true })] })
    const remove = () => api.delete(`${path}/${id}`)
    await expectRejected(remove, 409, 'volume_in_use', 'id')
    expect((await update(reader.deployment.name, { volumes: [mount(id)] })).status).toBe(200)
    await expectRejected(remove, 409, 'volume_in_use', 'id')
  })
})

test('alterations and warnings of mounts', async () => {
  const [id, other] = [await volume(), await volume({}, { replicas: [nodeIds[2] ?? ''] })]
  const both = [mount(id), mount(other, { target: '/other' })]
  const { deployment, alterations, warnings } = await create({ nodeId: nodeIds[0] ?? '', volumes: both })
  expect(deployment['nodeId']).toBeUndefined()
  expect(Object(deployment['update']).order).toBe('stop-first')
  expect(alterations).toContainEqual(
    expect.objectContaining({ code: 'node_follows_volume', field: 'nodeId', from: nodeIds[0], to: null }),
  )
  expect(alterations).toContainEqual(
    expect.objectContaining({ code: 'update_order_stop_first', field: 'update.order', to: 'stop-first' }),
  )
  expect(warnings.map(({ code }) => code)).toContain('volumes_not_promotable_together')
  const again = await update(deployment.name, { nodeId: nodeIds[0] ?? '' })
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
  await expectRejected(
    (query) => api.send('PUT', `${COLLECTION}/${name}${query}`, { volumes: [mount(other)] }),
    409,
    'volume_access_mode_conflict',
    'volumes[0].volume',
  )
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
