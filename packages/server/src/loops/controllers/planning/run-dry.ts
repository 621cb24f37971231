// Dry runs: a write on an overlay of the stored records, and then the steps and effects that follow. The plans of one
// tenant run one after another, in slices, so that they do not delay other requests.
// See docs/design/rollouts.md#dry-run-plans

import type { RolloutPlanned, TenantId } from '@holdfast/contract'
import { type PlannedDeployment, plannedEffects, plannedSteps } from '@holdfast/core/placement'
import { done, limited } from '../../../operations/caller.ts'
import type { PlannedChange, RunDry } from '../../../operations/dry-runs.ts'
import { cancelJobs } from '../../../operations/jobs/cancel-job.ts'
import { createOverlayStore, type OverlayStore } from '../../../store/overlay-store.ts'
import { tenants } from '../../../store/records.ts'
import { globally } from '../../../store/transaction.ts'
import { markDeployments } from '../../finish-removals.ts'
import { type PlanAheadDeps, planAhead } from './plan-ahead.ts'
import { withJobs } from './planned-jobs.ts'

/** Limit of waiting plans per tenant, which run one after another; further requests are rejected. */
const MOST_WAITING = 8
const RETRY_SECONDS = 5

export function createRunDry(deps: PlanAheadDeps): RunDry {
  const lane = createLanes()
  return async (tenant, before, act) => {
    const written = createOverlayStore(before, deps.ids)
    const outcome = await act(written)
    if (!outcome.ok) return outcome
    if (written.get(globally(tenants, tenant))?.record.deleting) await endWorkloads(written, tenant)
    const after = createOverlayStore(before, deps.ids)
    const planned = await lane(tenant, () => planAhead(deps, tenant, after, written))
    if (planned === undefined) return limited('Authorization', RETRY_SECONDS)
    const change = withJobs(changeOf(planned), before, after, tenant)
    return done({ value: outcome.value, change, after })
  }
}

/** Does what the loop that finishes removals would do to the workloads of a tenant that is being deleted. */
async function endWorkloads(store: OverlayStore, tenant: TenantId): Promise<void> {
  await markDeployments(store, tenant)
  await cancelJobs(store, tenant)
}

function changeOf(planned: readonly PlannedDeployment[]): PlannedChange {
  const rollouts = new Map<string, RolloutPlanned>()
  const steps = planned.flatMap((each) => {
    const { steps: own, rollout } = plannedSteps(each)
    rollouts.set(each.next.spec.name, rollout)
    return own
  })
  return { steps, effects: plannedEffects(planned), rollouts }
}

type Lane = <T>(tenant: TenantId, work: () => Promise<T>) => Promise<T | undefined>

/** Runs the work of each tenant in order; undefined if too much is waiting. */
function createLanes(): Lane {
  const lanes = new Map<TenantId, { last: Promise<unknown>; waiting: number }>()
  return async (tenant, work) => {
    const lane = lanes.get(tenant) ?? { last: Promise.resolve(), waiting: 0 }
    if (lane.waiting === MOST_WAITING) return undefined
    lanes.set(tenant, lane)
    lane.waiting += 1
    const running = lane.last.then(work)
    // The caller receives the error of a failed plan; the tenant's next plan starts regardless.
    lane.last = running.catch(() => undefined)
    return running.finally(() => {
      lane.waiting -= 1
      if (lane.waiting === 0) lanes.delete(tenant)
    })
  }
}
