import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import { openOver, putTenant, write } from '@holdfast/simulation/memory/store-over-memory.fixture'
import { expect, onTestFinished, test } from 'vitest'
import { createIdempotentAnswers } from '../operations/idempotency.ts'
import { someTenant } from '../store/records.fixture.ts'
import { idempotentAnswers } from '../store/records.ts'
import { applyRetention } from './retention.ts'

const HOUR_MS = 3_600_000
const RETENTION = { events: { days: 30, max: 10, bytes: 1e6 }, audit: { days: 30, max: 10 } }

test('all expired responses are dropped at once, after the configured hours and not before', async () => {
  const store = await openOver(createMemoryKeyspace())
  onTestFinished(() => store.close())
  const tenant = someTenant()
  const began = Date.parse('2026-01-01T00:00:00.000Z')
  const answers = createIdempotentAnswers(store, { now: () => began }, 168)
  const caller = { tenant, token: 'tok_1', role: 'developer', onBehalf: false, requestId: 'r' }
  await write(store, (transaction) => putTenant(transaction, tenant))
  for (let from = 0; from < 250; from += 50)
    await write(store, (transaction) => {
      for (let index = from; index < from + 50; index += 1)
        answers.keep(
          transaction,
          caller as never,
          { id: `a${index}`, requestHash: '' },
          { status: 201, body: {} },
        )
    })
  const leftAfter = async (hours: number) => {
    await applyRetention({ store, clock: { now: () => began + hours * HOUR_MS }, retention: RETENTION })
    await store.fresh()
    return store.keysOf(idempotentAnswers, tenant).length
  }
  expect(await leftAfter(167)).toBe(250)
  expect(await leftAfter(169)).toBe(0)
})
