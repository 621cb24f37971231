import { asTokenId, type JobPhase } from '@holdfast/contract'
import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import { clock, openOver, putTenant, write } from '@holdfast/simulation/memory/store-over-memory.fixture'
import { afterEach, expect, test } from 'vitest'
import { aJob, someTenant } from '../../store/records.fixture.ts'
import { audit, jobs, tokens } from '../../store/records.ts'
import { globally, inTenant } from '../../store/transaction.ts'
import { cancelJob } from './cancel-job.ts'

const TOKEN = asTokenId('tok_01JCPZ0000000000000000000A')
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** Cancels a job in the given phase twice; returns the phases in the responses and what is stored afterwards. */
async function cancelTwice(phase: JobPhase) {
  const store = await openOver(createMemoryKeyspace())
  ends.push(() => store.close())
  const tenant = someTenant()
  const job = aJob({}, { phase })
  await write(store, (transaction) => {
    putTenant(transaction, tenant)
    transaction.put(inTenant(tenant, jobs, job.id), job)
    transaction.put(globally(tokens, TOKEN), {
      ...{ v: 1, id: TOKEN, name: 't', role: 'developer', expiresAt: '', createdAt: '' },
      ...{ tenant, secretHash: '' },
    })
  })
  const caller = { tenant, token: TOKEN, role: 'developer', onBehalf: false, requestId: 'r' } as const
  const send = () => cancelJob({ store, clock }, caller, job.id, undefined)
  const answers = [await send(), await send()]
  await store.fresh()
  return {
    phases: answers.map((answer) => (answer.ok ? answer.value.status.phase : answer.rejections)),
    stored: store.get(inTenant(tenant, jobs, job.id))?.record,
    audited: store.keysOf(audit, tenant).length,
  }
}

test.each(['succeeded', 'failed', 'cancelled'] as const)(
  'cancelling a job that ended as %s leaves its record as it is',
  async (phase) => {
    const { phases, stored, audited } = await cancelTwice(phase)
    expect(phases).toEqual([phase, phase])
    expect([stored, audited]).toEqual([aJob({}, { phase }), 0])
  },
)

test('cancelling a running job twice marks it once', async () => {
  const { phases, stored, audited } = await cancelTwice('running')
  expect(phases).toEqual(['running', 'running'])
  expect([stored?.cancelled, stored?.revision, audited]).toEqual([true, 2, 1])
})
