// Reading logs leaves a short trail of its own, and the trail of writes intact.

import type { TenantId, TokenId } from '@holdfast/contract'
import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import { openOver, putTenant, write } from '@holdfast/simulation/memory/store-over-memory.fixture'
import { expect, onTestFinished, test } from 'vitest'
import { applyRetention, boundBytes } from '../../loops/retention.ts'
import { putDeployment, someTenant } from '../../store/records.fixture.ts'
import { audit } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { realIds as ids } from '../../system-clock.ts'
import type { Caller } from '../caller.ts'
import { readLogs } from '../deployments/logs/read-logs.ts'
import { recordAudit } from '../record-write.ts'
import { listAudit } from './list-audit.ts'
import { createReadingLog, MOST_COUNTED, type ReadingLog } from './reading-log.ts'

const HOUR_MS = 3_600_000
const START = Date.parse('2026-01-01T00:00:00.000Z')
const RETENTION = { events: { days: 30, max: 100, bytes: 1e6 }, audit: { days: 30, max: 100 } }
const QUERY = { follow: false, tail: 10, previous: false }
const DEPLOYMENT = { kind: 'Deployment', name: 'web' }

interface World {
  readonly store: Store
  readonly tenant: TenantId
  readonly readings: ReadingLog
  readonly clock: { now(): number }
  pass(ms: number): void
  caller(token?: string): Caller
  writes(): number
}

async function openWorld(): Promise<World> {
  const opened = await openOver(createMemoryKeyspace())
  onTestFinished(() => opened.close())
  let transactions = 0
  const store: Store = {
    ...opened,
    transact: (decide) => {
      transactions += 1
      return opened.transact(decide)
    },
  }
  const tenant = someTenant()
  await write(opened, (transaction) => {
    putTenant(transaction, tenant)
    putDeployment(transaction, tenant, 'web')
  })
  await opened.fresh()
  let now = START
  const clock = { now: () => now }
  const readings = createReadingLog({
    ...{ store, clock, ids },
    onFailure: (error) => {
      throw error
    },
  })
  onTestFinished(() => readings.close())
  return {
    ...{ store, tenant, readings, clock },
    pass: (ms) => {
      now += ms
    },
    caller: (token = 'tok_1') => ({
      ...{ tenant, token: token as TokenId, role: 'developer', onBehalf: false, requestId: 'req_1' },
    }),
    writes: () => transactions,
  }
}

async function entriesOf({ store, tenant }: World, action: string) {
  const listed = await listAudit(store, tenant, { limit: 500, cursor: undefined, times: {} })
  if (!listed.ok) throw new Error('the list was refused')
  return listed.value.items.filter((entry) => entry.action === action)
}

test('five thousand log reads write nothing while they are answered, and push out no write', async () => {
  const world = await openWorld()
  const { store, tenant, readings, clock, pass, caller, writes } = world
  const act = (action: string) =>
    write(store, (transaction) => recordAudit(transaction, clock, caller(), { action, subject: DEPLOYMENT }))
  for (let at = 0; at < 90; at += 1) await act('deployments:change')
  for (let at = 0; at < 300; at += 1) await act('deployments:exec')
  const before = writes()
  const deps = { store, clock, readings, openStream: () => expect.unreachable('no line is read') }
  for (let at = 0; at < 5_000; at += 1) {
    const lines = await readLogs(deps, caller(), 'web', QUERY)
    expect(lines.ok).toBe(true)
  }
  expect(writes()).toBe(before)
  await readings.flush()
  pass(HOUR_MS)
  await readings.flush()
  await store.fresh()
  await applyRetention({ store, clock, retention: RETENTION })
  await boundBytes({ store, clock, retention: RETENTION })
  await store.fresh()
  expect(await entriesOf(world, 'deployments:change')).toHaveLength(90)
  expect(await entriesOf(world, 'deployments:exec')).toHaveLength(100)
  const [read, ...others] = await entriesOf(world, 'deployments:logs')
  expect(others).toEqual([])
  expect(read).toMatchObject({
    ...{ subject: DEPLOYMENT, actor: { token: 'tok_1' }, detail: { reads: '5000' } },
  })
  expect(store.keysOf(audit, tenant)).toHaveLength(91)
})

test('each token, subject and hour has its own entry, written soon and then with the final number', async () => {
  const world = await openWorld()
  const { readings, pass, caller } = world
  const logs = { action: 'deployments:logs', subject: DEPLOYMENT }
  const reads = async () =>
    (await entriesOf(world, 'deployments:logs')).map(
      ({ actor, detail }) => `${actor.token} ${detail?.['reads']}`,
    )
  readings.note(caller(), logs)
  await readings.flush()
  expect(await reads()).toEqual(['tok_1 1'])
  for (let at = 0; at < 9; at += 1) readings.note(caller(), logs)
  readings.note(caller('tok_2'), logs)
  await readings.flush()
  expect((await reads()).toSorted()).toEqual(['tok_1 1', 'tok_2 1'])
  pass(HOUR_MS)
  readings.note(caller(), logs)
  await readings.flush()
  expect((await reads()).toSorted()).toEqual(['tok_1 1', 'tok_1 10', 'tok_2 1'])
  readings.note(caller(), logs)
  await readings.close()
  expect((await reads()).toSorted()).toEqual(['tok_1 10', 'tok_1 2', 'tok_2 1'])
})

test('the memory of one tenant is limited: further subjects share an entry, and no read is lost', async () => {
  const world = await openWorld()
  const { readings, caller } = world
  for (let at = 0; at < MOST_COUNTED + 50; at += 1)
    readings.note(caller(), { action: 'deployments:logs', subject: { kind: 'Deployment', name: `d${at}` } })
  await readings.flush()
  const listed = await listAudit(world.store, world.tenant, {
    ...{ limit: 10, cursor: undefined, times: {}, subject: '(several)' },
  })
  const [several] = listed.ok ? listed.value.items : []
  expect(several?.detail?.['reads']).toBe('50')
})
