// Each stored audit entry appears once in the log of the server that stored it, and stays there when the trail drops it.

import { type AuditEntry, asTransactionId } from '@holdfast/contract'
import { connectMemory } from '@holdfast/simulation/memory/connect-memory'
import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import { putTenant, write } from '@holdfast/simulation/memory/store-over-memory.fixture'
import pino from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { applyRetention } from '../../loops/retention.ts'
import { anAuditEntry, putDeployment, someTenant } from '../../store/records.fixture.ts'
import { audit } from '../../store/records.ts'
import { openStore } from '../../store/store.ts'
import { realClock as clock, realIds as ids } from '../../system-clock.ts'
import { type Actor, createAuditStream, type RejectedWrite } from './audit-stream.ts'

function openStream(level = 'info') {
  const lines: { audit: { [name: string]: unknown }; stream: string; msg: string }[] = []
  const log = pino({ level, base: null }, { write: (line) => lines.push(JSON.parse(line)) })
  return { stream: createAuditStream(log), lines }
}

async function openWorld(fault: () => 'none' | 'lose_answer' = () => 'none') {
  const seen: AuditEntry[] = []
  const engine = connectMemory(createMemoryKeyspace(), {
    fault: (call) => (call === 'transact' ? fault() : 'none'),
  })
  const store = await openStore({
    ...{ engine, clock, ids, onUnreadable: () => {} },
    onAudited: (entry) => seen.push(entry),
  })
  onTestFinished(() => store.close())
  const tenant = someTenant()
  await write(store, (transaction) => putTenant(transaction, tenant))
  await store.fresh()
  return { store, tenant, seen }
}

test('entries that the trail has dropped were all in the stream before, once and in full', async () => {
  const { store, tenant, seen } = await openWorld()
  for (let at = 0; at < 30; at += 1)
    await write(store, (transaction) => putDeployment(transaction, tenant, `web-${at}`))
  await store.fresh()
  const retention = {
    events: { days: 1e6, max: 100, bytes: 1e6 },
    audit: { days: 1e6, max: 10 },
  }
  await applyRetention({ store, clock, retention })
  await store.fresh()
  expect(store.keysOf(audit, tenant)).toHaveLength(10)
  const stored = seen.map(({ id }, at) => anAuditEntry(tenant, asTransactionId(id), `web-${at} 1`))
  expect(seen.map((entry) => ({ v: 1, ...entry }))).toEqual(stored)
  expect(new Set(seen.map(({ id }) => id)).size).toBe(30)
})

test('a write that was stored although its response was lost is in the stream, an aborted one is not', async () => {
  let faults = 0
  const { store, tenant, seen } = await openWorld(() => (faults-- > 0 ? 'lose_answer' : 'none'))
  faults = 1
  await write(store, (transaction) => putDeployment(transaction, tenant, 'web'))
  expect(faults).toBeLessThan(0)
  expect(seen).toHaveLength(1)
  await store.transact<void>((transaction) => {
    putDeployment(transaction, tenant, 'other')
    return { kind: 'abort', result: undefined }
  })
  expect(seen).toHaveLength(1)
})

const actor: Actor = {
  ...{ tenant: someTenant(), token: ids.ulid() as Actor['token'], tokenName: 'ci' },
  ...{ role: 'viewer', onBehalf: false },
}
const rejected: RejectedWrite = {
  ...{ requestId: 'req_1', actor, action: 'deployments:write', status: 403, codes: ['permission_denied'] },
  target: { name: 'web' },
}

test('the stream is written at every level of the log', () => {
  const { stream, lines } = openStream('fatal')
  stream.rejected(rejected)
  const { tenant, token, tokenName: name, role, onBehalf } = actor
  const { actor: _actor, ...written } = rejected
  expect(lines).toMatchObject([
    {
      ...{ stream: 'audit', msg: 'write rejected' },
      audit: { outcome: 'rejected', tenant, actor: { token, name, role }, onBehalf, ...written },
    },
  ])
})

test('only names and ids of the path of a rejected write are shown', () => {
  const { stream, lines } = openStream()
  const id = `vol_${ids.ulid()}`
  const sent = {
    name: `hf_${ids.ulid()}_qL0sVY`,
    path: 'resources/db',
    id,
    node: 'a b',
    other: 'x'.repeat(300),
  }
  stream.rejected({ ...rejected, target: sent })
  const shown = { name: '(invalid)', path: 'resources/db', id, node: '(invalid)', other: '(invalid)' }
  expect(lines[0]?.audit['target']).toEqual(shown)
})
