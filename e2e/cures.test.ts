// For a rejected node the API returns a remedy as data. On real machines, exactly this remedy lets the node run the
// replica, and a smaller change does not. At every moment of the run the recorded decision matches the events.

import type { ChangeKind, Cure, DeploymentUid, ListedEvent, TenantId } from '@holdfast/contract'
import { decisions } from '@holdfast/server/store/records'
import { waitUntil } from '@holdfast/testkit'
import { decisionsOf } from '@holdfast/testkit/controllers/decided'
import { applyCure, put, recordOf, smallerThan, type Ward } from '@holdfast/testkit/scenarios/apply-cure'
import {
  type CureCase,
  firstAdvertised,
  LANES,
  type Lane,
  runThere,
  staysOn,
} from '@holdfast/testkit/scenarios/cure-cases'
import { allEvents, checkMoments, isRefusal, shown, whyOf } from '@holdfast/testkit/scenarios/decided-moments'
import {
  containersOn,
  type PlacedReplica,
  placementsOf,
  untilPhase,
} from '@holdfast/testkit/scenarios/lab-reads'
import { type LabPlatform, startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

const CURES = 50
const MOMENTS = 100
/**
 * Time limit from applying a remedy to a running container, including placement, pull and start, on six nodes at once.
 */
const RUNS_MS = 60_000
/** Short liveness limits, but long enough for a node that is slow for some seconds on the shared machine. */
const LIVENESS = { heartbeatSeconds: 1, unreachableSeconds: 8, failedSeconds: 40 }
const NODES = { acme: 5, globex: 2 }
const TENANTS = ['acme', 'globex'] as const

interface Cured {
  readonly name: string
  readonly kinds: readonly ChangeKind[]
  /** True if the test first applied less than the remedy and checked that this had no effect. */
  readonly triedLess: boolean
  readonly appliedAt: number
  readonly tookMs: number
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
  const appliedAt = Date.now()
  await applyCure(ward, name, cure.changes)
  const from = performance.now()
  const on = await untilRuns(ward, name)
  const tookMs = performance.now() - from
  if (each.anywhere !== true) expect([name, on]).toEqual([name, node.name])
  expect(await containersOn(cluster, on)).toContain(`${name} running`)
  await put(api, name, { replicas: 0 })
  await untilPhase(api, name, 'Stopped')
  return { name, kinds, triedLess: less !== undefined, appliedAt, tookMs }
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
    { what: `${name} runs`, timeoutMs: RUNS_MS },
  ).catch(async (error: Error) => {
    const why = JSON.stringify(await whyOf(api, name))
    throw new Error(`${error.message} Placed: ${JSON.stringify(placed)}. Explanation: ${why}`)
  })
}

test('the remedy of a rejection, applied exactly, lets the node run the replica; less does not', async () => {
  const other = await wardOf('acme-3')
  const lanes = await Promise.allSettled(LANES.map((lane) => runLane(lane, other)))
  const faults = lanes.flatMap((lane) => (lane.status === 'rejected' ? [String(lane.reason)] : []))
  printRemedies()
  expect(faults).toEqual([])
  expect(cured.length).toBeGreaterThanOrEqual(CURES)
}, 480_000)

function printRemedies(): void {
  const counts = new Map<string, number>()
  for (const kind of cured.flatMap(({ kinds }) => kinds)) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  const times = cured.map(({ tookMs }) => tookMs).sort((left, right) => left - right)
  const [median, slowest] = [times[Math.floor(times.length / 2)] ?? 0, times.at(-1) ?? 0]
  const tried = cured.filter(({ triedLess }) => triedLess).length
  const kinds = [...counts].map(([kind, count]) => `${kind} ${count}`).join(', ')
  console.log(
    `${cured.length} remedies, ${tried} of them after a smaller change without effect (${kinds}); running ${Math.round(median)} ms after the change, ${Math.round(slowest)} ms at most`,
  )
}

test('stores one decision record for an unchanged rejection, however often placement is retried', async () => {
  const ward = await wardOf('acme-3')
  const { api } = ward
  await runThere(ward, 'heavy', 1)
  const body = { kind: 'Deployment', name: 'never', image: cluster.image, replicas: 1 }
  const resources = { cpuMillis: 1_000_000, memoryBytes: 0 }
  expect((await api.post('/api/v1/deployments', { ...body, resources })).status).toBe(201)
  await waitUntil(async () => REASONS.has((await recordOf(api, 'never')).status.reason), { what: 'refused' })
  const { uid } = await recordOf(api, 'never')
  const before = await decisionsOf(cluster.platform.server.store, tenantId('acme'), uid)
  for (let round = 1; round <= 20; round += 1)
    await put(api, 'heavy', { resources: { cpuMillis: 100 + round, memoryBytes: round } })
  const free = 4000 - 120
  await waitUntil(
    async () => JSON.stringify(await whyOf(api, 'never')).includes(`"free":{"cpuMillis":${free}}`),
    { what: 'the last replica count is observed' },
  )
  const after = await decisionsOf(cluster.platform.server.store, tenantId('acme'), uid)
  expect([before.length, after.length]).toEqual([1, 1])
})

const tenantId = (tenant: (typeof TENANTS)[number]): TenantId => cluster.platform[tenant].id as TenantId

test('answers for every moment of the run with the decision that the events prove', async () => {
  let moments = 0
  let records = 0
  for (const tenant of TENANTS) {
    const api = cluster.api(tenant)
    const tenantEvents = await allEvents(api)
    const ofDeployments = Map.groupBy(
      tenantEvents.filter(({ subject }) => subject.kind === 'Deployment'),
      ({ subject }) => subject.name,
    )
    for (const [name, events] of ofDeployments) {
      moments += await checkMoments(api, name, events)
      const { uid } = await recordOf(api, name)
      records += await checkRecords(tenant, uid, events)
      checkOrder(name, events)
    }
    const kept = cluster.platform.server.store.keysOf(decisions, tenantId(tenant))
    const bytes = kept.reduce((sum, each) => sum + each.bytes, 0)
    console.log(`${tenant}: ${tenantEvents.length} events, ${kept.length} decisions of ${bytes} bytes`)
  }
  console.log(`${moments} moments, ${records} decisions`)
  expect(moments).toBeGreaterThanOrEqual(MOMENTS)
}, 120_000)

/** Checks that no deployment was placed before its complete remedy was applied. */
function checkOrder(name: string, events: readonly ListedEvent[]): void {
  const applied = cured.find((each) => each.name === name)
  const refusal = events.find(isRefusal)
  if (applied === undefined || refusal === undefined) return
  const after = events.filter(({ type, time }) => type === 'deployment.scheduled' && time > refusal.time)
  for (const { time } of after) expect([name, Date.parse(time) >= applied.appliedAt]).toEqual([name, true])
}

/** Checks that there is one decision record for each change: none is missing, and none repeats the previous record. */
async function checkRecords(
  tenant: (typeof TENANTS)[number],
  uid: DeploymentUid,
  events: readonly ListedEvent[],
): Promise<number> {
  const kept = await decisionsOf(cluster.platform.server.store, tenantId(tenant), uid)
  expect(kept.map(({ number }) => number)).toEqual(kept.map((_, index) => index + 1))
  const scheduled = new Set(
    events.filter(({ type }) => type === 'deployment.scheduled').map(({ time }) => time),
  )
  for (const [index, record] of kept.entries()) {
    const last = kept[index - 1]
    if (last === undefined || scheduled.has(record.decidedAt)) continue
    expect(decisionOf(record)).not.toEqual(decisionOf(last))
  }
  return kept.length
}

type Kept = Awaited<ReturnType<typeof decisionsOf>>[number]
const decisionOf = ({ phase, reason, revision, candidates }: Kept) => ({
  phase,
  reason,
  revision,
  candidates: shown(candidates),
})
