// A whole platform on an etcd with a small quota: tenants are rejected before etcd is full; when it is full all the same,
// reads, agents and deletions continue, and the platform clears the alarm itself.

import type { NodeId } from '@holdfast/contract'
import { createEtcdClient } from '@holdfast/server/adapters/etcd/create-etcd-client'
import type { EngineError } from '@holdfast/server/ports/key-value'
import { write } from '@holdfast/simulation/conformance/fixtures'
import { makeSimulatedKeys, startEtcd, startSimulatedAgents, uniqueName, waitUntil } from '@holdfast/testkit'
import { readEtcdStatus } from '@holdfast/testkit/engines/etcd-admin'
import { inRun } from '@holdfast/testkit/long-run'
import { makeNode } from '@holdfast/testkit/nodes/enroll'
import { type Platform, startPlatform } from '@holdfast/testkit/platform/start-platform'
import { expect, onTestFinished, test } from 'vitest'

const MIB = 1024 ** 2
/** Most of the time passes until the file is large enough, so CI uses a quarter of the size of the long run, and one member. */
const QUOTA = inRun(8, 32) * MIB
const MEMBERS = inRun(1, 3)
const LARGE = 'x'.repeat(100_000)

async function startWorld() {
  const etcd = await startEtcd({ members: MEMBERS, quotaBytes: QUOTA })
  onTestFinished(() => etcd.stop())
  const { endpoints } = etcd
  const root = `/${uniqueName('full')}`
  const platform = await startPlatform({
    endpoints,
    root,
    settings: {
      roles: ['api', 'controllers', 'gateway', 'broker'],
      etcd: { endpoints, root, quotaBytes: QUOTA, defragmentation: { minimumBytes: 0, intervalSeconds: 1 } },
      quotas: { stored_bytes: 10 * QUOTA },
    },
  })
  onTestFinished(() => platform.stop())
  const fileBytes = async () =>
    Math.max(
      ...(await Promise.all(endpoints.map((one) => readEtcdStatus(one, 10_000)))).map(
        (one) => one.dbSizeBytes,
      ),
    )
  return { platform, api: platform.api(platform.acme.token), endpoints, fileBytes }
}

type World = Awaited<ReturnType<typeof startWorld>>

const storeOf = async (platform: Platform) => {
  const { body } = await platform.api().get('/api/v1/platform')
  return body['store'] as { fileBytes: number | null; usedPercent: number; alarms: string[] }
}

/** Creates large deployments until one is rejected; in the second half each after the size of the store was measured. */
async function createUntilRejected({ api, platform, fileBytes }: World) {
  for (let index = 0; ; index += 1) {
    const created = await create(api, platform, `large-${index}`)
    if (created.status !== 201) return { rejected: created, names: index }
    const size = await fileBytes()
    if (size < QUOTA / 2) continue
    await waitUntil(async () => ((await storeOf(platform)).fileBytes ?? 0) >= size, {
      what: 'the store is measured',
    })
  }
}

const create = (api: World['api'], { image }: Platform, name: string) =>
  api.post('/api/v1/deployments', { kind: 'Deployment', name, image, replicas: 0, args: [LARGE] })

/**
 * Writes what no quota limits, as anything that grows besides the records of tenants. It continues when the platform has cleared
 * the alarm, until nothing in the file is free and the reserve is released.
 */
async function fillUp(world: World): Promise<void> {
  const { endpoints, platform } = world
  const engine = createEtcdClient({ endpoints })
  onTestFinished(() => engine.close())
  const refusals = new Set<unknown>()
  let index = 0
  const fill = async () => {
    for (; ; index += 1) await write(engine, `/other/${index}/`, new Uint8Array(10_000))
  }
  const isReleased = async () => {
    await fill().catch((error: EngineError) => refusals.add(error.reason))
    await expectReads(world)
    return messagesOf(platform).includes(RELEASED)
  }
  await waitUntil(isReleased, { what: 'the reserve is released', timeoutMs: 60_000 })
  expect(refusals).toContain('no_space')
}

/** The requests and sessions that need no write work as before, also in the seconds in which etcd accepts none. */
async function expectReads({ api }: World): Promise<void> {
  const paths = ['', '/web', '/web/status', '/web/why'].map((path) => `/api/v1/deployments${path}`)
  for (const path of [...paths, '/api/v1/events', '/api/v1/audit']) {
    const { status, text } = await api.get(path)
    expect([path, status], text).toEqual([path, 200])
  }
  const { body } = await api.get('/api/v1/nodes')
  expect(body['items']).toMatchObject([{ name: 'acme-1', status: 'ready' }])
}

const RELEASED = 'etcd is full, reserve released so that deletions can be written'
const messagesOf = ({ logLines }: Platform) => logLines.map((line) => String(JSON.parse(line).msg))

async function startAgent({ platform, api }: World) {
  const { identityKey, publicKey, encryptionKey } = makeSimulatedKeys()
  const nodeId = (await makeNode(platform.baseUrl, api, 'acme-1', {
    sent: { publicKey, encryptionKey },
  })) as NodeId
  const nodes = [{ nodeId, generation: 1, identityKey }]
  const agents = await startSimulatedAgents({ url: platform.baseUrl, nodes, report: true })
  onTestFinished(() => agents.close())
  return agents
}

test('a full etcd: reads, agents and deletions continue, and the platform recovers', async () => {
  const world = await startWorld()
  const { api, platform, fileBytes } = world
  const agents = await startAgent(world)
  const { image } = platform
  await api.post('/api/v1/deployments', { kind: 'Deployment', name: 'web', image })
  const phase = async () => (await api.get('/api/v1/deployments/web/status')).body['phase']
  await waitUntil(async () => (await phase()) === 'Running', { what: 'the deployment runs' })

  const { rejected, names } = await createUntilRejected(world)
  expect([rejected.status, rejected.codes]).toEqual([409, ['quota_exceeded']])
  expect(rejected.body['rejections']).toMatchObject([
    { field: 'quotas.stored_bytes', received: expect.anything(), expected: expect.anything() },
  ])
  expect((await storeOf(platform)).alarms).toEqual([])
  expect((await api.delete('/api/v1/deployments/large-0')).status).toBe(202)

  const begun = performance.now()
  await fillUp(world)
  const full = performance.now()
  expect(await phase()).toBe('Running')
  expect((await create(api, platform, 'refused')).codes).toEqual(['quota_exceeded'])
  for (let index = 1; index < names; index += 1) {
    const gone = async () =>
      [202, 404].includes((await api.delete(`/api/v1/deployments/large-${index}`)).status)
    await waitUntil(gone, { what: `large-${index} is deleted`, timeoutMs: 60_000 })
  }
  await waitUntil(
    async () => {
      const { alarms, usedPercent } = await storeOf(platform)
      return alarms.length === 0 && usedPercent < 70
    },
    { what: 'the store has recovered', timeoutMs: 60_000 },
  )
  const seconds = (from: number) => Math.round((performance.now() - from) / 1000)
  console.log(
    `${MEMBERS} members of ${QUOTA / MIB} MiB: ${names} large deployments, recovered ${seconds(begun)} s after the ` +
      `filling began, ${seconds(full)} s after the reserve was released, file ${((await fileBytes()) / MIB).toFixed(1)} MiB`,
  )
  expect((await create(api, platform, 'again')).status).toBe(201)
  expect(await phase()).toBe('Running')
  expect([agents.open, agents.counts.closes]).toEqual([1, 0])
  expect(messagesOf(platform)).toEqual(
    expect.arrayContaining(['etcd has room again, alarm NOSPACE cleared', 'etcd alarms cleared']),
  )
  const metrics = await (
    await fetch(`${platform.baseUrl}/metrics`, {
      headers: { authorization: `Bearer ${platform.platformToken}` },
    })
  ).text()
  expect(metrics).toMatch(/holdfast_store_defragmentations_total\{outcome="done"\} [1-9]/)
}, 240_000)
