// Tests the controller of jobs on an in-memory store: attempts, their ends, and what a job releases when it ends.

import {
  AGENT_CAPABILITIES,
  type Assignment,
  asJobId,
  asVolumeId,
  consumerOf,
  type Observation,
  ownerOf,
  type TenantId,
} from '@holdfast/contract'
import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import { nodeId, openOver, putTenant, write } from '@holdfast/simulation/memory/store-over-memory.fixture'
import { afterEach, expect, test } from 'vitest'
import { slotId } from '../../../quotas/slots.ts'
import { aJob, someTenant } from '../../../store/records.fixture.ts'
import {
  credentials,
  events,
  jobs,
  nodes,
  observations,
  type StoredJob,
  slots,
  volumeWriters,
} from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { inTenant, placementAt } from '../../../store/transaction.ts'
import { startPlacing } from '../place-deployments.ts'

const START = Date.parse('2026-01-01T00:00:00.000Z')
const PATIENCE = { timeout: 15_000 }
const ID = aJob().id
const OWNER = ownerOf('job', ID)
const VOLUME = asVolumeId('vol_01JCPZ0000000000000000000A')
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const SECRET = { name: 'DB', vault_path: 'deployments/db', anchor: 'external', rotation: 'restart' }

async function start(job: StoredJob, capabilities: readonly string[] = AGENT_CAPABILITIES) {
  const keyspace = createMemoryKeyspace()
  const user = await openOver(keyspace)
  ends.push(() => user.close())
  const tenant: TenantId = someTenant()
  let now = START
  await write(user, (transaction) => putTenant(transaction, tenant))
  const state = (able: readonly string[]) =>
    write(user, (transaction) => {
      const address = inTenant(tenant, nodes, nodeId)
      const node = transaction.get(address)
      if (node !== undefined)
        transaction.put(address, { ...node, agent: { version: '1', capabilities: [...able] } })
    })
  await state(capabilities)
  await write(user, (transaction) => {
    transaction.put(inTenant(tenant, slots, slotId('jobs_running', 0)), { v: 1, holder: ID })
    transaction.put(inTenant(tenant, jobs, ID), job)
  })
  await openController(await openOver(keyspace), () => now)
  const read = () => user.get(inTenant(tenant, jobs, ID))?.record
  const current = (): Assignment | undefined =>
    user.get(placementAt(tenant, OWNER))?.record.assignments.find(({ id }) => id === read()?.current)
  const report = (assignment: Assignment, over: Partial<Observation>) =>
    write(user, (transaction) =>
      transaction.put(inTenant(tenant, observations, assignment.id), {
        ...{ v: 1, assignmentId: assignment.id, generation: 1, seq: 1, state: 'running', containerId: 'c' },
        ...{ startedAt: new Date(now).toISOString(), exitCode: null, restarts: 0, reason: '', gone: false },
        ...{ owner: OWNER, nodeId, at: new Date(now).toISOString() },
        ...over,
      }),
    )
  const seen = (): string => `${read()?.phase} ${read()?.reason}`.trim()
  return {
    ...{ user, tenant, read, current, report, seen, state },
    pass: (ms: number) => {
      now += ms
    },
    until: (expected: string) => expect.poll(seen, PATIENCE).toBe(expected),
    attempt: async (number: number): Promise<Assignment> => {
      await expect.poll(() => [read()?.attempts, current() !== undefined], PATIENCE).toEqual([number, true])
      const found = current()
      if (found === undefined) throw new Error('no attempt runs')
      return found
    },
    assignments: () =>
      user.get(placementAt(tenant, OWNER))?.record.assignments.map(({ desired }) => desired) ?? [],
    events: async () => {
      const keys = user.keysOf(events, tenant).map(({ key }) => key)
      const found = await user.read(events, keys)
      return found.map((each) => `${each?.type} ${each?.reason}`).sort()
    },
  }
}

function openController(store: Store, now: () => number): void {
  const placing = startPlacing({
    store,
    clock: { now },
    quotas: { limit: () => 100 },
    residency: { enforcement: true, regions: {} },
    leadership: {
      owns: () => true,
      fenced: (_tenant, decide) => store.transact(decide),
      subscribe: () => () => {},
    },
    random: () => 0.5,
    onError: (error) => {
      throw error
    },
  })
  ends.push(() => store.close())
  ends.push(() => placing.stop())
}

/** The report of a container that the agent stopped, which has no last exit. */
const stopped: Partial<Observation> = { state: 'stopped', exitCode: 143 }
const ended = (code: number, gone = false): Partial<Observation> => ({
  ...{ state: 'stopped', exitCode: code, generation: gone ? 3 : 1, gone },
  lastExit: { code, at: new Date(START).toISOString() },
})

test('a job that succeeds frees its slot, and its placement goes with its container', async () => {
  const world = await start(aJob())
  const first = await world.attempt(1)
  expect(first.nodeId).toBe(nodeId)
  const { templates, resources } = world.user.get(placementAt(world.tenant, OWNER))?.record ?? {}
  expect(templates?.[first.templateHash]).toMatchObject({ runs: 'once', name: 'migrate' })
  expect(resources).toEqual(aJob().spec.resources)
  await world.report(first, {})
  await world.until('running')
  await world.report(first, ended(0))
  await world.until('succeeded')
  expect(world.user.keysOf(slots, world.tenant)).toEqual([])
  await expect.poll(world.assignments, PATIENCE).toEqual(['removed'])
  await world.report(first, ended(0, true))
  await expect.poll(() => world.user.has(placementAt(world.tenant, OWNER)), PATIENCE).toBe(false)
  expect(world.user.has(inTenant(world.tenant, observations, first.id))).toBe(false)
  expect(world.read()).toMatchObject({ exitCode: 0, last: first.id, nodeId, slot: null })
  expect(await world.events()).toEqual(['job.started started', 'job.succeeded succeeded'])
})

test('the next attempt starts after its time, and only once the container before is gone', async () => {
  const world = await start(aJob({ retries: 1 }))
  const first = await world.attempt(1)
  await world.report(first, ended(3))
  await world.until('pending backoff')
  world.pass(1000)
  await world.until('pending stopping')
  await world.report(first, ended(3, true))
  const second = await world.attempt(2)
  expect(second.id).not.toBe(first.id)
  await world.report(second, ended(4))
  await world.until('failed exited')
  expect(world.read()).toMatchObject({ exitCode: 4, attempts: 2, failures: 2 })
  expect(await world.events()).toEqual(['job.failed exited', 'job.started retried', 'job.started started'])
})

test('a job is stopped at the end of its time', async () => {
  const world = await start(aJob())
  const first = await world.attempt(1)
  await world.report(first, {})
  await world.until('running')
  world.pass(3_600_000)
  await world.until('running timed_out')
  expect(world.assignments()).toEqual(['stopped'])
  await world.report(first, { ...stopped, generation: 2 })
  await world.until('failed timed_out')
})

test('the pull of the image does not consume a short timeout, and has an end too', async () => {
  const world = await start(aJob({ timeout: '1m' }))
  const first = await world.attempt(1)
  await world.report(first, { state: 'pulling', startedAt: null, containerId: null })
  world.pass(14 * 60_000)
  const reason = 'image_pull_failed'
  await world.report(first, { state: 'pulling', startedAt: null, containerId: null, reason, seq: 2 })
  await world.until('pending image_pull_failed')
  expect(world.assignments()).toEqual(['running'])
  world.pass(61_000)
  await world.until('pending timed_out')
  expect(world.assignments()).toEqual(['stopped'])
})

test('a cancelled job is stopped, and ends with its container', async () => {
  const world = await start(aJob())
  const first = await world.attempt(1)
  await world.report(first, {})
  await world.until('running')
  await write(world.user, (transaction) => {
    const job = transaction.get(inTenant(world.tenant, jobs, ID))
    if (job !== undefined) transaction.put(inTenant(world.tenant, jobs, ID), { ...job, cancelled: true })
  })
  await world.until('running cancelling')
  expect(world.assignments()).toEqual(['stopped'])
  await world.report(first, { ...stopped, generation: 2 })
  await world.until('cancelled')
  expect(await world.events()).toContain('job.cancelled cancelled')
})

test('a job without a node waits, and starts when a node fits', async () => {
  const world = await start(aJob(), [])
  await world.until('pending unschedulable')
  expect(world.read()?.unplaced).not.toBe('')
  await world.state(AGENT_CAPABILITIES)
  await world.attempt(1)
  expect(world.read()?.unplaced).toBe('')
})

test('two jobs do not share capacity', async () => {
  const world = await start(aJob())
  await world.attempt(1)
  const other = asJobId('job_01JCPZ0000000000000000000B')
  await write(world.user, (transaction) =>
    transaction.put(inTenant(world.tenant, jobs, other), { ...aJob(), id: other, slot: 1 }),
  )
  const seen = () => world.user.get(inTenant(world.tenant, jobs, other))?.record.reason
  await expect.poll(seen, PATIENCE).toBe('unschedulable')
})

test('a job that ends releases its secrets and volumes', async () => {
  const volumes = [{ volume: VOLUME, target: '/data', type: 'tmpfs' as const, readOnly: false }]
  const world = await start(aJob({ secrets: [SECRET], volumes }), [])
  await world.until('pending unschedulable')
  await write(world.user, (transaction) => {
    transaction.put(inTenant(world.tenant, credentials, 'db'), {
      ...{ v: 1, label: 'db', namespace: 'deployments', consumers: [consumerOf('job', ID)] },
      ...{ versions: [{ version: 1, keys: ['a'], createdAt: '' }], initial: 1, slot: null },
    })
    transaction.put(inTenant(world.tenant, volumeWriters, VOLUME), {
      ...{ v: 1, volume: VOLUME, owner: OWNER, name: 'migrate', epoch: 0, state: 'bound' },
    })
  })
  await world.state(AGENT_CAPABILITIES)
  const first = await world.attempt(1)
  expect(world.user.get(inTenant(world.tenant, volumeWriters, VOLUME))?.record.assignmentId).toBe(first.id)
  await world.report(first, ended(0))
  await world.until('succeeded')
  expect(world.user.get(inTenant(world.tenant, credentials, 'db'))?.record.consumers).toEqual([])
  const claim = () => world.user.get(inTenant(world.tenant, volumeWriters, VOLUME))?.record.state
  expect(claim()).toBe('releasing')
  await world.report(first, ended(0, true))
  await expect.poll(claim, PATIENCE).toBeUndefined()
})

test('the container of a job whose record is gone is removed', async () => {
  const world = await start(aJob())
  const first = await world.attempt(1)
  await write(world.user, (transaction) => transaction.delete(inTenant(world.tenant, jobs, ID)))
  await expect.poll(world.assignments, PATIENCE).toEqual(['removed'])
  await world.report(first, ended(143, true))
  await expect.poll(() => world.user.has(placementAt(world.tenant, OWNER)), PATIENCE).toBe(false)
})
