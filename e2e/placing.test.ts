// Placement on real machines. For a rejected node the API returns a remedy as data: exactly this remedy lets the node run the
// replica, and a smaller change does not. A machine that reports a false location runs nothing.

import { type ChangeKind, type Cure, NODE_COUNTRY, NODE_REGION } from '@holdfast/contract'
import { waitUntil } from '@holdfast/testkit'
import { LONG } from '@holdfast/testkit/long-run'
import {
  applyCure,
  put,
  recordOf,
  smallerThan,
  type Ward,
  whyOf,
} from '@holdfast/testkit/scenarios/apply-cure'
import {
  type CureCase,
  FEWEST_LANES,
  firstAdvertised,
  LANES,
  type Lane,
  runThere,
  staysOn,
} from '@holdfast/testkit/scenarios/cure-cases'
import { untilNodesReady } from '@holdfast/testkit/scenarios/lab-agents'
import { homesOf, madeOn, nodeCalled, relabel, untilLabels } from '@holdfast/testkit/scenarios/lab-labels'
import {
  containersOn,
  eventsOf,
  type PlacedReplica,
  placementsOf,
  untilPhase,
} from '@holdfast/testkit/scenarios/lab-reads'
import { type LabPlatform, startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

/** The long run has every case. */
const RUN = LONG ? LANES : FEWEST_LANES
const NODES = LONG ? { acme: 5, globex: 2 } : { acme: 2, globex: 1 }
/** How long the test waits for a container to run, including placement, pull and start, on all nodes at once. */
const PATIENCE_MS = 60_000
/** Short liveness limits, but long enough for a node that is slow for some seconds on the shared machine. */
const LIVENESS = { heartbeatSeconds: 1, unreachableSeconds: 8, failedSeconds: 40 }
const TENANTS = ['acme', 'globex'] as const
/** The machine that reports a false location. */
const LIAR = 'acme-1'

interface Cured {
  readonly name: string
  readonly kinds: readonly ChangeKind[]
  /** True if the test first applied less than the remedy and checked that this had no effect. */
  readonly triedLess: boolean
}

let cluster: LabPlatform
const cured: Cured[] = []

const namesOf = (tenant: (typeof TENANTS)[number]): string[] =>
  Array.from({ length: NODES[tenant] }, (_, at) => `${tenant}-${at + 1}`)

beforeAll(async () => {
  const all = TENANTS.flatMap(namesOf)
  cluster = await startLabPlatform({
    nodesPerTenant: NODES,
    settings: { liveness: LIVENESS },
    offers: Object.fromEntries(all.map((node) => [node, firstAdvertised(node)])),
  })
})
afterAll(() => cluster?.stop())

async function wardOf(name: string): Promise<Ward> {
  const node = cluster.node(name)
  const { tenant } = node
  const api = cluster.api(tenant)
  const { body } = await api.get('/api/v1/nodes')
  const found = Object.values(Object(body['items'])).find((each) => Object(each).name === name)
  return { cluster, tenant, api, node, nodeId: String(Object(found).id), advertised: firstAdvertised(name) }
}

async function runLane({ node, cases, beside }: Lane, other: Ward): Promise<void> {
  const ward = await wardOf(node)
  if (beside !== undefined) await runThere(ward, beside.name, beside.replicas)
  for (const each of cases) cured.push(await cureOne(ward, each, other))
}

async function cureOne(ward: Ward, each: CureCase, other: Ward): Promise<Cured> {
  const { api, node } = ward
  const { name, kinds } = each
  await each.before?.(ward)
  await create(ward, each, other)
  const first = await cureFor(ward, name)
  expect([name, kindsOf(first)]).toEqual([name, kinds.toSorted()])
  const less = smallerThan(first.changes)
  if (less !== undefined) await applyCure(ward, name, less)
  const cure = less === undefined ? first : await cureFor(ward, name)
  await applyCure(ward, name, cure.changes)
  const on = await untilRuns(ward, name)
  if (each.anywhere !== true) expect([name, on]).toEqual([name, node.name])
  expect(await containersOn(cluster, on)).toContain(`${name} running`)
  await put(api, name, { replicas: 0 })
  await untilPhase(api, name, 'Stopped')
  return { name, kinds, triedLess: less !== undefined }
}

const kindsOf = ({ changes }: Cure): ChangeKind[] => changes.map(({ kind }) => kind).sort()

async function create({ api, node }: Ward, each: CureCase, other: Ward): Promise<void> {
  const { name, requirements = {}, namesOther } = each
  const { constraints = [], ...rest } = requirements.placement ?? {}
  const { status, text } = await api.post('/api/v1/deployments', {
    kind: 'Deployment',
    name,
    image: cluster.image,
    replicas: 1,
    ...requirements,
    ...(namesOther === true ? { nodeId: other.nodeId } : {}),
    placement: { ...rest, constraints: [staysOn(node.name, each), ...constraints] },
  })
  expect(status, text).toBe(201)
}

/** Waits until a replica fits on no node, and returns the remedy that the explanation contains for this test's node. */
async function cureFor({ api, node }: Ward, name: string): Promise<Cure> {
  await waitUntil(async () => REASONS.has((await recordOf(api, name)).status.reason), {
    what: `${name} fits nowhere`,
  })
  const { candidates, cure } = await whyOf(api, name)
  const own = candidates.find(({ nodeName }) => nodeName === node.name)
  if (own?.cure === undefined) throw new Error(`${name}: ${JSON.stringify(own)}`)
  expect(cure).toContain(own.cure.text)
  return own.cure
}

const REASONS: ReadonlySet<string> = new Set(['unschedulable', 'quota_reached', 'residency_no_match'])

/**
 * States of a container that has started. The tests do not wait for `ready`, which a container without a health check
 * reaches some seconds after its start.
 */
const RUNS: ReadonlySet<string> = new Set(['running', 'ready'])

/** Waits until the deployment's container runs, and returns its node. */
async function untilRuns({ api }: Ward, name: string): Promise<string> {
  const { replicas } = await recordOf(api, name)
  let placed: PlacedReplica[] = []
  return waitUntil(
    async () => {
      placed = await placementsOf(api, name)
      const runs = placed.filter(({ state }) => RUNS.has(state))
      return runs.length === replicas && runs[0]?.nodeName
    },
    { what: `${name} runs`, timeoutMs: PATIENCE_MS },
  ).catch(async (error: Error) => {
    const why = JSON.stringify(await whyOf(api, name))
    throw new Error(`${error.message} Placed: ${JSON.stringify(placed)}. Explanation: ${why}`)
  })
}

test('the remedy of a rejection, applied exactly, lets the node run the replica; less does not', async () => {
  const other = await wardOf('acme-2')
  const lanes = await Promise.allSettled(RUN.map((lane) => runLane(lane, other)))
  const faults = lanes.flatMap((lane) => (lane.status === 'rejected' ? [String(lane.reason)] : []))
  printRemedies()
  expect(faults).toEqual([])
  expect(cured).toHaveLength(RUN.flatMap(({ cases }) => cases).length)
}, 480_000)

function printRemedies(): void {
  const counts = new Map<string, number>()
  for (const kind of cured.flatMap(({ kinds }) => kinds)) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  const tried = cured.filter(({ triedLess }) => triedLess).length
  const kinds = [...counts].map(([kind, count]) => `${kind} ${count}`).join(', ')
  console.log(`${cured.length} remedies, ${tried} of them after a smaller change without effect (${kinds})`)
}

const refusedLabels = async () =>
  (await eventsOf(cluster.api('acme'), 'node.labels_refused'))
    .filter(({ subject }) => subject.name === LIAR)
    .toSorted((left, right) => left.time.localeCompare(right.time))
    .map(({ data }) => Object(data).refused)

/** Checks that the machine is connected, that its location labels are ignored, and that it receives no replica. */
async function isNoCandidate(deployment: string, refusedTimes: number): Promise<void> {
  const api = cluster.api('acme')
  await waitUntil(async () => (await refusedLabels()).length === refusedTimes, {
    what: `its labels were rejected ${refusedTimes} times`,
  })
  await untilLabels(cluster, LIAR, {})
  await untilNodesReady(api, NODES.acme)
  const { status } = await recordOf(api, deployment)
  expect(status).toMatchObject({ phase: 'Waiting', reason: 'residency_no_match' })
  const { candidates } = await whyOf(api, deployment)
  const own = candidates.find(({ nodeName }) => nodeName === LIAR)
  expect(own?.refusals).toContainEqual(
    expect.objectContaining({ filter: 'residency_country', reported: { [NODE_COUNTRY]: null } }),
  )
  expect(await homesOf(cluster, deployment)).toEqual([])
}

/** Makes the machine leave and join again under its old name, as an attacker with control over the machine would. */
async function rejoin(offer: Parameters<LabPlatform['enrollAgain']>[1]): Promise<void> {
  const { id } = await nodeCalled(cluster, LIAR)
  expect((await cluster.api('acme').delete(`/api/v1/nodes/${id}?force=true`)).status).toBe(202)
  expect(await cluster.enrollAgain(cluster.node(LIAR), offer)).not.toBe(id)
}

test('places nothing on a machine that reports a false location, however often it joins', async () => {
  const api = cluster.api('acme')
  const lie = { [NODE_COUNTRY]: 'CH', [NODE_REGION]: 'dach' }
  const refused = (attested: string | null) => [
    { label: NODE_COUNTRY, advertised: 'CH', attested },
    { label: NODE_REGION, advertised: 'dach', attested: null },
  ]
  const placement = { residency: { country: 'CH', region: 'dach' } }
  const body = { kind: 'Deployment', name: 'vault', image: cluster.image, replicas: 1, placement }
  const created = await api.post('/api/v1/deployments', body)
  expect(created.status, created.text).toBe(201)
  expect(created.body).toMatchObject({ warnings: [{ code: 'residency_no_match' }] })
  await untilPhase(api, 'vault', 'Waiting')
  await relabel(cluster, LIAR, lie, {})
  await isNoCandidate('vault', 1)
  await rejoin({ residency: { country: 'US' }, labels: lie })
  await isNoCandidate('vault', 2)
  await rejoin({ labels: lie })
  await isNoCandidate('vault', 3)
  expect(await refusedLabels()).toEqual([refused(null), refused('US'), refused(null)])
  const scheduled = await eventsOf(api, 'deployment.scheduled')
  expect(scheduled.filter(({ subject }) => subject.name === 'vault')).toEqual([])
  expect(await madeOn(cluster, LIAR, 'vault')).toEqual([])
  // A tenant administrator's attestation of the country makes the same machine qualify.
  await rejoin({ residency: { country: 'CH' } })
  await untilPhase(api, 'vault', 'Running')
  expect(await homesOf(cluster, 'vault')).toEqual([`${LIAR} running`])
  expect(await madeOn(cluster, LIAR, 'vault')).toHaveLength(1)
})
