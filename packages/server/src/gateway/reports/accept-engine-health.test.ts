// Tests what the reports of an agent about its engine change in the node's record, and that a hostile agent writes little.

import type { TenantId } from '@holdfast/contract'
import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import {
  clock,
  nodeId,
  openOver,
  putTenant,
  write,
} from '@holdfast/simulation/memory/store-over-memory.fixture'
import { expect, onTestFinished, test } from 'vitest'
import { nodeView } from '../../operations/nodes/node-view.ts'
import { someTenant } from '../../store/records.fixture.ts'
import { events, nodes } from '../../store/records.ts'
import { inTenant } from '../../store/transaction.ts'
import { type GatewayContext, newCounts } from '../deps.ts'
import { newSession } from '../session/session.ts'
import { DEFAULT_TIMES } from '../timings.ts'
import { acceptEngineHealth } from './accept-engine-health.ts'

const tenant: TenantId = someTenant()
const BACK = { silentMs: 0, steadyMs: 30_000 }

async function begin() {
  const store = await openOver(createMemoryKeyspace())
  onTestFinished(() => store.close())
  await write(store, (transaction) => putTenant(transaction, tenant))
  await store.fresh()
  const known = () => store.get(inTenant(tenant, nodes, nodeId))?.record ?? expect.unreachable()
  const { generation, session: opened } = known()
  const replica = opened.replica ?? 'srv'
  await write(store, (transaction) =>
    transaction.put(inTenant(tenant, nodes, nodeId), {
      ...known(),
      status: 'ready',
      session: { ...opened, replica },
    }),
  )
  await store.fresh()
  const log = { info() {}, warn() {} }
  const context = { store, clock, replica, times: DEFAULT_TIMES, counts: newCounts(), log }
  const identity = { tenant, nodeId, generation, epoch: opened.epoch, reportedStatus: 'ready' as const }
  const session = newSession(identity, undefined, 0)
  return {
    async report(silentSeconds: number | 'back', atSeconds: number) {
      const health = silentSeconds === 'back' ? BACK : { silentMs: silentSeconds * 1_000, steadyMs: 0 }
      await acceptEngineHealth(context as unknown as GatewayContext, session, health, atSeconds * 1_000)
      await store.fresh()
      const { status, reason, faults } = nodeView(known(), tenant, [])
      return [status, reason, faults?.[0]?.failed].filter((part) => part !== undefined).join(' ')
    },
    session,
    async published() {
      const keys = store.keysOf(events, tenant).map(({ key }) => key)
      const read = (await store.read(events, keys)).flatMap((event) => event ?? [])
      return read.map(({ type, severity, reason }) => `${type} ${severity} ${reason}`).sort()
    },
  }
}

test('an engine is degraded after 30 s of silence, failed after 120 s, and fine once it answers steadily', async () => {
  const { report, published } = await begin()
  expect(await report(29, 29)).toBe('ready')
  expect(await report(31, 31)).toBe('degraded engine_silent')
  expect(await report(119, 119)).toBe('degraded engine_silent')
  expect(await report(121, 121)).toBe('degraded engine_silent true')
  expect(await report(2, 130)).toBe('degraded engine_silent true')
  expect(await report('back', 160)).toBe('ready')
  expect(await published()).toEqual([
    'node.degraded error engine_silent',
    'node.degraded warning engine_silent',
    'node.recovered info engine_silent',
  ])
})

test('an agent that reports something else each second causes few writes', async () => {
  const { report, session } = await begin()
  for (let second = 0; second < 300; second += 1) await report(second % 2 === 0 ? 200 : 'back', second)
  expect(session.writes).toBeLessThanOrEqual(10)
})

test('a report of an older session changes nothing', async () => {
  const { report, session } = await begin()
  Object.assign(session, { epoch: session.epoch - 1 })
  expect(await report(200, 200)).toBe('ready')
})
