// The jobs that a dry run creates or wakes, as steps and effects: the node of each first attempt, or why it has none.

import type { PlanStep, TenantId } from '@holdfast/contract'
import type { PlannedChange } from '../../../operations/dry-runs.ts'
import type { OverlayStore } from '../../../store/overlay-store.ts'
import { jobs, type StoredJob } from '../../../store/records.ts'
import { inTenant } from '../../../store/transaction.ts'

/** Adds the jobs that the write has stored to a plan. `after` has the decisions of the controllers. */
export function withJobs(
  change: PlannedChange,
  written: OverlayStore,
  after: OverlayStore,
  tenant: TenantId,
): PlannedChange {
  const ids = written.written().filter((key) => key.tenant === tenant && key.folder === jobs.folder)
  const found = ids.flatMap(({ id }) => after.get(inTenant(tenant, jobs, id))?.record ?? [])
  if (found.length === 0) return change
  const unplaced = found.filter(({ reason }) => reason === 'unschedulable')
  const reasons = unplaced.map(({ spec, unplaced: reason }) => ({
    ...{ deployment: spec.name, replicas: 1, reason },
  }))
  return {
    ...change,
    steps: [...change.steps, ...found.flatMap(startOf)],
    effects: { ...change.effects, unplaced: [...change.effects.unplaced, ...reasons] },
  }
}

function startOf({ spec, current, nodeId, nodeName, attempts }: StoredJob): PlanStep[] {
  if (current === undefined || nodeId === null || nodeName === null) return []
  const replica = { replica: attempts, nodeId, nodeName, reason: 'new_replica' as const }
  const text = `Run job ${spec.name} on node ${nodeName}.`
  return [{ deployment: spec.name, kind: 'start', replicas: [replica], lowestReady: 0, text }]
}
