// Residency on real machines in three countries. The tests cover the response to every rule and the machines that run the
// containers, waiting deployments that start automatically, replicas that move when their machine no longer qualifies,
// and a machine that reports a false location. See docs/design/residency.md

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

/** Time limit from setting a label that makes a node qualify to a running container. */
const CURED_MS = 2000
const { country: COUNTRY, region: REGION, blockedCountries: BLOCKED } = RESIDENCY_LABELS

let cluster: LabPlatform

beforeAll(async () => {
  cluster = await startResidencyLab()
})
afterAll(() => cluster?.stop())

const at = (name: string) => `/api/v1/deployments/${name}`

async function statusOf(name: string) {
  return Object((await cluster.api('acme').get(at(name))).body['status'])
}

async function remove(...names: readonly string[]): Promise<void> {
  for (const name of names) expect((await cluster.api('acme').delete(at(name))).status).toBe(202)
  for (const name of names)
    await waitUntil(async () => (await cluster.api('acme').get(at(name))).status === 404, {
      what: `${name} is gone`,
    })
}

const onNodes = (numbers: readonly number[]): string[] => numbers.map((number) => `acme-${number} running`)

async function untilOn(name: string, numbers: readonly number[]): Promise<void> {
  let seen: string[] = []
  await waitUntil(
    async () => {
      seen = await homesOf(cluster, name)
      return seen.join() === onNodes(numbers).join()
    },
    { what: `${name} runs on ${numbers.join()} and nowhere else`, timeoutMs: 60_000, intervalMs: 200 },
  ).catch((error: Error) => {
    throw new Error(`${error.message} It was on: ${seen.join()}`)
  })
}

test('stores each residency demand and runs its containers only on matching nodes', async () => {
  for (const { labels, nodes, ...row } of ALLOWED) {
    const stored = await deploy(cluster, { ...row, replicas: nodes.length })
    const announced = Object.entries(labels).map(([label, value]) => ({ [label]: value }))
    expect([row.name, stored]).toEqual([row.name, { announced, labels, warnings: [] }])
  }
  for (const { name, nodes } of ALLOWED) {
    await untilPhase(cluster.api('acme'), name, 'Running')
    expect([name, await homesOf(cluster, name)]).toEqual([name, onNodes(nodes)])
  }
  await remove(...ALLOWED.map(({ name }) => name))
})

const block = (residency: object): string => JSON.stringify({ placement: { residency } })

test.each<[string, object, string, string, unknown]>([
  [
    'an undeclared region',
    { placement: { residency: { region: 'moon' } } },
    ...(['residency_region_undeclared', 'placement.residency.region'] as const),
    'one of alpine, apac, dach, eea, eu, na, nordics',
  ],
  [
    'a residency label set by the user',
    { labels: { [COUNTRY]: 'DE', [BLOCKED]: 'US,CN' } },
    ...(['residency_label_handwritten', `labels["${COUNTRY}"]`] as const),
    block({ country: 'DE', blockedCountries: ['US', 'CN'] }),
  ],
  [
    'the same demand twice',
    { placement: { residency: { region: 'eu' } }, labels: { [REGION]: 'eu' } },
    ...(['residency_declared_twice', `labels["${REGION}"]`] as const),
    expect.any(String),
  ],
])('refused: %s', async (_about, sent, code, field, expected) => {
  const api = cluster.api('acme')
  const body = { kind: 'Deployment', name: 'refused', image: cluster.image, ...sent }
  const answer = await api.post('/api/v1/deployments', body)
  expect([answer.status, Object(answer.body['rejections'])[0]]).toMatchObject([
    422,
    { code, field, expected },
  ])
  expect((await api.get(at('refused'))).status).toBe(404)
})

/** Checks that the deployment waits without a node, and that the warning lists the locations that nodes advertise. */
async function waits(
  row: Row,
  labels: Labels,
  countries: readonly string[],
  regions = ['alpine'],
): Promise<void> {
  const stored = await deploy(cluster, row)
  const advertised = { countries, regions }
  expect(stored).toMatchObject({
    labels,
    warnings: [{ code: 'residency_no_match', field: 'placement.residency', advertised }],
  })
  await untilPhase(cluster.api('acme'), row.name, 'Waiting')
  expect(await statusOf(row.name)).toMatchObject({ reason: 'residency_no_match', replicas: { placed: 0 } })
  expect(await homesOf(cluster, row.name)).toEqual([])
}

const ALL = ['DE', 'FR', 'US']

test('an unmet demand waits, and starts automatically once a node has the missing label', async () => {
  // The only machine in Japan belongs to another tenant: it is not listed and receives no replica.
  await waits({ name: 'japan', residency: { country: 'JP' } }, { [COUNTRY]: 'JP' }, ALL)
  const elsewhere = { name: 'elsewhere', residency: { blockedCountries: ALL } }
  await waits(elsewhere, { [BLOCKED]: 'DE,FR,US' }, ALL)
  // A machine without a country qualifies for a deployment that only blocks countries.
  const none = { node: 'acme-4', labels: NOWHERE, deployment: 'elsewhere' }
  expect(await curedBy(cluster, none)).toBeLessThan(CURED_MS)
  await untilOn('elsewhere', [4])

  await waits({ name: 'states', residency: { country: 'US' } }, { [COUNTRY]: 'US' }, ['DE', 'FR'])
  await waits({ name: 'america', residency: { region: 'na' } }, { [REGION]: 'na' }, ['DE', 'FR'])
  const env = { HOLDFAST_URL: cluster.platform.baseUrl, HOLDFAST_TOKEN: cluster.platform.acme.token }
  const { code, stdout } = await runCli(['why', 'states'], { env })
  expect([code, stdout]).toEqual([0, expect.stringContaining('0 of 5 nodes fit: 5 not in the required')])
  expect(stdout).toContain(
    `To run it, do one of these:\n  - Set the label ${NODE_COUNTRY} to "US" on acme-4.\n`,
  )
  const states = { node: 'acme-4', labels: inCountry('US'), deployment: 'states' }
  expect(await curedBy(cluster, states)).toBeLessThan(CURED_MS)
  await untilOn('states', [4])
  await untilOn('america', [4])
  // The deployment `elsewhere` blocks US, so its replica leaves the machine once the machine is in the US.
  await untilOn('elsewhere', [])
  await remove('elsewhere', 'states', 'america')
})

test('ignores the labels of an unreachable machine and satisfies a region by a reachable one', async () => {
  const silent = cluster.node('acme-4')
  cluster.lab.pauseAgent(silent)
  onTestFinished(() => cluster.lab.resumeAgent(silent))
  await relabel(cluster, 'acme-5', inCountry('FR'))
  await waitUntil(async () => (await nodeCalled(cluster, 'acme-4')).status === 'unreachable', {
    what: 'acme-4 is unreachable',
  })
  const peak = { name: 'peak', residency: { country: 'FR', region: 'alpine' } }
  await waits(peak, { [COUNTRY]: 'FR', [REGION]: 'alpine' }, ['DE', 'FR'], [])
  await waits({ name: 'states', residency: { country: 'US' } }, { [COUNTRY]: 'US' }, ['DE', 'FR'], [])
  const alpine = { node: 'acme-5', labels: inRegion('FR', 'alpine'), deployment: 'peak' }
  expect(await curedBy(cluster, alpine)).toBeLessThan(CURED_MS)
  await untilOn('peak', [5])
  cluster.lab.resumeAgent(silent)
  await untilOn('states', [4])
  expect(await statusOf('japan')).toMatchObject({ phase: 'Waiting', reason: 'residency_no_match' })
  expect(await homesOf(cluster, 'japan')).toEqual([])
  await remove('japan', 'peak', 'states')
})

const CHECK = { type: 'exec', command: ['nc', '-w', '1', '127.0.0.1', '8080'], interval: '5s' }

async function untilAt(name: string, node: string, replicas: number): Promise<void> {
  await waitUntil(
    async () => {
      const placed = await placementsOf(cluster.api('acme'), name)
      const there = placed.filter(({ nodeName, state }) => nodeName === node && state === 'ready')
      return placed.length === replicas && there.length === replicas
    },
    { what: `${name} is on ${node} alone`, timeoutMs: 60_000 },
  )
}

const lastOf = async (type: string, name: string) =>
  (await eventsOf(cluster.api('acme'), type))
    .filter(({ subject }) => subject.name === name)
    .toSorted((left, right) => left.time.localeCompare(right.time))
    .at(-1)

const displacedFrom = (nodeName: string, parts: object) => ({
  reason: 'labels_changed',
  data: { nodeName, ...parts },
})

test('moves replicas whose machine no longer qualifies, without a failed request', async () => {
  const routes = [{ host: hostOf('shop'), path: '/', port: 8080 }]
  const placement = { residency: { country: 'DE' } }
  await deploy(cluster, { name: 'shop', replicas: 2, more: { routes, healthCheck: CHECK, placement } })
  await untilPhase(cluster.api('acme'), 'shop', 'Running')
  await untilOn('shop', [1, 2])
  for (const node of nodesOf(cluster, 'acme')) await untilServed(cluster, node, 'shop')
  const ready = watchReady(cluster.platform.server.store, cluster.platform.acme.id, 'shop')
  const targets = nodesOf(cluster, 'acme').map((node) => edgeOf(cluster, node))
  const load = startLoad({ targets, host: hostOf('shop'), perSecond: 100 })

  await relabel(cluster, 'acme-2', NOWHERE)
  await untilAt('shop', 'acme-1', 2)
  await untilOn('shop', [1, 1])
  const required = { [NODE_COUNTRY]: 'DE' }
  expect(await lastOf('deployment.displaced', 'shop')).toMatchObject(
    displacedFrom('acme-2', {
      label: NODE_COUNTRY,
      required,
      reported: { [NODE_COUNTRY]: null },
      replicas: [{ to: 'acme-1' }],
    }),
  )
  // A changed residency demand moves the replica, just as a changed label of the machine does.
  const moved = { placement: { residency: { country: 'FR', region: 'alpine' } } }
  expect((await cluster.api('acme').put(at('shop'), moved)).status).toBe(200)
  await untilAt('shop', 'acme-5', 2)
  await untilOn('shop', [5, 5])
  const { sent, answered, failures, slowestMs } = await load.stop()
  console.log(`${sent} requests during the moves: ${failures.length} failed, slowest ${slowestMs} ms`)
  expect([failures, answered, ready.lowest()]).toEqual([[], sent, 2])
  ready.stop()
})

test('stops a replica that no other node can run, and starts it again with the label', async () => {
  const began = Date.now()
  await relabel(cluster, 'acme-5', inCountry('FR'))
  await untilOn('shop', [])
  console.log(`shop was stopped ${Date.now() - began} ms after its agent began to restart`)
  // The engine no longer has the containers before the agent has reported their removal, so the test polls the API.
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
  expect(await curedBy(cluster, back)).toBeLessThan(CURED_MS)
  await untilPhase(cluster.api('acme'), 'shop', 'Running')
  await untilOn('shop', [5, 5])
  await relabel(cluster, 'acme-2', inCountry('DE'))
  await remove('shop')
})

/** Checks that the machine is connected, that its location labels are ignored, and that it receives no replica. */
async function isNoCandidate(deployment: string, refusedTimes: number): Promise<void> {
  const api = cluster.api('acme')
  await waitUntil(async () => (await refusedLabels()).length === refusedTimes, {
    what: `its labels were rejected ${refusedTimes} times`,
  })
  await untilLabels(cluster, 'acme-4', {})
  await untilNodesReady(api, 5)
  expect(await statusOf(deployment)).toMatchObject({ phase: 'Waiting', reason: 'residency_no_match' })
  const { body } = await api.get(`${at(deployment)}/why`)
  const own = Object.values(Object(body['candidates'])).find((each) => Object(each).nodeName === 'acme-4')
  expect(Object(own).refusals).toContainEqual(
    expect.objectContaining({ filter: 'residency_country', reported: { [NODE_COUNTRY]: null } }),
  )
  expect(await homesOf(cluster, deployment)).toEqual([])
}

const refusedLabels = async () =>
  (await eventsOf(cluster.api('acme'), 'node.labels_refused'))
    .filter(({ subject }) => subject.name === 'acme-4')
    .toSorted((left, right) => left.time.localeCompare(right.time))
    .map(({ data }) => Object(data).refused)

/** Makes the machine leave and join again under its old name, as an attacker with control over the machine would. */
async function rejoin(offer: Parameters<LabPlatform['enrollAgain']>[1]): Promise<void> {
  const { id } = await nodeCalled(cluster, 'acme-4')
  expect((await cluster.api('acme').delete(`/api/v1/nodes/${id}?force=true`)).status).toBe(202)
  expect(await cluster.enrollAgain(cluster.node('acme-4'), offer)).not.toBe(id)
}

test('places nothing on a machine that reports a false location, however often it joins', async () => {
  const lie = { [NODE_COUNTRY]: 'CH', [NODE_REGION]: 'dach' }
  const refused = (attested: string | null) => [
    { label: NODE_COUNTRY, advertised: 'CH', attested },
    { label: NODE_REGION, advertised: 'dach', attested: null },
  ]
  const vault = { name: 'vault', residency: { country: 'CH', region: 'dach' } }
  await waits(vault, { [COUNTRY]: 'CH', [REGION]: 'dach' }, ALL)
  await relabel(cluster, 'acme-4', lie, {})
  await isNoCandidate('vault', 1)
  await rejoin({ labels: lie })
  await isNoCandidate('vault', 2)
  await rejoin({ residency: { country: 'US' }, labels: lie })
  await isNoCandidate('vault', 3)
  expect(await refusedLabels()).toEqual([refused('US'), refused(null), refused('US')])
  expect(await lastOf('deployment.scheduled', 'vault')).toBeUndefined()
  expect(await madeOn(cluster, 'acme-4', 'vault')).toEqual([])
  // A tenant administrator's attestation of the country makes the same machine qualify.
  await rejoin({ residency: { country: 'CH' } })
  await untilOn('vault', [4])
  expect(await madeOn(cluster, 'acme-4', 'vault')).toHaveLength(1)
  await remove('vault')
})

test('without enforcement keeps what runs and places nothing; with it, placement resumes', async () => {
  const api = cluster.api('acme')
  const starts = async () => [...(await startsOn(cluster, 'acme-1')), ...(await startsOn(cluster, 'acme-2'))]
  const german = { residency: { country: 'DE' }, replicas: 2 }
  await deploy(cluster, { name: 'kept', ...german })
  await untilPhase(api, 'kept', 'Running')
  const before = await starts()
  const { regions } = cluster.platform.config.residency
  await cluster.restartServers({ residency: { enforcement: false, regions } })
  expect((await api.get('/api/v1/scheduler/regions')).body).toMatchObject({ enforcement: false })
  expect(await deploy(cluster, { name: 'held', ...german })).toMatchObject({
    labels: { [COUNTRY]: 'DE' },
    warnings: [{ code: 'residency_enforcement_off', field: 'placement.residency' }],
  })
  // Once a deployment without residency rules runs, the restarted controllers have made decisions with enforcement off.
  await deploy(cluster, { name: 'free' })
  await untilPhase(api, 'free', 'Running')
  await untilPhase(api, 'held', 'Waiting')
  expect(await statusOf('held')).toMatchObject({ reason: 'residency_enforcement_off' })
  const { candidates }: { candidates?: { refusals: { code: string }[] }[] } = (
    await api.get(`${at('held')}/why`)
  ).body
  expect(candidates?.map(({ refusals }) => refusals[0]?.code)).toEqual(
    Array(5).fill('residency_enforcement_off'),
  )
  expect(await homesOf(cluster, 'held')).toEqual([])
  await remove('free')
  expect([await statusOf('kept'), await starts()]).toMatchObject([{ phase: 'Running' }, before])
  await cluster.restartServers({ residency: { enforcement: true, regions } })
  await untilPhase(api, 'held', 'Running')
  await untilOn('held', [1, 2])
  expect(await starts()).toEqual(expect.arrayContaining(before))
})
