// Removes finished jobs whose time is over. The nodes then delete the logs, because complete sets no longer name them.

import { isFinalPhase, type TenantId } from '@holdfast/contract'
import { jobsToRemove } from '@holdfast/core'
import type { Clock } from '../../ports/clock.ts'
import { jobs, tenants } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant } from '../../store/transaction.ts'

/** Jobs removed in one transaction. */
const AT_ONCE = 50

export async function retainJobs({ store, clock }: { store: Store; clock: Clock }): Promise<void> {
  for (const { record } of store.list(tenants)) await retainOf(store, record.id, clock.now())
}

async function retainOf(store: Store, tenant: TenantId, now: number): Promise<void> {
  const finished = store
    .list(jobs, tenant)
    .flatMap(({ record: { id, finishedAt } }) => (finishedAt === null ? [] : [{ id, finishedAt }]))
  const old = jobsToRemove(finished, now)
  for (let from = 0; from < old.length; from += AT_ONCE) {
    await store.transact((transaction) => {
      for (const id of old.slice(from, from + AT_ONCE)) {
        const address = inTenant(tenant, jobs, id)
        const job = transaction.get(address)
        if (job !== undefined && isFinalPhase(job.phase)) transaction.delete(address)
      }
      return { kind: 'commit', result: undefined }
    })
  }
}
