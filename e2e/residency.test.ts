// Residency on real machines in three countries: every rule with its response and the machines on which the containers
// run; waiting deployments that start automatically; replicas that move when their machine no longer qualifies; and a
// machine that reports a false location. See docs/design/residency.md

import { NODE_COUNTRY, NODE_REGION, RESIDENCY_LABELS } from '@holdfast/contract'
import { startLoad, waitUntil } from '@holdfast/testkit'
import { runCli } from '@holdfast/testkit/cli/run-cli'
import { untilNodesReady } from '@holdfast/testkit/scenarios/lab-agents'
import { eventsOf, placementsOf, startsOn, untilPhase } from '@holdfast/testkit/scenarios/lab-reads'
import { ALLOWED } from '@holdfast/testkit/scenarios/residency-table'
import {
  curedBy,
  deploy,
  homesOf,
  inCountry,
  inRegion,
  type Labels,
  madeOn,
  NOWHERE,
  nodeCalled,
  type Row,
  relabel,
  startResidencyLab,
  untilLabels,
} from '@holdfast/testkit/scenarios/residency-world'
import { edgeOf, hostOf, nodesOf, untilServed } from '@holdfast/testkit/scenarios/routed-page'
import type { LabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { watchReady } from '@holdfast/testkit/scenarios/watch-ready'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'

/** After the label is there. */
const CURED_MS = 2000
const { country: COUNTRY, region: REGION, blockedCountries: BLOCKED } = RESIDENCY_LABELS

let whole: LabPlatform

beforeAll(async () => {
  whole = await startResidencyLab()
})
afterAll(() => whole?.stop())

const at = (name: string) => `/api/v1/deployments/${name}`

async function statusOf(name: string) {
  return Object((await whole.api('acme').get(at(name))).body['status'])
}

async function remove(...names: readonly string[]): Promise<void> {
  for (const name of names) expect((await whole.api('acme').delete(at(name))).status).toBe(202)
  for (const name of names)
    await waitUntil(async () => (await whole.api('acme').get(at(name))).status === 404, {
      what: `${name} is gone`,
    })
}

const onNodes = (numbers: readonly number[]): string[] => numbers.map((number) => `acme-${number} running`)

async function untilOn(name: string, numbers: readonly number[]): Promise<void> {
  let seen: string[] = []
  await waitUntil(
    async () => {
      seen = await homesOf(whole, name)
      return seen.join() === onNodes(numbers).join()
    },
    { what: `${name} runs on ${numbers.join()} and nowhere else`, timeoutMs: 60_000, intervalMs: 200 },
  ).catch((error: Error) => {
    throw new Error(`${error.message} It was: ${seen.join()}`)
  })
}

test('what each demand is stored as, and where its containers are', async () => {
  for (const { labels, nodes, ...row } of ALLOWED) {
    const stored = await deploy(whole, { ...row, replicas: nodes.length })
    const announced = Object.entries(labels).map(([label, value]) => ({ [label]: value }))
    expect([row.name, stored]).toEqual([row.name, { announced, labels, warnings: [] }])
  }
  for (const { name, nodes } of ALLOWED) {
    await untilPhase(whole.api('acme'), name, 'Running')
    expect([name, await homesOf(whole, name)]).toEqual([name, onNodes(nodes)])
  }
  await remove(...ALLOWED.map(({ name }) => name))
})

const block = (residency: object): string => JSON.stringify({ placement: { residency } })

test.each<[string, object, string, string, unknown]>([
  [
    'a region that nobody declares',
    { placement: { residency: { region: 'moon' } } },
    ...(['residency_region_undeclared', 'placement.residency.region'] as const),
    'one of alpine, apac, dach, eea, eu, na, nordics',
  ],
  [
    'a label by hand',
    { labels: { [COUNTRY]: 'DE', [BLOCKED]: 'US,CN' } },
    ...(['residency_label_handwritten', `labels["${COUNTRY}"]`] as const),
    block({ country: 'DE', blockedCountries: ['US', 'CN'] }),
  ],
  [
    'the same said twice',
    { placement: { residency: { region: 'eu' } }, labels: { [REGION]: 'eu' } },
    ...(['residency_declared_twice', `labels["${REGION}"]`] as const),
    expect.any(String),
  ],
])('refused: %s', async (_about, sent, code, field, expected) => {
  const api = whole.api('acme')
  const body = { kind: 'Deployment', name: 'refused', image: whole.image, ...sent }
  const answer = await api.post('/api/v1/deployments', body)
  expect([answer.status, Object(answer.body['rejections'])[0]]).toMatchObject([
    422,
    { code, field, expected },
  ])
  expect((await api.get(at('refused'))).status).toBe(404)
})

/** Stored, and the answer lists what the reachable nodes advertise. */
async function waits(
  row: Row,
  labels: Labels,
  countries: readonly string[],
  regions = ['alpine'],
): Promise<void> {
  const stored = await deploy(whole, row)
  const advertised = { countries, regions }
  expect(stored).toMatchObject({
    labels,
    warnings: [{ code: 'residency_no_match', field: 'placement.residency', advertised }],
  })
  await untilPhase(whole.api('acme'), row.name, 'Waiting')
  expect(await statusOf(row.name)).toMatchObject({ reason: 'residency_no_match', replicas: { placed: 0 } })
  expect(await homesOf(whole, row.name)).toEqual([])
}

const ALL = ['DE', 'FR', 'US']

test('what nobody answers waits, and starts by itself with the label that was missing', async () => {
  // The only machine in Japan is another tenant's: it is not listed, and takes nothing.
  await waits({ name: 'japan', residency: { country: 'JP' } }, { [COUNTRY]: 'JP' }, ALL)
  const elsewhere = { name: 'elsewhere', residency: { blockedCountries: ALL } }
  await waits(elsewhere, { [BLOCKED]: 'DE,FR,US' }, ALL)
  // A machine that reports no country is in none that is blocked.
  const none = { node: 'acme-4', labels: NOWHERE, deployment: 'elsewhere' }
  expect(await curedBy(whole, none)).toBeLessThan(CURED_MS)
  await untilOn('elsewhere', [4])

  await waits({ name: 'states', residency: { country: 'US' } }, { [COUNTRY]: 'US' }, ['DE', 'FR'])
  await waits({ name: 'america', residency: { region: 'na' } }, { [REGION]: 'na' }, ['DE', 'FR'])
  const env = { HOLDFAST_URL: whole.platform.baseUrl, HOLDFAST_TOKEN: whole.platform.acme.token }
  const { code, stdout } = await runCli(['why', 'states'], { env })
  expect([code, stdout]).toEqual([0, expect.stringContaining('0 of 5 nodes fit: 5 not in the required')])
  expect(stdout).toContain(`To run it, do one of these:\n  - Set ${NODE_COUNTRY}=US on acme-4.\n`)
  const states = { node: 'acme-4', labels: inCountry('US'), deployment: 'states' }
  expect(await curedBy(whole, states)).toBeLessThan(CURED_MS)
  await untilOn('states', [4])
  await untilOn('america', [4])
  // It stood there because nothing was said of where that is.
  await untilOn('elsewhere', [])
  await remove('elsewhere', 'states', 'america')
})

test('a machine that is not heard answers nothing, and a region is answered by the label of one that is', async () => {
  const silent = whole.node('acme-4')
  whole.lab.pauseAgent(silent)
  onTestFinished(() => whole.lab.resumeAgent(silent))
  await relabel(whole, 'acme-5', inCountry('FR'))
  await waitUntil(async () => (await nodeCalled(whole, 'acme-4')).status === 'unreachable', {
    what: 'acme-4 is unreachable',
  })
  const peak = { name: 'peak', residency: { country: 'FR', region: 'alpine' } }
  await waits(peak, { [COUNTRY]: 'FR', [REGION]: 'alpine' }, ['DE', 'FR'], [])
  await waits({ name: 'states', residency: { country: 'US' } }, { [COUNTRY]: 'US' }, ['DE', 'FR'], [])
  const alpine = { node: 'acme-5', labels: inRegion('FR', 'alpine'), deployment: 'peak' }
  expect(await curedBy(whole, alpine)).toBeLessThan(CURED_MS)
  await untilOn('peak', [5])
  whole.lab.resumeAgent(silent)
  await untilOn('states', [4])
  expect(await statusOf('japan')).toMatchObject({ phase: 'Waiting', reason: 'residency_no_match' })
  expect(await homesOf(whole, 'japan')).toEqual([])
  await remove('japan', 'peak', 'states')
})

const CHECK = { type: 'exec', command: ['nc', '-w', '1', '127.0.0.1', '8080'], interval: '5s' }

async function untilAt(name: string, node: string, replicas: number): Promise<void> {
  await waitUntil(
    async () => {
      const placed = await placementsOf(whole.api('acme'), name)
      const there = placed.filter(({ nodeName, state }) => nodeName === node && state === 'ready')
      return placed.length === replicas && there.length === replicas
    },
    { what: `${name} is on ${node} alone`, timeoutMs: 60_000 },
  )
}

const lastOf = async (type: string, name: string) =>
  (await eventsOf(whole.api('acme'), type))
    .filter(({ subject }) => subject.name === name)
    .toSorted((left, right) => left.time.localeCompare(right.time))
    .at(-1)

const displacedFrom = (nodeName: string, parts: object) => ({
  reason: 'labels_changed',
  data: { nodeName, ...parts },
})

test('what may no longer be where it runs is moved, and nobody who uses it notices', async () => {
  const routes = [{ host: hostOf('shop'), path: '/', port: 8080 }]
  const placement = { residency: { country: 'DE' } }
  await deploy(whole, { name: 'shop', replicas: 2, more: { routes, healthCheck: CHECK, placement } })
  await untilPhase(whole.api('acme'), 'shop', 'Running')
  await untilOn('shop', [1, 2])
  for (const node of nodesOf(whole, 'acme')) await untilServed(whole, node, 'shop')
  const ready = watchReady(whole.platform.server.store, whole.platform.acme.id, 'shop')
  const targets = nodesOf(whole, 'acme').map((node) => edgeOf(whole, node))
  const load = startLoad({ targets, host: hostOf('shop'), perSecond: 100 })

  await relabel(whole, 'acme-2', NOWHERE)
  await untilAt('shop', 'acme-1', 2)
  await untilOn('shop', [1, 1])
  const wish = { [NODE_COUNTRY]: 'DE' }
  expect(await lastOf('deployment.displaced', 'shop')).toMatchObject(
    displacedFrom('acme-2', {
      label: NODE_COUNTRY,
      required: wish,
      reported: { [NODE_COUNTRY]: null },
      replicas: [{ to: 'acme-1' }],
    }),
  )
  // Another demand is another place, by the same rule.
  const moved = { placement: { residency: { country: 'FR', region: 'alpine' } } }
  expect((await whole.api('acme').put(at('shop'), moved)).status).toBe(200)
  await untilAt('shop', 'acme-5', 2)
  await untilOn('shop', [5, 5])
  const { sent, answered, failures, slowestMs } = await load.stop()
  console.log(`${sent} requests meanwhile: ${failures.length} failed, slowest ${slowestMs} ms`)
  expect([failures, answered, ready.lowest()]).toEqual([[], sent, 2])
  ready.stop()
})

test('where nothing else takes it, it is stopped; it is back with the label', async () => {
  const began = Date.now()
  await relabel(whole, 'acme-5', inCountry('FR'))
  await untilOn('shop', [])
  console.log(`shop was stopped ${Date.now() - began} ms after its agent was told to restart`)
  // The engine shows it before the agent has told it.
  await expect
    .poll(() => statusOf('shop'))
    .toMatchObject({ phase: 'Degraded', reason: 'residency_no_match', replicas: { placed: 0 } })
  expect(await lastOf('deployment.displaced', 'shop')).toMatchObject(
    displacedFrom('acme-5', { label: NODE_REGION, replicas: [{ to: null }, { to: null }] }),
  )
  await expect
    .poll(() => lastOf('deployment.stalled', 'shop'))
    .toMatchObject({ reason: 'residency_no_match' })
  const back = { node: 'acme-5', labels: inRegion('FR', 'alpine'), deployment: 'shop' }
  expect(await curedBy(whole, back)).toBeLessThan(CURED_MS)
  await untilPhase(whole.api('acme'), 'shop', 'Running')
  await untilOn('shop', [5, 5])
  await relabel(whole, 'acme-2', inCountry('DE'))
  await remove('shop')
})

/** It was heard, and it counts for nothing. */
async function isNoCandidate(deployment: string, refusedTimes: number): Promise<void> {
  const api = whole.api('acme')
  await waitUntil(async () => (await refusedLabels()).length === refusedTimes, {
    what: `its labels were refused for the ${refusedTimes}. time`,
  })
  await untilLabels(whole, 'acme-4', {})
  await untilNodesReady(api, 5)
  expect(await statusOf(deployment)).toMatchObject({ phase: 'Waiting', reason: 'residency_no_match' })
  const { body } = await api.get(`${at(deployment)}/why`)
  const own = Object.values(Object(body['candidates'])).find((each) => Object(each).nodeName === 'acme-4')
  expect(Object(own).refusals).toContainEqual(
    expect.objectContaining({ filter: 'residency_country', reported: { [NODE_COUNTRY]: null } }),
  )
  expect(await homesOf(whole, deployment)).toEqual([])
}

const refusedLabels = async () =>
  (await eventsOf(whole.api('acme'), 'node.labels_refused'))
    .filter(({ subject }) => subject.name === 'acme-4')
    .toSorted((left, right) => left.time.localeCompare(right.time))
    .map(({ data }) => Object(data).refused)

/** As whoever holds the machine would: it leaves at once and joins under its old name. */
async function rejoin(offer: Parameters<LabPlatform['enrollAgain']>[1]): Promise<void> {
  const { id } = await nodeCalled(whole, 'acme-4')
  expect((await whole.api('acme').delete(`/api/v1/nodes/${id}?force=true`)).status).toBe(202)
  expect(await whole.enrollAgain(whole.node('acme-4'), offer)).not.toBe(id)
}

test('a machine that lies about where it is gets nothing, however often it joins', async () => {
  const lie = { [NODE_COUNTRY]: 'CH', [NODE_REGION]: 'dach' }
  const refused = (attested: string | null) => [
    { label: NODE_COUNTRY, advertised: 'CH', attested },
    { label: NODE_REGION, advertised: 'dach', attested: null },
  ]
  const vault = { name: 'vault', residency: { country: 'CH', region: 'dach' } }
  await waits(vault, { [COUNTRY]: 'CH', [REGION]: 'dach' }, ALL)
  await relabel(whole, 'acme-4', lie, {})
  await isNoCandidate('vault', 1)
  await rejoin({ labels: lie })
  await isNoCandidate('vault', 2)
  await rejoin({ residency: { country: 'US' }, labels: lie })
  await isNoCandidate('vault', 3)
  expect(await refusedLabels()).toEqual([refused('US'), refused(null), refused('US')])
  expect(await lastOf('deployment.scheduled', 'vault')).toBeUndefined()
  expect(await madeOn(whole, 'acme-4', 'vault')).toEqual([])
  // What a tenant administrator attests counts, of the same machine.
  await rejoin({ residency: { country: 'CH' } })
  await untilOn('vault', [4])
  expect(await madeOn(whole, 'acme-4', 'vault')).toHaveLength(1)
  await remove('vault')
})

test('without enforcement what runs stays and nothing is placed; with it, it starts by itself', async () => {
  const api = whole.api('acme')
  const starts = async () => [...(await startsOn(whole, 'acme-1')), ...(await startsOn(whole, 'acme-2'))]
  const german = { residency: { country: 'DE' }, replicas: 2 }
  await deploy(whole, { name: 'kept', ...german })
  await untilPhase(api, 'kept', 'Running')
  const before = await starts()
  const { regions } = whole.platform.config.residency
  await whole.restartServers({ residency: { enforcement: false, regions } })
  expect((await api.get('/api/v1/scheduler/regions')).body).toMatchObject({ enforcement: false })
  expect(await deploy(whole, { name: 'held', ...german })).toMatchObject({
    labels: { [COUNTRY]: 'DE' },
    warnings: [{ code: 'residency_enforcement_off', field: 'placement.residency' }],
  })
  // By then the controllers have decided with these settings.
  await deploy(whole, { name: 'free' })
  await untilPhase(api, 'free', 'Running')
  await untilPhase(api, 'held', 'Waiting')
  expect(await statusOf('held')).toMatchObject({ reason: 'residency_enforcement_off' })
  const { candidates }: { candidates?: { refusals: { code: string }[] }[] } = (
    await api.get(`${at('held')}/why`)
  ).body
  expect(candidates?.map(({ refusals }) => refusals[0]?.code)).toEqual(
    Array(5).fill('residency_enforcement_off'),
  )
  expect(await homesOf(whole, 'held')).toEqual([])
  await remove('free')
  expect([await statusOf('kept'), await starts()]).toMatchObject([{ phase: 'Running' }, before])
  await whole.restartServers({ residency: { enforcement: true, regions } })
  await untilPhase(api, 'held', 'Running')
  await untilOn('held', [1, 2])
  expect(await starts()).toEqual(expect.arrayContaining(before))
})
