// Finished jobs are removed when their time is over; all others stay.

import { asJobId } from '@holdfast/contract'
import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import { clock, openOver, putTenant, write } from '@holdfast/simulation/memory/store-over-memory.fixture'
import { expect, onTestFinished, test } from 'vitest'
import { aJob, someTenant } from '../../store/records.fixture.ts'
import { jobs } from '../../store/records.ts'
import { inTenant } from '../../store/transaction.ts'
import { retainJobs } from './retain-jobs.ts'

const DAY_MS = 24 * 3_600_000
const daysAgo = (days: number): string => new Date(clock.now() - days * DAY_MS).toISOString()

/** More than one transaction removes. */
const OLD = 120

test('removes jobs that ended more than seven days ago, of every tenant, and no others', async () => {
  const store = await openOver(createMemoryKeyspace())
  onTestFinished(() => store.close())
  const tenants = [someTenant(), someTenant()]
  const add = async (name: string, changes: Parameters<typeof aJob>[1]): Promise<void> => {
    for (const tenant of tenants)
      await write(store, (transaction) => {
        const id = asJobId(`job_${name}`)
        transaction.put(inTenant(tenant, jobs, id), aJob({}, { id, ...changes }))
      })
  }
  for (const tenant of tenants) await write(store, (transaction) => putTenant(transaction, tenant))
  for (let at = 0; at < OLD; at += 1) await add(`old${at}`, { phase: 'failed', finishedAt: daysAgo(8) })
  await add('week', { phase: 'succeeded', finishedAt: daysAgo(7) })
  await add('running', { phase: 'running', createdAt: daysAgo(30), finishedAt: null })
  await store.fresh()

  await retainJobs({ store, clock })
  await store.fresh()
  for (const tenant of tenants)
    expect(
      store
        .list(jobs, tenant)
        .map(({ record: { id } }) => id)
        .sort(),
    ).toEqual(['job_running', 'job_week'])
})
