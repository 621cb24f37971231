// Tests that the hold that an agent states reaches the node's record, its view and the metric, and that a hostile agent
// writes little.

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
import { countHolds } from '../../operations/nodes/count-holds.ts'
import { nodeView } from '../../operations/nodes/node-view.ts'
import { someTenant } from '../../store/records.fixture.ts'
import { nodes } from '../../store/records.ts'
import { inTenant } from '../../store/transaction.ts'
import type { GatewayContext } from '../deps.ts'
import { newSession } from '../session/session.ts'
import { acceptHold } from './accept-hold.ts'

const tenant: TenantId = someTenant()
const WHY = 'the store has epoch e2, and this node knew e1'

async function begin() {
  const store = await openOver(createMemoryKeyspace())
  onTestFinished(() => store.close())
  await write(store, (transaction) => putTenant(transaction, tenant))
  await store.fresh()
  const known = () => store.get(inTenant(tenant, nodes, nodeId))?.record ?? expect.unreachable()
  const { generation, session: opened } = known()
  const replica = opened.replica ?? 'srv'
  await write(store, (transaction) =>
    transaction.put(inTenant(tenant, nodes, nodeId), { ...known(), session: { ...opened, replica } }),
  )
  await store.fresh()
  const context = { store, clock, replica, log: { info() {}, warn() {} } }
  const identity = { tenant, nodeId, generation, epoch: opened.epoch, reportedStatus: 'ready' as const }
  const session = newSession(identity, undefined, 0)
  return {
    session,
    async report(reason: string | undefined, atSeconds: number) {
      await acceptHold(context as unknown as GatewayContext, session, reason, atSeconds * 1_000)
      await store.fresh()
      return [nodeView(known(), tenant, []).hold?.reason, countHolds(store)]
    },
  }
}

test('a hold is shown with its reason until the agent states none', async () => {
  const { report, session } = await begin()
  expect(await report(undefined, 0)).toEqual([undefined, 0])
  expect(session.writes).toBe(0)
  expect(await report(WHY, 10)).toEqual([WHY, 1])
  expect(await report(WHY, 20)).toEqual([WHY, 1])
  expect(session.writes).toBe(1)
  expect(await report(undefined, 30)).toEqual([undefined, 0])
})

test('an agent that states another reason each second causes few writes', async () => {
  const { report, session } = await begin()
  for (let second = 0; second < 60; second += 1) await report(`reason ${second}`, second)
  expect(session.writes).toBeLessThanOrEqual(13)
})

test('a statement of an older session changes nothing', async () => {
  const { report, session } = await begin()
  Object.assign(session, { epoch: session.epoch - 1 })
  expect(await report(WHY, 10)).toEqual([undefined, 0])
})
