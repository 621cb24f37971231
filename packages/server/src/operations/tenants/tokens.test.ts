// A tenant has a limited number of API tokens, on all server replicas together.

import type { Json, TenantId } from '@holdfast/contract'
import { createMemoryKeyspace, type MemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import { openOver, putTenant, write } from '@holdfast/simulation/memory/store-over-memory.fixture'
import { expect, onTestFinished, test } from 'vitest'
import { someTenant } from '../../store/records.fixture.ts'
import { tokens } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { globally } from '../../store/transaction.ts'
import { realIds as ids } from '../../system-clock.ts'
import type { Caller } from '../caller.ts'
import { createIdempotentAnswers } from '../idempotency.ts'
import { issueToken, listTokens, mintToken, sweepTokens } from './tokens.ts'

const HOUR_MS = 3_600_000
const START = Date.parse('2026-01-01T00:00:00.000Z')
const LIMIT = 5

interface World {
  readonly tenant: TenantId
  readonly store: Store
  pass(hours: number): void
  /** Returns the code of the rejection, or `issued`. */
  issue(hours: number, on?: Store): Promise<string>
  sweep(): Promise<number>
  open(): Promise<Store>
}

async function opened(keyspace: MemoryKeyspace): Promise<Store> {
  const store = await openOver(keyspace)
  onTestFinished(() => store.close())
  return store
}

async function openWorld(): Promise<World> {
  const keyspace = createMemoryKeyspace()
  const store = await opened(keyspace)
  let now = START
  const clock = { now: () => now }
  const tenant = someTenant()
  const at = (hours: number) => new Date(now + hours * HOUR_MS).toISOString()
  const first = { name: 'first', role: 'tenant-admin', expiresAt: at(10_000) } as const
  const { record } = mintToken(ids, at(0), tenant, first)
  await write(store, (transaction) => {
    putTenant(transaction, tenant)
    transaction.put(globally(tokens, record.id), record)
  })
  const caller: Caller = { tenant, token: record.id, role: record.role, onBehalf: false, requestId: 'r' }
  return {
    tenant,
    store,
    pass: (hours) => {
      now += hours * HOUR_MS
    },
    async issue(hours, on = store) {
      const body: Json = { name: 'ci', role: 'viewer', expiresAt: at(hours) }
      const answers = createIdempotentAnswers(on, clock, 24)
      const deps = { store: on, clock, ids, answers, quotas: { limit: () => LIMIT } }
      const outcome = await issueToken(deps, caller, body, {
        idempotency: undefined,
        answerOf: (issued) => ({ status: 201, body: issued }),
      })
      return outcome.ok ? 'issued' : (outcome.rejections[0]?.code ?? '')
    },
    async sweep() {
      await sweepTokens({ store, clock })
      await store.fresh()
      return listTokens({ store }, tenant).length
    },
    open: () => opened(keyspace),
  }
}

test('two server replicas together issue no more tokens than the quota allows', async () => {
  const { tenant, store, issue, open } = await openWorld()
  const other = await open()
  const outcomes = await Promise.all(
    Array.from({ length: 12 }, (_, index) => issue(1, index % 2 === 0 ? store : other)),
  )
  expect(outcomes.filter((outcome) => outcome === 'issued')).toHaveLength(LIMIT - 1)
  expect(new Set(outcomes)).toEqual(new Set(['issued', 'quota_exceeded']))
  await store.fresh()
  expect(listTokens({ store }, tenant)).toHaveLength(LIMIT)
})

test('expired tokens make room for new ones, so that all tokens stay within the limit', async () => {
  const { tenant, store, issue, pass } = await openWorld()
  for (let index = 1; index < LIMIT; index += 1) expect(await issue(index)).toBe('issued')
  expect(await issue(1)).toBe('quota_exceeded')
  pass(2.5)
  expect(await issue(1)).toBe('issued')
  expect(await issue(1)).toBe('issued')
  expect(await issue(1)).toBe('quota_exceeded')
  await store.fresh()
  expect(listTokens({ store }, tenant)).toHaveLength(LIMIT)
})

test('the sweep deletes tokens a day after they expired, and no valid one', async () => {
  const { issue, pass, sweep } = await openWorld()
  for (const hours of [1, 1, 100]) await issue(hours)
  expect(await sweep()).toBe(4)
  pass(24.5)
  expect(await sweep()).toBe(4)
  pass(1)
  expect(await sweep()).toBe(2)
})
