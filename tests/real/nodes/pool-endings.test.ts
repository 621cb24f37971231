// Pools of real agents on a real platform, when nodes and tenants end: releases, removals by force, deleted tenants, and
// machines that come back with their data or with another pool.

import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openBtrfsPool } from '@holdfast/agent/adapters/btrfs/open-pool'
import { unmountBelow } from '@holdfast/agent/adapters/btrfs/pool.fixture'
import { createDockerEngine } from '@holdfast/agent/adapters/docker/docker-engine'
import { type Agent, startAgent } from '@holdfast/agent/agent'
import { enroll } from '@holdfast/agent/enroll/enroll'
import { startSession } from '@holdfast/agent/session/start-session'
import { loadNodeState } from '@holdfast/agent/state/node-state'
import { AGENT_CAPABILITIES, defined } from '@holdfast/contract'
import { poolMarks } from '@holdfast/server/store/records'
import { makeTempFolder, waitUntil } from '@holdfast/testkit'
import { joinToken } from '@holdfast/testkit/nodes/enroll'
import type { ApiClient } from '@holdfast/testkit/platform/api-client'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import { makeTenant, type Platform } from '@holdfast/testkit/platform/start-platform'
import { runCommand } from '@holdfast/testkit/run-command'
import { openRaw } from '@holdfast/testkit/session/raw-agent'
import { enrollVolumeNode } from '@holdfast/testkit/session/volume-agent'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

const MIB = 1024 ** 2
const MARKER = `marker-${randomUUID()}`
const ENGINE = '/nonexistent/docker.sock'
const ROLES = ['api', 'broker', 'gateway', 'controllers']
const QUICK = { steadyMs: 10_000, openMs: 20_000, reconnectDelayMs: () => 100 }
const LONG = { timeout: 120_000 }

let platform: Platform
let admin: ApiClient
beforeAll(async () => {
  platform = await ownPlatform({ settings: { roles: ROLES, volumes: { enabled: true } } })
  admin = platform.api()
})
afterAll(() => platform.stop())

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

interface Tenant {
  readonly id: string
  readonly api: ApiClient
  readonly volumes: string
}
let serial = 0
async function newTenant(): Promise<Tenant> {
  serial += 1
  const { id, token } = await makeTenant(admin, `endings-${serial}`)
  return { id, api: platform.api(token), volumes: `/api/v1/tenants/${id}/volumes` }
}

interface Machine {
  readonly root: string
  /** Enrolls the machine for a tenant; returns the id of the node. */
  enroll(tenant: Tenant): Promise<string>
  start(): Promise<void>
  /** Ends the agent and the mounts, as a power failure does. */
  stop(): Promise<void>
  at(volume: string, name: string): string
  /** The files of the pool with the marker, all subvolumes included. */
  marked(): string[]
}

function newMachine(): Machine {
  serial += 1
  const name = `m${serial}`
  const { path: folder, remove } = makeTempFolder('machine')
  const source = { path: join(folder, 'pool.img'), sizeBytes: 192 * MIB }
  const log = pino({ level: 'silent' })
  let agent: Agent | undefined
  const root = join(folder, 'pool')
  const machine: Machine = {
    root,
    async enroll({ api }) {
      const engineVersion = { version: '29.5.1', apiVersion: '1.56' }
      const given = { joinToken: await joinToken(api, name), nodeName: name, labels: {}, folder }
      const enrolled = await enroll({
        server: platform.baseUrl,
        ...given,
        engine: `unix://${ENGINE}`,
        engineVersion,
      })
      return enrolled.nodeId
    },
    async start() {
      const state = await loadNodeState(folder)
      if (state === undefined) throw new Error('not enrolled')
      agent = await startAgent({
        state,
        folder,
        engine: createDockerEngine(ENGINE),
        startSession: (options) => startSession(options, QUICK),
        openPool: (order) =>
          openBtrfsPool(source, folder, undefined, { tenant: state.tenant, ...defined({ order }) }),
        log,
      })
    },
    async stop() {
      await agent?.close()
      agent = undefined
      unmountBelow(folder)
    },
    at: (volume, file) => join(folder, 'volumes', volume, file),
    marked() {
      const { status, stdout } = spawnSync('grep', ['-r', '-l', '-a', MARKER, root], { encoding: 'utf8' })
      if (status === null || status > 1) throw new Error('The pool could not be searched.')
      return stdout.split('\n').filter(Boolean)
    },
  }
  ends.push(async () => {
    await machine.stop()
    remove()
  })
  return machine
}

const field = async (api: ApiClient, path: string, name: string): Promise<unknown> =>
  (await api.get(path)).body[name]

async function until(what: string, is: () => Promise<boolean>): Promise<void> {
  await waitUntil(is, { what, timeoutMs: 60_000 })
}

const volumeIs = ({ api, volumes }: Tenant, id: string, phase: string): Promise<void> =>
  until(`the volume is ${phase}`, async () => (await field(api, `${volumes}/${id}`, 'phase')) === phase)

/** Creates a volume on the node and writes the marker into it. */
async function markedVolume(
  machine: Machine,
  tenant: Tenant,
  nodeId: string,
  name = 'data',
): Promise<string> {
  const body = { name, class: 'replicated', sizeBytes: 16 * MIB, replicas: 0, nodeId }
  const answer = await tenant.api.post(tenant.volumes, body)
  expect(answer.status, answer.text).toBe(201)
  const id = String(Object(answer.body['volume']).id)
  await volumeIs(tenant, id, 'Ready')
  writeFileSync(machine.at(id, 'secret'), MARKER)
  runCommand('sync', ['--file-system', machine.root])
  return id
}

/** Data that no record knows: an interrupted receive, and quarantined data. */
function leaveTraces({ root }: Machine): void {
  for (const folder of ['incoming/broken', 'quarantine/vol_01JD0000000000000000000000/1']) {
    mkdirSync(join(root, folder), { recursive: true })
    runCommand('btrfs', ['subvolume', 'create', join(root, folder, 'live')])
    writeFileSync(join(root, folder, 'live', 'secret'), MARKER)
  }
}

const releasedEvent = async (api: ApiClient): Promise<unknown> => {
  const { body } = await api.get('/api/v1/events?type=node.claim_released')
  const items: unknown[] = Object(body['items'])
  return items.at(-1)
}

const subvolumesOf = ({ root }: Machine): string => runCommand('btrfs', ['subvolume', 'list', root])

test('a release ends after the agent has deleted every byte of the tenant', LONG, async () => {
  const [former, next] = [await newTenant(), await newTenant()]
  const machine = newMachine()
  const nodeId = await machine.enroll(former)
  await machine.start()
  const id = await markedVolume(machine, former, nodeId)
  leaveTraces(machine)
  const path = `/api/v1/nodes/${nodeId}`
  expect((await former.api.delete(path)).status).toBe(202)
  expect((await former.api.get(path)).body['claims']).toEqual([{ own: true, state: 'releasing' }])
  expect(machine.marked().length).toBe(3)
  expect((await former.api.delete(`${former.volumes}/${id}`)).status).toBe(202)
  await until('the node is gone', async () => (await former.api.get(path)).status === 404)
  expect([machine.marked(), subvolumesOf(machine)]).toEqual([[], ''])
  expect(await releasedEvent(former.api)).toMatchObject({
    message: expect.stringContaining('has confirmed that no data of volumes is left'),
    data: { pool: 'wiped' },
  })

  await machine.stop()
  const newId = await machine.enroll(next)
  await machine.start()
  const own = await markedVolume(machine, next, newId)
  expect(machine.marked()).toEqual([join(machine.root, 'volumes', own, 'secret')])
})

test('a pool that was removed by force is emptied before another tenant uses it', LONG, async () => {
  const [former, next] = [await newTenant(), await newTenant()]
  const machine = newMachine()
  const formerId = await machine.enroll(former)
  await machine.start()
  const id = await markedVolume(machine, former, formerId)
  leaveTraces(machine)
  await machine.stop()
  expect((await former.api.delete(`/api/v1/nodes/${formerId}?force=true`)).status).toBe(202)
  await volumeIs(former, id, 'Lost')
  expect(await releasedEvent(former.api)).toMatchObject({ reason: 'forced', data: { pool: 'unknown' } })
  await platform.server.store.fresh()
  const marks = platform.server.store.listWithIds(poolMarks)
  expect(marks).toMatchObject([{ record: { tenant: former.id, volumes: [id] } }])

  const nodeId = await machine.enroll(next)
  await machine.start()
  const created = await next.api.post(next.volumes, {
    ...{ name: 'own', class: 'replicated', sizeBytes: 16 * MIB, replicas: 0, nodeId },
  })
  const own = String(Object(created.body['volume']).id)
  await volumeIs(next, own, 'Ready')
  expect(machine.marked()).toEqual([])
  expect(readdirSync(machine.at(own, '.'))).toEqual([])
  expect(existsSync(join(machine.root, 'quarantine', 'vol_01JD0000000000000000000000'))).toBe(false)
  await platform.server.store.fresh()
  expect(platform.server.store.listWithIds(poolMarks)).toEqual([])
  // The record of the lost volume stays until it is deleted.
  expect(await field(former.api, `${former.volumes}/${id}`, 'phase')).toBe('Lost')
  expect((await former.api.delete(`${former.volumes}/${id}`)).status).toBe(202)
  expect((await former.api.get(`${former.volumes}/${id}`)).status).toBe(404)
})

test(
  'a machine that returns to its tenant brings a lost volume back, and deletes what was deleted',
  LONG,
  async () => {
    const tenant = await newTenant()
    const machine = newMachine()
    const formerId = await machine.enroll(tenant)
    await machine.start()
    const kept = await markedVolume(machine, tenant, formerId, 'kept')
    const deleted = await markedVolume(machine, tenant, formerId, 'deleted')
    await machine.stop()
    await tenant.api.delete(`/api/v1/nodes/${formerId}?force=true`)
    for (const id of [kept, deleted]) await volumeIs(tenant, id, 'Lost')
    expect((await tenant.api.delete(`${tenant.volumes}/${deleted}`)).status).toBe(202)

    const nodeId = await machine.enroll(tenant)
    expect(nodeId).not.toBe(formerId)
    await machine.start()
    await volumeIs(tenant, kept, 'Ready')
    expect(await field(tenant.api, `${tenant.volumes}/${kept}`, 'primary')).toMatchObject({
      nodeId,
      epoch: 1,
    })
    expect(readFileSync(machine.at(kept, 'secret'), 'utf8')).toBe(MARKER)
    await until('the deleted volume is gone', async () => machine.marked().length === 1)
    expect(existsSync(join(machine.root, 'volumes', deleted))).toBe(false)
  },
)

test('a deleted tenant ends after its agents have deleted every byte', LONG, async () => {
  const tenant = await newTenant()
  const machine = newMachine()
  const nodeId = await machine.enroll(tenant)
  await machine.start()
  await markedVolume(machine, tenant, nodeId)
  leaveTraces(machine)
  expect((await admin.delete(`/api/v1/tenants/${tenant.id}`)).status).toBe(202)
  await until(
    'the tenant is gone',
    async () => (await admin.get(`/api/v1/tenants/${tenant.id}`)).status === 404,
  )
  expect([machine.marked(), subvolumesOf(machine)]).toEqual([[], ''])
})

test(
  'a node with another pool is degraded, and gets no volume work until its pool is back',
  LONG,
  async () => {
    const tenant = await newTenant()
    serial += 1
    const node = await enrollVolumeNode(platform.baseUrl, tenant.api, `r${serial}`)
    const [first, second] = [randomUUID(), randomUUID()]
    const storageOf = (poolId: string) => ({ poolBytes: 2 ** 40, usedBytes: 0, poolId })
    const agent = await openRaw(
      platform.baseUrl,
      { ...node, generation: 1 },
      { capabilities: [...AGENT_CAPABILITIES], storage: storageOf(first) },
    )
    const shown = async () => (await tenant.api.get(`/api/v1/nodes/${node.nodeId}`)).body
    const becomes = async (poolId: string, status: string) => {
      const { session } = agent
      const pool = { storage: storageOf(poolId), copies: [], quarantined: [] }
      agent.send({ type: 'status', session, observations: [], pool })
      await until(`the node is ${status}`, async () => (await shown())['status'] === status)
    }
    expect(await shown()).toMatchObject({ status: 'ready', storage: { poolId: first } })
    await becomes(second, 'degraded')
    expect(await shown()).toMatchObject({
      status: 'degraded',
      reason: 'pool_changed',
      storage: { poolBytes: 0, poolId: second, fault: 'pool_changed' },
    })
    const { body } = await tenant.api.get('/api/v1/events?type=node.degraded')
    expect(body['items']).toMatchObject([{ reason: 'pool_changed', data: { poolId: first, found: second } }])
    const made = await tenant.api.post(tenant.volumes, {
      ...{ name: 'none', class: 'replicated', sizeBytes: 16 * MIB, replicas: 0 },
    })
    const volume = Object(made.body['volume'])
    expect(volume.phase).toBe('Pending')
    const why = await tenant.api.get(`${tenant.volumes}/${volume.id}/why`)
    expect(why.text).toContain('storage_pool_unusable')
    expect(why.text).toContain('Repair the storage pool of')

    // The pool is back.
    await becomes(first, 'ready')
    await volumeIs(tenant, String(volume.id), 'Materializing')
    agent.close()
  },
)
