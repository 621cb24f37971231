// A canary has the same result if its controller dies at any write, or if its shard changes owner at every step: its
// replicas are created once, adopted or removed once, and no replica beside them stops early.

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
  runningOf,
  startControllers,
} from '@holdfast/testkit/controllers/placing-world'
import { promoteCanary, startCanary, storedOf } from '@holdfast/testkit/controllers/stored-canary'
import { scaledTimings } from '@holdfast/testkit/controllers/timings'
import { inRun } from '@holdfast/testkit/long-run'
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
/** A clock at 150 times the real speed: an observation of 15 s ends after a tenth of a second. */
const swift = { now: () => Date.now() * 150 - BEGAN * 149 }
const BEGAN = Date.now()

type Ending = 'promoted' | 'aborted'
interface Story {
  readonly tenant: TenantId
  readonly first: StoredDeployment
  readonly agents: ObedientAgents
  readonly ends: Ending
  /** The replicas before the canary. */
  readonly before: readonly string[]
}

let root: string
let observer: TestStore
let store: Store

beforeEach(async () => {
  root = `/${uniqueName('canary-crash')}`
  observer = await open()
  store = observer.store
})
afterEach(() => observer.close())

const open = (options: Partial<TestStoreOptions> = {}) => openTestStore({ root, ...options })

async function startOwner(replica: string, options: Partial<TestStoreOptions> = {}) {
  const opened = await open(options)
  const controllers = startControllers(opened.store, { replica, timings: QUICK, clock: swift })
  return {
    controllers,
    async stop() {
      await controllers.stop()
      opened.close()
    },
    close: () => opened.close(),
  }
}

const behave = ({ environment: { MODE = '' } }: ContainerTemplate): Report =>
  MODE === 'aborted' ? { state: 'running', reason: 'unhealthy' } : {}
const changeOf = (ends: Ending) => ({ environment: { MODE: ends } })

/** Creates a deployment whose first revision is the last good one, and starts a canary with one replica. */
async function begin(ends: Ending): Promise<Story> {
  const tenant = await addTenant(store)
  const named = (index: number) => `${tenant.slice(0, 8)}-${index}`
  await addNodes(store, tenant, aNode(named(1)), aNode(named(2)), aNode(named(3)))
  const first = await put(store, tenant, deploymentOf('web', { replicas: REPLICAS, update: UPDATE }))
  const agents = startObedientAgents(store, tenant, first.uid, behave)
  const owner = await startOwner(`first-${tenant}`)
  await expect.poll(() => placementOf(store, tenant, first.uid)?.lastGood?.revision).toBe(1)
  await owner.stop()
  agents.fewestServed()
  const before = runningOf(store, tenant, first.uid).map(({ id }) => id)
  await startCanary(store, tenant, swift, changeOf(ends), { replicas: 1, observe: '15s' })
  return { tenant, first, agents, ends, before }
}

/** Promotes the canary when it is ready. */
async function decide({ tenant, ends }: Story): Promise<void> {
  const { canary } = storedOf(store, tenant)
  if (ends === 'promoted' && canary?.phase === 'ready') await promoteCanary(store, tenant)
}

function isOver({ tenant, first: { uid }, ends, before }: Story): boolean {
  const placement = placementOf(store, tenant, uid)
  const assignments = placement?.assignments ?? []
  if (assignments.length !== REPLICAS || assignments.some(({ canary }) => canary === true)) return false
  if (ends === 'aborted')
    return (
      storedOf(store, tenant).canary?.phase === 'aborted' &&
      assignments.every(({ id }) => before.includes(id))
    )
  return placement?.lastGood?.revision === 2 && assignments.every(({ revision }) => revision === 2)
}

/** Checks the result and the events, which must not depend on the controllers that ran the canary. */
async function expectTheEnd(story: Story): Promise<void> {
  const { tenant, first, agents, ends } = story
  await waitUntil(
    async () => {
      await decide(story)
      return isOver(story)
    },
    {
      what: 'the canary is over',
      timeoutMs: 20_000,
      seen: () =>
        JSON.stringify([storedOf(store, tenant).canary, placementOf(store, tenant, first.uid)], null, 1),
    },
  )
  expect(agents.fewestServed()).toBe(REPLICAS)
  const numbers = runningOf(store, tenant, first.uid).map(({ replica }) => replica)
  expect(numbers.toSorted()).toEqual([1, 2])
  const emitted = (await eventsOf(store, tenant)).filter(({ time }) => time !== '')
  expect(countOf(emitted, 'deployment.canary_ready')).toBe(ends === 'promoted' ? 1 : 0)
  expect(countOf(emitted, 'deployment.canary_aborted')).toBe(ends === 'aborted' ? 1 : 0)
  // A promotion adopts the replica of the canary, so only the other replica gets a successor.
  const created = emitted.filter(({ type }) => type === 'deployment.scheduled')
  const replicas = created.flatMap(({ data }) => (data as { replicas: { replica: number }[] }).replicas)
  expect(replicas).toHaveLength(REPLICAS + 1 + (ends === 'promoted' ? REPLICAS - 1 : 0))
}

const countOf = (events: readonly Event[], type: string): number =>
  events.filter((event) => event.type === type).length

/** Runs a canary with a controller that dies at its n-th write. Returns whether the controller died. */
async function dieAt(atWrite: number, moment: DeathMoment, ends: Ending): Promise<boolean> {
  const story = await begin(ends)
  const mortal = createMortal(atWrite, moment)
  const name = `${story.tenant.slice(0, 8)}-${atWrite}-${moment}`
  const owner = await startOwner(`mortal-${name}`, { wrap: mortal.wrap })
  await waitUntil(
    async () => {
      await decide(story)
      return mortal.dead || isOver(story)
    },
    { what: 'it is dead or done', timeoutMs: 20_000 },
  )
  const died = mortal.dead
  // stop() never resolves for a dead controller, so the test waits for stop() or for the simulated death.
  await Promise.race([owner.controllers.stop(), mortal.death])
  owner.close()
  const successor = await startOwner(`successor-${name}`)
  await expectTheEnd(story)
  await successor.stop()
  await story.agents.stop()
  return died
}

/** `npm run long` runs all four; CI each ending with one of the moments. */
const DEATHS: readonly (readonly [DeathMoment, Ending])[] = [
  ['after', 'promoted'],
  ['before', 'aborted'],
  ['before', 'promoted'],
  ['after', 'aborted'],
]

describe('a controller that dies at any of its writes', () => {
  test.each(DEATHS.slice(0, inRun(2, 4)))(
    '%s the store executes it: the canary is %s',
    { timeout: 180_000 },
    async (moment, ends) => {
      let atWrite = 1
      for (; await dieAt(atWrite, moment, ends); atWrite += 1);
      // A controller makes at least five writes at which it can die: heartbeat, shards and steps of the canary.
      expect(atWrite).toBeGreaterThan(5)
    },
  )
})

test.each(['promoted', 'aborted'] as const)(
  'a shard that changes its owner at every step ends with a canary that is %s',
  { timeout: 60_000 },
  async (ends) => {
    const story = await begin(ends)
    const { tenant, first, agents } = story
    const stateOf = () =>
      JSON.stringify([placementOf(store, tenant, first.uid), storedOf(store, tenant).canary?.phase])
    let hands = 0
    // Agents report only when the test calls act(); otherwise a fast owner would do several steps before it is stopped.
    agents.hold()
    while (!isOver(story)) {
      const before = stateOf()
      const owner = await startOwner(`${tenant.slice(0, 8)}-${hands}`)
      await waitUntil(() => stateOf() !== before || isOver(story), { what: 'one step', timeoutMs: 20_000 })
      await owner.stop()
      await decide(story)
      await agents.act()
      hands += 1
    }
    await expectTheEnd(story)
    expect(hands).toBeGreaterThan(2)
    await agents.stop()
  },
)
