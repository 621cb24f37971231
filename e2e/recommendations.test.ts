// Every recommendation on real machines: it is listed while its condition holds and no longer afterwards. The recommended
// changes are applied: a copy is added on another node, and the kernel and the writer see the larger and the smaller limit.
// Seven days pass on the clock of an agent, ten minutes on that of a server.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { RECOMMENDATION_TYPES, type Recommendation, type RecommendationType } from '@holdfast/contract'
import { type LabNode, makeTempFolder, waitUntil } from '@holdfast/testkit'
import { runCli } from '@holdfast/testkit/cli/run-cli'
import { newestHeld } from '@holdfast/testkit/faults/promotion-world'
import { liveOf, poolOf } from '@holdfast/testkit/faults/witness'
import { inRun } from '@holdfast/testkit/long-run'
import type { ApiClient } from '@holdfast/testkit/platform/api-client'
import { clockFile, steppedClockEnv } from '@holdfast/testkit/scenarios/lab-agents'
import { eventsOf, untilPhase } from '@holdfast/testkit/scenarios/lab-reads'
import { TIMES } from '@holdfast/testkit/scenarios/liveness-times'
import { type ServerProcess, startServerProcess } from '@holdfast/testkit/scenarios/server-process'
import { type LabPlatform, startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

const MIB = 1024 ** 2
const DAY_MS = 86_400_000
const WEEK_MS = 7 * DAY_MS
const UNHEALTHY_MS = 600_000
/** How far the clock of the second server is ahead. The long run waits for the ten minutes. */
const AHEAD_MS = inRun(UNHEALTHY_MS, 0)
const PATIENCE_MS = inRun(90_000, UNHEALTHY_MS + 300_000)
/** The limit that an agent sets is so many times the size of the volume. */
const CLAIM = 2

const MOUNTED = ['full', 'emptied', 'roomy'] as const
const NAMES = [...MOUNTED, 'bare'] as const
type Name = (typeof NAMES)[number]
const SMALL = 16 * MIB
const LARGE = 128 * MIB
/** All primaries are on acme-1. */
const VOLUMES: { readonly [name in Name]: { readonly sizeBytes: number; readonly replicas: number } } = {
  full: { sizeBytes: SMALL, replicas: 1 },
  emptied: { sizeBytes: SMALL, replicas: 1 },
  roomy: { sizeBytes: LARGE, replicas: 0 },
  bare: { sizeBytes: SMALL, replicas: 0 },
}

let cluster: LabPlatform
let ahead: ServerProcess
let container = ''
const clock = makeTempFolder('clock')
const ids = new Map<Name, string>()
const appeared = new Map<RecommendationType, number>()
const vanished = new Map<RecommendationType, number>()

const api = () => cluster.api('acme')
const volumePath = () => `/api/v1/tenants/${cluster.platform.acme.id}/volumes`
const idOf = (name: Name): string => ids.get(name) ?? ''
const readVolume = async (name: Name) => Object((await api().get(`${volumePath()}/${idOf(name)}`)).body)
const primary = (): LabNode => cluster.node('acme-1')
const other = (): LabNode => cluster.node('acme-2')

beforeAll(async () => {
  cluster = await startLabPlatform({
    nodesPerTenant: { acme: 2, globex: 0 },
    // With a longer lease, an agent that restarts slowly loses no volume to another node.
    agents: { steppableClock: true, promiseLeaseSeconds: 60 },
    settings: { volumes: { enabled: true }, liveness: TIMES },
  })
  const file = join(clock.path, 'ahead')
  writeFileSync(file, String(AHEAD_MS))
  const roles = ['api', 'broker']
  ;[ahead] = await Promise.all([
    startServerProcess(cluster.platform, roles, steppedClockEnv(file)),
    startWriter(),
  ])
})
afterAll(async () => {
  await ahead?.remove()
  await cluster?.stop()
  clock.remove()
})

async function startWriter(): Promise<void> {
  const nodeId = await nodeIdOf('acme-1')
  for (const name of NAMES) {
    const sent = { name, class: 'replicated', nodeId, ...VOLUMES[name] }
    const created = await api().post(volumePath(), sent)
    expect(created.status, created.text).toBe(201)
    ids.set(name, Object(created.body['volume']).id)
  }
  for (const name of NAMES) await untilReplicated(name)
  const volumes = MOUNTED.map((name) => ({
    volume: idOf(name),
    target: `/${name}`,
    type: 'volume',
    readOnly: false,
  }))
  const body = { kind: 'Deployment', name: 'writer', image: cluster.image, replicas: 1, volumes }
  const deployed = await api().post('/api/v1/deployments', { ...body, stopGracePeriod: '1s' })
  expect(deployed.status, deployed.text).toBe(201)
  await untilPhase(api(), 'writer', 'Running')
  const listed = ['docker', 'ps', '-q', '--filter', 'label=holdfast.io/name=writer']
  container = (await primary().exec(listed)).trim()
}

async function nodeIdOf(name: string): Promise<string> {
  const items: { id: string; name: string }[] = Object((await api().get('/api/v1/nodes')).body['items'])
  return items.find((node) => node.name === name)?.id ?? ''
}

/** Waits until the volume has all its copies and none of them lags. */
async function untilReplicated(name: Name): Promise<void> {
  let seen: unknown
  await waitUntil(
    async () => {
      const { phase, reason, copies, replicas } = await readVolume(name)
      seen = { phase, reason, copies }
      return phase === 'Ready' && reason === null && copies.length === replicas + 1
    },
    { what: `${name} has its copies`, timeoutMs: PATIENCE_MS, seen: () => JSON.stringify(seen) },
  )
}

/** Runs a command in the container of the writer. */
const inWriter = (...words: string[]): Promise<string> =>
  primary().exec(['docker', 'exec', container, ...words])

const write = (path: string, mib: number): Promise<string> =>
  inWriter('dd', 'if=/dev/urandom', `of=${path}`, 'bs=1M', `count=${mib}`, 'conv=fsync')

const hashOf = async (file: string): Promise<string[]> =>
  (await primary().exec(['sha256sum', file])).split(' ')

/** The limit of a volume on the node of its primary in bytes, from the kernel. */
async function limitOf(name: Name): Promise<number> {
  const output = await primary().exec([
    'btrfs',
    'qgroup',
    'show',
    '-reF',
    '--raw',
    liveOf(primary(), idOf(name)),
  ])
  const [, , , limit] = output.trim().split('\n').at(-1)?.trim().split(/\s+/) ?? []
  return Number(limit)
}

async function list(filter = '', from: ApiClient = api()): Promise<Recommendation[]> {
  const headers = { 'X-Tenant-ID': cluster.platform.acme.id }
  const answer = await from.get(`/api/v1/dvm/recommendations${filter}`, headers)
  expect(answer.status, answer.text).toBe(200)
  return Object(answer.body['items'])
}

const namesOf = (listed: readonly Recommendation[]): string[] =>
  listed.map(({ volume_name }) => volume_name).toSorted()

const find = async (name: Name, type: RecommendationType, from?: ApiClient) =>
  (await list(`?type=${type}`, from)).find(({ volume_name }) => volume_name === name)

/** Waits until the recommendation is listed and can be applied, or is listed at all. */
async function untilListed(
  name: Name,
  type: RecommendationType,
  {
    from,
    isListed = ({ applicable }) => applicable,
  }: {
    readonly from?: ApiClient
    readonly isListed?: (one: Recommendation) => boolean
  } = {},
): Promise<Recommendation> {
  const began = performance.now()
  let seen: unknown
  const found = await waitUntil(
    async () => {
      const listed = await list('', from)
      seen = { listed, volume: await readVolume(name) }
      return listed.find((one) => one.volume_name === name && one.type === type && isListed(one))
    },
    { what: `${type} of ${name} is listed`, timeoutMs: PATIENCE_MS, seen: () => JSON.stringify(seen) },
  )
  appeared.set(type, performance.now() - began)
  return found
}

async function untilGone(name: Name, type: RecommendationType, from?: ApiClient): Promise<void> {
  const began = performance.now()
  await waitUntil(async () => (await find(name, type, from)) === undefined, {
    what: `${type} of ${name} is no longer listed`,
    timeoutMs: PATIENCE_MS,
  })
  vanished.set(type, performance.now() - began)
}

async function applyOverHttp({ id }: Recommendation): Promise<void> {
  const answer = await api().post(`/api/v1/dvm/recommendations/${id}/apply`, {})
  expect(answer.status, answer.text).toBe(202)
  const applied = await eventsOf(api(), 'recommendation.applied')
  expect(applied.filter(({ data }) => Object(data).recommendationId === id)).toHaveLength(1)
}

/** Sets the clock of the primary's agent and restarts the agent, which then measures its volumes. */
async function measureAt(offsetMs: number): Promise<void> {
  writeFileSync(clockFile(primary()), String(offsetMs))
  await cluster.lab.restartAgent(primary())
}

test('lists a volume without a replica until the recommended copy is in sync on another node', async () => {
  const { codes } = await api().get('/api/v1/dvm/recommendations')
  expect(codes).toEqual(['dvm_recommendation_tenant_required'])
  const found = await untilListed('roomy', 'under_replicated')
  expect(namesOf(await list('?priority=high&type=under_replicated'))).toEqual(['bare', 'roomy'])
  expect(await list('?priority=medium')).toEqual([])
  await write('/roomy/data', 20)
  await applyOverHttp(found)
  await untilGone('roomy', 'under_replicated')
  await untilReplicated('roomy')
  const { copies } = await readVolume('roomy')
  expect(copies.map(({ nodeName }: { nodeName: string }) => nodeName).toSorted()).toEqual([
    'acme-1',
    'acme-2',
  ])
  const volume = idOf('roomy')
  const [sent] = await hashOf(join(liveOf(primary(), volume), 'data'))
  const isHeld = async (): Promise<boolean> => {
    const newest = newestHeld(other(), volume) ?? ''
    const [held] = await hashOf(join(poolOf(other()), 'checkpoints', volume, newest, newest, 'data'))
    return held === sent
  }
  await waitUntil(isHeld, { what: 'the copy has the bytes of the writer' })
})

test('lists full volumes, and one with little data for 7 days, until the recommended size is applied', async () => {
  await write('/full/data', 15)
  await write('/emptied/data', 15)
  expect([await limitOf('full'), await limitOf('roomy')]).toEqual([CLAIM * SMALL, CLAIM * LARGE])

  // A week ago: capacity_excess needs seven days, and a size is not changed by an old measurement.
  await measureAt(-WEEK_MS)
  const isOld = ({ measured }: Recommendation): boolean =>
    Date.parse(measured.measuredAt ?? '') < Date.now() - WEEK_MS + DAY_MS
  const outdated = await untilListed('full', 'capacity_low', { isListed: isOld })
  expect(outdated.applicable).toBe(false)
  const refused = await api().post(`/api/v1/dvm/recommendations/${outdated.id}/apply`, {})
  expect(refused.codes).toEqual(['dvm_recommendation_not_applicable'])
  expect(await find('roomy', 'capacity_excess')).toBeUndefined()

  await measureAt(0)
  const small = await untilListed('full', 'capacity_low')
  expect(small.id).toBe(outdated.id)
  const large = await untilListed('roomy', 'capacity_excess')
  expect(namesOf(await list('?type=capacity_low'))).toEqual(['emptied', 'full'])
  await inWriter('rm', '/emptied/data')

  await applyOverHttp(small)
  await untilGone('full', 'capacity_low')
  await untilResized('full', 23 * MIB)
  // With the 15 MiB before, these are more than the old limit.
  await write('/full/more', 20)
  await applyOverHttp(large)
  await untilGone('roomy', 'capacity_excess')
  await untilResized('roomy', 27 * MIB)
  await expect(write('/roomy/more', 40)).rejects.toThrow(/quota|space/i)
})

async function untilResized(name: Name, sizeBytes: number): Promise<void> {
  await waitUntil(async () => (await limitOf(name)) === CLAIM * sizeBytes, {
    what: `${name} has the limit of ${sizeBytes} bytes`,
  })
  await untilReplicated(name)
  expect(await readVolume(name)).toMatchObject({ sizeBytes })
}

test('lists a copy on a lost machine after 10 minutes, until the machine is back', async () => {
  const later = ahead.api(cluster.platform.acme.token)
  await cluster.lab.powerOff(other())
  const isListed = ({ why }: Recommendation): boolean => why.includes('acme-2')
  const found = await untilListed('full', 'replica_unhealthy', { from: later, isListed })
  expect(found).toMatchObject({ priority: 'high', applicable: false })
  if (AHEAD_MS > 0) expect(await list('?type=replica_unhealthy')).toEqual([])
  await cluster.lab.powerOn(other())
  await untilReplicated('full')
  await untilGone('full', 'replica_unhealthy', later)
})

test('lists a full volume no longer once its data is deleted', async () => {
  await untilGone('emptied', 'capacity_low')
})

test('lists volumes whose primary is on a cordoned node', async () => {
  const node = `/api/v1/nodes/${await nodeIdOf('acme-1')}`
  expect((await api().post(`${node}/cordon`, undefined)).status).toBe(200)
  await untilListed('bare', 'primary_at_risk')
  expect(namesOf(await list('?priority=critical&type=primary_at_risk'))).toEqual(NAMES.toSorted())
  expect((await api().post(`${node}/uncordon`, undefined)).status).toBe(200)
  await untilGone('bare', 'primary_at_risk')
})

test('lists and applies a recommendation by the command line', async () => {
  const env = { HOLDFAST_URL: cluster.platform.baseUrl, HOLDFAST_TOKEN: cluster.platform.acme.token }
  const cli = (...words: string[]) => runCli(['volume', 'recommendations', ...words], { env })
  const listed = await cli('--type', 'under_replicated')
  expect(listed.stderr).toBe('')
  const [id = ''] = /rec_[0-9a-f]{26}/.exec(listed.stdout) ?? []
  expect(listed.stdout).toMatch(new RegExp(`${id} +high +bare +under_replicated +replicas to 1 +yes`))
  const applied = await cli('apply', id, '--wait')
  expect(applied.code, applied.stderr).toBe(0)
  expect(applied.stdout).toMatch(/^volume\/bare changed: 16MiB, 1 replica$/m)
  await untilReplicated('bare')
  expect((await cli('--type', 'under_replicated')).stdout).not.toContain(id)
  expect((await cli('apply', id)).stderr).toContain('dvm_recommendation_not_found')
})

test('has seen every type of recommendation appear and vanish', () => {
  const seconds = (times: ReadonlyMap<RecommendationType, number>, type: RecommendationType): string =>
    ((times.get(type) ?? Number.NaN) / 1000).toFixed(1)
  for (const type of RECOMMENDATION_TYPES)
    console.log(`${type}: listed after ${seconds(appeared, type)} s, gone after ${seconds(vanished, type)} s`)
  const all = RECOMMENDATION_TYPES.toSorted()
  expect([[...appeared.keys()].toSorted(), [...vanished.keys()].toSorted()]).toEqual([all, all])
})
