// Where a deployment wants each replica on a node of its own and every node has one, a successor is refused by nothing but
// the very replica that it replaces. Beside it, it may never be; so the old one goes first, for that step. DECISIONS 4:
// antiAffinity with its own name.

import type { Assignment } from '@holdfast/contract'
import type { Placing, RolloutPlan, Workload } from '@holdfast/core'
import type { StoredDeployment } from '../../store/records.ts'
import type { TenantView } from './tenant-view.ts'

/** The plan without those that wait for their own old one to be gone; where all are served, it is told to go. */
export function stopForSelfAntiAffinity(
  view: Pick<TenantView, 'scheduling' | 'dispositionOf'>,
  { spec }: Pick<StoredDeployment, 'spec'>,
  workload: Workload,
  plan: RolloutPlan,
  placing: Placing,
): RolloutPlan {
  const shunsItself = spec.placement?.antiAffinity?.includes(spec.name) === true
  if (!shunsItself || placing.unplaced === 0) return plan
  const ownOf = (replica: number) =>
    plan.kept.filter((each) => each.replica === replica && view.dispositionOf(each.nodeId) !== 'failed')
  const unplaced = plan.missing.slice(placing.placed.length).map(({ replica }) => replica)
  const waiting = new Set(unplaced.filter((replica) => isInItsWay(view, workload, ownOf(replica))))
  if (waiting.size === 0) return plan
  const isServed = ({ replica }: { readonly replica: number }) =>
    plan.kept.some((each) => each.replica === replica && each.desired === 'running')
  // What was placed may have taken the room that was found: the look that follows it tells.
  const mayStop = placing.placed.length === 0 && plan.missing.every(isServed)
  const kept = plan.kept.map((each): Assignment => {
    const goes = mayStop && waiting.has(each.replica) && each.desired === 'running'
    return goes ? { ...each, desired: 'removed' } : each
  })
  return { ...plan, kept, missing: plan.missing.filter(({ replica }) => !waiting.has(replica)) }
}

const isInItsWay = (
  view: Pick<TenantView, 'scheduling'>,
  workload: Workload,
  own: readonly Assignment[],
): boolean => own.length > 0 && placeWithout(view, workload, own).unplaced === 0

/** Whether one more finds a node once these are gone. They are counted again before anybody else asks. */
export function placeWithout(
  { scheduling }: Pick<TenantView, 'scheduling'>,
  workload: Workload,
  own: readonly Assignment[],
): Placing {
  const { name, resources } = workload
  for (const { nodeId } of own) scheduling.applyReleased(nodeId, name, resources)
  const placing = scheduling.place(workload, 1)
  for (const { nodeId } of own) scheduling.applyAssigned(nodeId, name, resources)
  return placing
}
