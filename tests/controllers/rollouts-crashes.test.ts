// A rollout has the same result if its controller dies at any write, or if its shard changes owner at every step: no step
// is done twice, and no serving replica stops before its successor serves.

import type { ContainerTemplate, DeploymentSpec, Event, TenantId } from '@holdfast/contract'
import type { StoredDeployment } from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { uniqueName, waitUntil } from '@holdfast/testkit'
import { createMortal, type DeathMoment } from '@holdfast/testkit/controllers/mortal-engine'
import {
  type ObedientAgents,
  type Report,
  startObedientAgents,
} from '@holdfast/testkit/controllers/obedient-agents'
import {
  addNodes,
  addTenant,
  aNode,
  deploymentOf,
  eventsOf,
  placementOf,
  put,
  revise,
  runningOf,
  startControllers,
} from '@holdfast/testkit/controllers/placing-world'
import { scaledTimings } from '@holdfast/testkit/controllers/timings'
import { openTestStore, type TestStore, type TestStoreOptions } from '@holdfast/testkit/store/open-test-store'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

/** Short timings, so that a dead server replica is detected soon. Only one server replica lives at a time. */
const QUICK = scaledTimings(0.02)
const REPLICAS = 2
const UPDATE: DeploymentSpec['update'] = {
  order: 'start-first',
  parallelism: 1,
  failureAction: 'rollback',
  progressDeadline: '1h',
}
/** A clock at 150 times the real speed: a watch window of 15 s ends after a tenth of a second. */
const swift = { now: () => Date.now() * 150 - BEGAN * 149 }
const BEGAN = Date.now()

let root: string
let observer: TestStore
let store: Store

beforeEach(async () => {
  root = `/${uniqueName('rollout-crash')}`
  observer = await open()
  store = observer.store
})
afterEach(() => observer.close())

async function open(options: Partial<TestStoreOptions> = {}): Promise<TestStore> {
  return openTestStore({ root, ...options })
}

interface Story {
  readonly tenant: TenantId
  readonly first: StoredDeployment
  readonly agents: ObedientAgents
  /** The revision that all replicas have at the end of the rollout. */
  readonly ends: number
}

const behave = ({ environment: { MODE = '' } }: ContainerTemplate): Report =>
  MODE === 'broken' ? { state: 'running', reason: 'unhealthy' } : {}

/** Creates a deployment with two replicas, and waits until its first revision is recorded as the last good one. */
async function begin(ends: number): Promise<Story> {
  const tenant = await addTenant(store)
  const named = (index: number) => `${tenant.slice(0, 8)}-${index}`
  await addNodes(store, tenant, aNode(named(1)), aNode(named(2)), aNode(named(3)))
  const first = await put(store, tenant, deploymentOf('web', { replicas: REPLICAS, update: UPDATE }))
  const agents = startObedientAgents(store, tenant, first.uid, behave)
  const opened = await open()
  const controllers = startControllers(opened.store, {
    replica: `first-${tenant}`,
    timings: QUICK,
    clock: swift,
  })
  await expect.poll(() => placementOf(store, tenant, first.uid)?.lastGood?.revision).toBe(1)
  await controllers.stop()
  opened.close()
  agents.fewestServed()
  return { tenant, first, agents, ends }
}

const change = ({ tenant, first, ends }: Story) =>
  revise(store, tenant, first, { environment: { MODE: ends === 1 ? 'broken' : '' } })

function isOver({ tenant, first: { uid }, ends }: Story): boolean {
  const placement = placementOf(store, tenant, uid)
  const at = placement?.assignments.map(({ revision, desired }) => `${revision} ${desired}`).join()
  const done = ends === 1 ? placement?.rollout?.state === 'rolling_back' : placement?.lastGood?.revision === 2
  return done && at === `${ends} running,${ends} running`
}

/** Checks the result and the events of the rollout, which must not depend on the controllers that ran it. */
async function expectTheEnd(story: Story): Promise<void> {
  const { tenant, first, agents, ends } = story
  await waitUntil(() => isOver(story), { what: 'the rollout is over', timeoutMs: 20_000 })
  expect(agents.fewestServed()).toBe(REPLICAS)
  const numbers = runningOf(store, tenant, first.uid).map(({ replica }) => replica)
  expect(numbers.toSorted()).toEqual([1, 2])
  const emitted = (await eventsOf(store, tenant)).filter(({ time }) => time !== '')
  expect(countOf(emitted, 'deployment.progressing', 'rollout_started')).toBe(1)
  if (ends === 1) expect(countOf(emitted, 'deployment.rolled_back', 'rollback')).toBe(1)
  // The events list every replica of the first revision and every successor exactly once, so no step was done twice.
  const created = emitted.filter(({ type }) => type === 'deployment.scheduled')
  const replicas = created.flatMap(({ data }) => (data as { replicas: { replica: number }[] }).replicas)
  expect(replicas).toHaveLength(REPLICAS + (ends === 1 ? 1 : REPLICAS))
  if (ends === 2) expect(countOf(emitted, 'deployment.progressing', 'rollout_step')).toBe(REPLICAS)
}

const countOf = (events: readonly Event[], type: string, reason: string): number =>
  events.filter((event) => event.type === type && event.reason === reason).length

/** Runs a rollout with a controller that dies at its n-th write. Returns whether the controller died. */
async function dieAt(atWrite: number, moment: DeathMoment, ends: number): Promise<boolean> {
  const story = await begin(ends)
  const mortal = createMortal(atWrite, moment)
  const opened = await open({ wrap: mortal.wrap })
  const name = `${story.tenant.slice(0, 8)}-${atWrite}-${moment}`
  const first = startControllers(opened.store, { replica: `mortal-${name}`, timings: QUICK, clock: swift })
  await change(story)
  await waitUntil(() => mortal.dead || isOver(story), { what: 'it is dead or done', timeoutMs: 20_000 })
  const died = mortal.dead
  // stop() never resolves for a dead controller, so the test waits for stop() or for the simulated death.
  await Promise.race([first.stop(), mortal.death])
  opened.close()
  const successor = await open()
  const second = startControllers(successor.store, {
    replica: `successor-${name}`,
    timings: QUICK,
    clock: swift,
  })
  await expectTheEnd(story)
  await second.stop()
  successor.close()
  await story.agents.stop()
  return died
}

describe('a controller that dies at any of its writes', () => {
  test.each([
    ['before', 2, 'rolled out'],
    ['after', 2, 'rolled out'],
    ['after', 1, 'rolled back'],
  ] as const)(
    '%s the store executes it: revision %i runs, %s',
    { timeout: 180_000 },
    async (moment, ends, _what) => {
      let atWrite = 1
      for (; await dieAt(atWrite, moment, ends); atWrite += 1);
      // A controller makes at least five writes at which it can die: heartbeat, shards and rollout steps.
      expect(atWrite).toBeGreaterThan(5)
    },
  )
})

test.each([2, 1])(
  'a shard that changes its owner at every step ends with revision %i',
  { timeout: 60_000 },
  async (ends) => {
    const story = await begin(ends)
    await change(story)
    const { tenant, first, agents } = story
    const stateOf = () => JSON.stringify(placementOf(store, tenant, first.uid))
    let hands = 0
    // Agents report only when the test calls act(); otherwise a fast owner would do several steps before it is stopped.
    agents.hold()
    while (!isOver(story)) {
      const before = stateOf()
      const opened = await open()
      const replica = `${tenant.slice(0, 8)}-${hands}`
      const owner = startControllers(opened.store, { replica, timings: QUICK, clock: swift })
      await waitUntil(() => stateOf() !== before || isOver(story), { what: 'one step', timeoutMs: 20_000 })
      await owner.stop()
      opened.close()
      await agents.act()
      hands += 1
    }
    await expectTheEnd(story)
    expect(hands).toBeGreaterThan(2)
    await agents.stop()
  },
)
