// Retention of placement decisions: 30 days, limited by number and bytes, and /why states when a decision is no longer
// stored. A decision about many nodes is complete or absent, whenever its leader dies.

import { type DeploymentUid, ownerOf, type TenantId } from '@holdfast/contract'
import { type PlacementController, startPlacing } from '@holdfast/server/loops/controllers/place-deployments'
import { finishRemovals } from '@holdfast/server/loops/finish-removals'
import { DECISION_BOUNDS, retainDecisions } from '@holdfast/server/loops/retain-decisions'
import { applyRetention, boundBytes } from '@holdfast/server/loops/retention'
import { decisionId } from '@holdfast/server/operations/deployments/read/decisions'
import {
  decisionParts,
  decisions,
  deployments,
  removals,
  type StoredDecision,
  type StoredDeployment,
  type StoredNode,
} from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { globally, inTenant, placementAt, type Transaction } from '@holdfast/server/store/transaction'
import { realClock as clock } from '@holdfast/server/system-clock'
import { waitUntil } from '@holdfast/testkit'
import { decisionsOf, whyAt } from '@holdfast/testkit/controllers/decided'
import { createMortal } from '@holdfast/testkit/controllers/mortal-engine'
import * as world from '@holdfast/testkit/controllers/placing-world'
import { createTestStores, type TestStores } from '@holdfast/testkit/store/test-stores'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const DAY_MS = 24 * 3_600_000
const KIB = 1024
const RETENTION = {
  events: { days: 30, max: 10_000, bytes: 8 * KIB ** 2 },
  audit: { days: 30, max: 10_000 },
}

let stores: TestStores
let store: Store
let tenant: TenantId
let now: number

beforeEach(async () => {
  stores = createTestStores('kept')
  store = await stores.open()
  tenant = await world.addTenant(store)
  now = clock.now()
})
afterEach(() => stores.close())

function stageDecision(
  transaction: Transaction,
  { uid, spec: { name } }: StoredDeployment,
  number: number,
  at: number,
  summary: string,
): void {
  const decidedAt = new Date(at).toISOString()
  const owner = ownerOf('deployment', uid)
  const record: StoredDecision = {
    ...{
      v: 1,
      owner,
      name,
      number,
      decidedAt,
      revision: 1,
      phase: 'Pending',
      reason: 'unschedulable',
      summary,
    },
    replicas: { desired: 1, placed: 0, ready: 0 },
    candidates: [],
    cure: [],
  }
  transaction.put(inTenant(tenant, decisions, decisionId({ owner, number, at })), record)
}

/** Creates a deployment with decisions made the given numbers of days ago. */
async function decidedDaysAgo(name: string, days: readonly number[], bytes = 0): Promise<StoredDeployment> {
  const stored = { ...world.deploymentOf(name), createdAt: new Date(now - 400 * DAY_MS).toISOString() }
  await world.put(store, tenant, stored)
  for (const [index, ago] of days.entries())
    await world.write(store, (transaction) =>
      stageDecision(transaction, stored, index + 1, now - ago * DAY_MS, 'x'.repeat(bytes)),
    )
  await world.write(store, (transaction) =>
    transaction.put(placementAt(tenant, ownerOf('deployment', stored.uid)), {
      v: 1,
      owner: ownerOf('deployment', stored.uid),
      name,
      revision: 1,
      everAssigned: false,
      assignments: [],
      templates: {},
      reportedRefusals: '',
      reportedPhase: 'Pending',
      decided: { number: days.length, at: new Date(now).toISOString(), reason: 'unschedulable' },
    }),
  )
  return stored
}

const daysKept = async (uid: DeploymentUid): Promise<number[]> =>
  (await decisionsOf(store, tenant, uid)).map(({ decidedAt }) =>
    Math.round((now - Date.parse(decidedAt)) / DAY_MS),
  )
const retain = async (changes: Partial<typeof DECISION_BOUNDS> = {}): Promise<void> => {
  await store.fresh()
  await retainDecisions(store, tenant, now, { ...DECISION_BOUNDS, ...changes })
}
const decisionBytes = (): number => store.keysOf(decisions, tenant).reduce((sum, { bytes }) => sum + bytes, 0)

describe('a stored decision', () => {
  test('is one that was in force within 30 days, even if it was made long before', async () => {
    const web = await decidedDaysAgo('web', [90, 60, 29, 10])
    const still = await decidedDaysAgo('still', [300])
    await retain()
    expect(await daysKept(web.uid)).toEqual([60, 29, 10])
    expect(await daysKept(still.uid)).toEqual([300])
    const then = await whyAt(store, tenant, 'web', now - 30 * DAY_MS)
    expect(then).toMatchObject({ phase: 'Pending', decidedAt: new Date(now - 60 * DAY_MS).toISOString() })
  })

  test('older than that is reported as deleted, with the time since when decisions are stored', async () => {
    await decidedDaysAgo('web', [90, 60, 29])
    await retain()
    const gone = await whyAt(store, tenant, 'web', now - 61 * DAY_MS)
    expect(gone).toMatchObject({ decidedAt: null, phase: 'Unknown', candidates: [], cure: [] })
    expect(gone.summary).toContain('no longer kept')
    expect(gone.summary).toContain(new Date(now - 60 * DAY_MS).toISOString())
    // There is no decision for a time before the deployment existed.
    const before = await whyAt(store, tenant, 'web', now - 401 * DAY_MS)
    expect(before).toMatchObject({ decidedAt: null, phase: 'Pending' })
  })

  test('is bounded by number: ended ones are deleted first, those of the deployment with the most', async () => {
    const busy = await decidedDaysAgo('busy', [9, 8, 7, 6, 5])
    const calm = await decidedDaysAgo('calm', [20, 2])
    const still = await decidedDaysAgo('still', [25])
    await retain({ max: 5 })
    expect([await daysKept(busy.uid), await daysKept(calm.uid), await daysKept(still.uid)]).toEqual([
      [6, 5],
      [20, 2],
      [25],
    ])
  })

  test('is bounded by bytes, which are no bytes of the tenant; current ones are deleted last, and that is reported', async () => {
    const busy = await decidedDaysAgo('busy', [9, 8, 7, 6], 10 * KIB)
    const still = await decidedDaysAgo('still', [25], 10 * KIB)
    await store.fresh()
    const bytes = decisionBytes()
    expect(bytes).toBeGreaterThan(50 * KIB)
    expect(store.bytesOf(decisions, tenant)).toBe(bytes)
    expect(store.storedBytes(tenant)).toBeLessThan(10 * KIB)
    await retain({ bytes: 30 * KIB })
    expect([await daysKept(busy.uid), await daysKept(still.uid)]).toEqual([[6], [25]])
    expect(store.bytesOf(decisions, tenant)).toBeLessThanOrEqual(30 * KIB)
    await retain({ bytes: 15 * KIB })
    expect([await daysKept(busy.uid), await daysKept(still.uid)]).toEqual([[6], []])
    const { phase, summary } = await whyAt(store, tenant, 'still', now)
    expect([phase, summary]).toEqual(['Unknown', expect.stringContaining('no decision is kept')])
  })

  test('is kept in bounds by the loops of every server', async () => {
    const web = await decidedDaysAgo('web', [90, 60, 29])
    await store.fresh()
    await applyRetention({ store, clock, retention: RETENTION })
    expect(await daysKept(web.uid)).toEqual([60, 29])
    const large = await decidedDaysAgo(
      'large',
      Array.from({ length: 12 }, (_, index) => 12 - index),
      400 * KIB,
    )
    await store.fresh()
    expect(decisionBytes()).toBeGreaterThan(DECISION_BOUNDS.bytes)
    await boundBytes({ store, clock, retention: RETENTION })
    await store.fresh()
    expect(decisionBytes()).toBeLessThanOrEqual(DECISION_BOUNDS.bytes)
    expect((await daysKept(large.uid)).at(-1)).toBe(1)
    // The large decisions push out only older decisions of their own deployment.
    expect(await daysKept(web.uid)).toEqual([60, 29])
  })

  test('keeps the parts that it names, and unnamed parts are kept for an hour', async () => {
    const web = await decidedDaysAgo('web', [9, 8])
    const owner = ownerOf('deployment', web.uid)
    const part = (number: number, at: number) => `${decisionId({ owner, number, at })}/0`
    const ids = [part(1, now - 9 * DAY_MS), part(3, now - 1), part(4, now - 2 * 3_600_000)]
    await world.write(store, (transaction) => {
      for (const id of ids) transaction.put(inTenant(tenant, decisionParts, id), { v: 1, candidates: [] })
    })
    const kept = async () => {
      await store.fresh()
      return store.keysOf(decisionParts, tenant).map(({ id }) => id)
    }
    await retain()
    expect(await kept()).toEqual(ids.slice(0, 2))
    await retain({ max: 1 })
    expect(await kept()).toEqual(ids.slice(1, 2))
  })
})

/** A placement controller that owns every shard without an election; only one controller lives at a time in this test. */
const inCharge = (on: Store): PlacementController =>
  startPlacing({
    store: on,
    clock,
    random: Math.random,
    resyncMs: 3_600_000,
    onError: () => {},
    quotas: { limit: () => 100 },
    residency: { enforcement: true, regions: {} },
    leadership: {
      owns: () => true,
      fenced: (_tenant, decide) => on.transact(decide),
      subscribe: () => () => {},
    },
  })

test('is recorded once by two controllers that both believe to be the leader', async () => {
  const node = world.aNode('n1', { schedulable: false })
  await world.addNodes(store, tenant, node)
  const both = [inCharge(await stores.open()), inCharge(await stores.open())]
  const { uid } = await world.put(store, tenant, world.deploymentOf('web'))
  for (let round = 1; round <= 40; round += 1) {
    const before = world.placementOf(store, tenant, uid)?.decided?.number ?? 0
    const labels = { round: String(round) }
    await world.addNodes(
      store,
      tenant,
      { ...node, labels },
      world.aNode(`n1-${round}`, { schedulable: false }),
    )
    await waitUntil(() => (world.placementOf(store, tenant, uid)?.decided?.number ?? 0) > before, {
      what: 'one of them has decided',
    })
  }
  await waitUntil(() => both.every(({ pending }) => pending === 0), { what: 'both are idle' })
  const kept = await decisionsOf(store, tenant, uid)
  expect(kept.map(({ number }) => number)).toEqual(kept.map((_, index) => index + 1))
  const times = kept.map(({ decidedAt }) => decidedAt)
  expect(times.toSorted()).toEqual(times)
  const matrices = kept.map(({ candidates }) =>
    candidates
      .map(({ nodeName }) => nodeName)
      .sort()
      .join(),
  )
  expect(new Set(matrices).size).toBe(kept.length)
  await Promise.all(both.map((each) => each.stop()))
})

describe('a decision about many nodes', () => {
  const NODES = 150
  const constraints = [{ label: 'zone', operator: 'in' as const, values: ['x'.repeat(1_000)] }]

  const addMachines = async (): Promise<StoredNode[]> => {
    const all = Array.from({ length: NODES }, (_, index) => world.aNode(`machine-number-${index}`))
    for (let from = 0; from < NODES; from += 50)
      await world.addNodes(store, tenant, ...all.slice(from, from + 50))
    return all
  }

  test('is complete or absent, whichever write its leader dies at, and leaves nothing behind', {
    timeout: 180_000,
  }, async () => {
    await addMachines()
    let died = true
    let atWrite = 1
    for (; died; atWrite += 1) died = await dieAt(atWrite)
    expect(atWrite).toBeGreaterThan(2)
    await store.fresh()
    expect([...store.keysOf(decisions, tenant), ...store.keysOf(decisionParts, tenant)]).toEqual([])
  })

  async function dieAt(atWrite: number): Promise<boolean> {
    const mortal = createMortal(atWrite, 'after')
    const first = inCharge(await stores.open({ wrap: mortal.wrap }))
    const stored = await world.put(store, tenant, world.deploymentOf('web', { placement: { constraints } }))
    const isDecided = () => world.placementOf(store, tenant, stored.uid)?.decided !== undefined
    await waitUntil(() => mortal.dead || isDecided(), { what: 'it is dead or has decided' })
    // Before the next controller runs, /why returns a whole decision or none, never a part.
    const early = await whyAt(store, tenant, 'web', clock.now())
    expect([0, NODES]).toContain(early.candidates.length)
    await Promise.race([first.stop(), mortal.death])
    const emitted = await world.eventsOf(store, tenant)
    const second = inCharge(await stores.open())
    await waitUntil(isDecided, { what: 'the successor has decided' })
    // Events that were emitted before the controller died are not emitted again with another time.
    expect(await world.eventsOf(store, tenant)).toEqual(expect.arrayContaining(emitted))
    const { candidates } = await whyAt(store, tenant, 'web', clock.now())
    expect(new Set(candidates.map(({ nodeId }) => nodeId)).size).toBe(NODES)
    expect(await decisionsOf(store, tenant, stored.uid)).toHaveLength(1)
    await remove(stored)
    await second.stop()
    return mortal.dead
  }

  async function remove(stored: StoredDeployment): Promise<void> {
    await world.write(store, (transaction) => {
      transaction.put(inTenant(tenant, deployments, 'web'), { ...stored, deleting: true })
      transaction.put(globally(removals, stored.uid), { v: 1, tenant, name: 'web' })
    })
    await waitUntil(
      async () => {
        await finishRemovals({ store, clock, removeTenantSecrets: async () => true })
        await store.fresh()
        return store.get(inTenant(tenant, deployments, 'web')) === undefined
      },
      { what: 'it is removed' },
    )
  }
})
