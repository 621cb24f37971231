// Events and audit entries are found by their times, and an event names the audit entry of its request.

import type { TokenId } from '@holdfast/contract'
import { ulid } from '@holdfast/contract'
import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import { openOver, putTenant, write } from '@holdfast/simulation/memory/store-over-memory.fixture'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { anAuditEntry, someTenant } from '../../store/records.fixture.ts'
import { audit, events } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'
import { recordAudit, recordEvent } from '../record-write.ts'
import { listAudit } from './list-audit.ts'
import { listEvents } from './read-events.ts'
import { readTimeRange, type TimeRange } from './time-range.ts'

const tenant = someTenant()
const START = Date.parse('2026-01-01T00:00:00Z')
const MINUTE = 60_000
let store: Store
beforeEach(async () => {
  store = await openOver(createMemoryKeyspace())
  await put((transaction) => putTenant(transaction, tenant))
})
afterEach(() => store.close())

async function put(change: (transaction: Transaction) => void): Promise<void> {
  await write(store, change)
  await store.fresh()
}

const event = (number: number) => ({
  type: 'deployment.running' as const,
  severity: 'info' as const,
  subject: { kind: 'Deployment', name: 'web', uid: `dep_${number}` },
  cause: String(number),
  reason: 'running',
  message: `event ${number}`,
  data: {},
})

describe('events', () => {
  const MANY = 300
  beforeEach(async () => {
    for (let at = 0; at < MANY; at += 1)
      await put((transaction) =>
        recordEvent(transaction, { now: () => START + at * MINUTE }, tenant, event(at)),
      )
  })

  const listed = async (times: TimeRange, reads = { count: 0 }) => {
    const counting: Store = {
      ...store,
      revision: store.revision,
      read: (collection, keys) => {
        reads.count += keys.length
        return store.read(collection, keys)
      },
    }
    const query = { limit: 500, after: undefined, before: undefined, times }
    const none = { type: undefined, subject: undefined, severity: undefined }
    const page = await listEvents(counting, tenant, { ...query, ...none })
    return page.ok ? page.value.items.map(({ message }) => message) : []
  }

  test.each([
    ['a range', { since: START + 100 * MINUTE, until: START + 103 * MINUTE }, [100, 101, 102, 103]],
    ['a time after all', { since: START + MANY * MINUTE }, []],
    ['a time before all', { until: START - 1 }, []],
    ['the last two', { since: START + 298 * MINUTE }, [298, 299]],
    ['the first two', { until: START + MINUTE }, [0, 1]],
  ])('of %s are exactly those', async (_, times, expected) => {
    expect(await listed(times)).toEqual(expected.map((number) => `event ${number}`))
  })

  test('of a short range are found without reading all', async () => {
    const reads = { count: 0 }
    await listed({ since: START + 100 * MINUTE, until: START + 103 * MINUTE }, reads)
    expect(reads.count).toBeLessThan(200)
  })
})

describe('audit entries', () => {
  const listed = async (query: object) => {
    const page = await listAudit(store, tenant, { limit: 500, times: {}, ...query })
    return page.ok ? page.value.items.map(({ requestId }) => requestId).join(' ') : page.rejections[0]?.code
  }
  beforeEach(async () => {
    for (let at = 0; at < 5; at += 1) {
      const id = ulid(START + at * MINUTE, new Uint8Array(10).fill(at)) as never
      const entry = {
        ...anAuditEntry(tenant, id, `r${at}`),
        subject: { kind: 'D', name: at % 2 ? 'odd' : 'even' },
      }
      await put((transaction) => transaction.put(inTenant(tenant, audit, id), entry))
    }
  })

  test.each([
    ['newest first', {}, 'r4 r3 r2 r1 r0'],
    ['oldest first', { sort: 'oldest' }, 'r0 r1 r2 r3 r4'],
    ['since a time', { times: { since: START + 3 * MINUTE } }, 'r4 r3'],
    ['until a time, itself included', { times: { until: START + MINUTE } }, 'r1 r0'],
    ['of a subject', { subject: 'odd' }, 'r3 r1'],
    ['of an unknown subject', { subject: 'none' }, ''],
  ])('are listed %s', async (_, query, expected) => expect(await listed(query)).toBe(expected))

  test.each(['newest', 'oldest'])('are read in pages, %s first', async (sort) => {
    const read: string[] = []
    let cursor: string | undefined
    do {
      const page = await listAudit(store, tenant, { limit: 2, times: {}, sort, cursor })
      if (!page.ok) throw new Error('rejected')
      read.push(...page.value.items.map(({ requestId }) => requestId))
      cursor = page.value.nextCursor ?? undefined
    } while (cursor !== undefined)
    expect(read.join(' ')).toBe(await listed({ sort }))
  })
})

describe('an event', () => {
  const caller = {
    tenant,
    token: 'tok_1' as TokenId,
    role: 'developer' as const,
    onBehalf: false,
    requestId: 'r',
  }
  const clock = { now: () => START }
  const subject = { kind: 'Deployment', name: 'web' }
  const auditOf = async () => {
    const keys = store.keysOf(events, tenant).map(({ key }) => key)
    return (await store.read(events, keys)).map((found) => found?.audit)
  }

  test.each([
    ['before', true],
    ['after', false],
  ])('that is recorded %s the audit entry names it', async (_, isFirst) => {
    await put((transaction) => {
      if (isFirst) recordEvent(transaction, clock, tenant, event(1))
      recordAudit(transaction, clock, caller, { action: 'deployments:create', subject })
      if (!isFirst) recordEvent(transaction, clock, tenant, event(1))
    })
    const [entry] = store.keysOf(audit, tenant)
    expect(await auditOf()).toEqual([entry?.id])
  })

  test('without a request names none', async () => {
    await put((transaction) => recordEvent(transaction, clock, tenant, event(1)))
    expect(await auditOf()).toEqual([undefined])
  })
})

test('times are RFC 3339 or durations before now', () => {
  expect(readTimeRange({ since: '2h', until: '2026-01-01T00:00:00Z' }, START + 5)).toEqual({
    since: START + 5 - 2 * 3_600_000,
    until: START,
  })
  expect(readTimeRange({}, START)).toEqual({})
})
