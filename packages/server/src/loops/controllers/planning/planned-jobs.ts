// The jobs that a dry run starts, stops or leaves without a node, as steps and effects: the records before the change
// compared with those after the decisions of the controllers.

import { isFinalPhase, type PlanStep, type TenantId } from '@holdfast/contract'
import type { PlannedChange } from '../../../operations/dry-runs.ts'
import type { OverlayStore } from '../../../store/overlay-store.ts'
import { jobs, nodes, type StoredJob } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { inTenant } from '../../../store/transaction.ts'

interface JobCourse {
  /** Undefined if the change creates the job. */
  readonly before: StoredJob | undefined
  readonly after: StoredJob
}

/** Adds the jobs that the change concerns to a plan. `after` has the decisions of the controllers. */
export function withJobs(
  change: PlannedChange,
  before: Store,
  after: OverlayStore,
  tenant: TenantId,
): PlannedChange {
  const changed = after.written().filter((key) => key.tenant === tenant && key.folder === jobs.folder)
  const courses = changed.flatMap(({ id }): JobCourse[] => {
    const address = inTenant(tenant, jobs, id)
    const record = after.get(address)?.record
    return record === undefined ? [] : [{ before: before.get(address)?.record, after: record }]
  })
  const isNode = (id: string): boolean => after.has(inTenant(tenant, nodes, id))
  const stopped = courses.flatMap((course) => stopOf(course, isNode) ?? [])
  const { steps, effects } = change
  return {
    ...change,
    steps: [...steps, ...stopped.map(({ step }) => step), ...courses.flatMap(startOf)],
    effects: {
      ...effects,
      stops: [...effects.stops, ...stopped.map(({ effect }) => effect)],
      unplaced: [...effects.unplaced, ...courses.flatMap(unplacedOf)],
    },
  }
}

/** The attempt that ends by the change: its job is cancelled, or its node is removed. */
function stopOf({ before, after }: JobCourse, isNode: (id: string) => boolean) {
  if (before?.current === undefined || before.nodeId === null) return undefined
  const { name } = before.spec
  const node = before.nodeName ?? before.nodeId
  const isLost = !isNode(before.nodeId)
  const isCancelled = after.cancelled && !before.cancelled
  if (!isCancelled && (!isLost || after.current === before.current)) return undefined
  const reason = isLost ? ('node_lost' as const) : ('not_desired' as const)
  const next = isFinalPhase(after.phase) || isCancelled ? '' : ' Another attempt follows.'
  const text = isLost
    ? `The attempt of job ${name} ends with node ${node}, which is removed.${next}`
    : `Job ${name} is cancelled: its container on node ${node} stops.`
  const replica = { replica: before.attempts, from: node, reason }
  const step: PlanStep = { deployment: name, kind: 'stop', replicas: [replica], lowestReady: 0, text }
  return { step, effect: { deployment: name, replica: before.attempts, node, reason } }
}

function startOf({ before, after }: JobCourse): PlanStep[] {
  const { spec, current, nodeId, nodeName, attempts } = after
  if (current === undefined || current === before?.current || nodeId === null || nodeName === null) return []
  const replica = { replica: attempts, nodeId, nodeName, reason: 'new_replica' as const }
  const text = `Run job ${spec.name} on node ${nodeName}.`
  return [{ deployment: spec.name, kind: 'start', replicas: [replica], lowestReady: 0, text }]
}

/** A job that waited for a node before is no effect of the change. */
function unplacedOf({ before, after }: JobCourse) {
  if (after.reason !== 'unschedulable' || before?.reason === 'unschedulable') return []
  return [{ deployment: after.spec.name, replicas: 1, reason: after.unplaced }]
}
