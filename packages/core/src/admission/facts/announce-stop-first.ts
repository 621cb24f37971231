// Announces in the response to a write that the containers quota leaves no room for successors beside old replicas, so
// that the rollout stops some of them first. The prediction of what `planReplicas` does, from what is placed now.

import type { Alteration, Assignment, DeploymentSpec } from '@holdfast/contract'
import { isStateful } from '../../rollout/plan-rollout-rules.ts'

export interface PlacedBefore {
  readonly assignments: readonly Pick<Assignment, 'replica' | 'templateHash' | 'desired' | 'canary'>[]
  /** The containers of the whole tenant, and its quota. */
  readonly containers: { readonly used: number; readonly limit: number }
}

/** The desired state that the write stores. The hash is undefined while the image is not resolved; then every replica is outdated. */
export interface WrittenRollout {
  readonly spec: Pick<DeploymentSpec, 'update' | 'volumes'>
  readonly replicas: number
  readonly templateHash: string | undefined
}

/** The stored order stays as it is: with a higher quota the next update starts successors first again. */
export function announceStopFirst(written: WrittenRollout, placed: PlacedBefore): Alteration[] {
  const { update } = written.spec
  if (update.order === 'stop-first' || isStateful(written.spec)) return []
  const { used, limit } = placed.containers
  const numbers = numbersOf(written, placed)
  if (!isForced(limit - used, update.parallelism, numbers)) return []
  const { outdated } = numbers
  const old = outdated === 1 ? '1 old replica is' : `some of ${outdated} old replicas are`
  const why = `The tenant uses ${used} of ${limit} containers, so ${old} stopped before a successor starts. To update without this gap, raise the quota of containers or stop other containers first. The stored order is unchanged.`
  return [
    { code: 'update_order_stop_first', field: 'update.order', from: update.order, to: 'stop-first', why },
  ]
}

/** How many replica numbers run another template, how many run nothing, and how many containers are removed anyway. */
interface ReplicaNumbers {
  readonly outdated: number
  readonly empty: number
  readonly releases: number
}

function numbersOf(
  { replicas, templateHash }: WrittenRollout,
  { assignments }: PlacedBefore,
): ReplicaNumbers {
  const isNumbered = (each: PlacedBefore['assignments'][number]) =>
    each.canary !== true && each.replica <= replicas
  const running = assignments.filter(({ desired }) => desired === 'running')
  const fitting = running.filter((each) => each.templateHash === templateHash)
  const placed = countNumbers(running.filter(isNumbered))
  // A promotion adopts the replicas of the canary, which need no successor.
  const adopted = fitting.filter(({ canary }) => canary === true).length
  return {
    outdated: Math.max(0, placed - countNumbers(fitting.filter(isNumbered)) - adopted),
    empty: replicas - placed,
    releases: assignments.filter((each) => !isNumbered(each) || each.desired !== 'running').length,
  }
}

const countNumbers = (assignments: PlacedBefore['assignments']): number =>
  new Set(assignments.map(({ replica }) => replica)).size

/**
 * Missing replicas use the free containers first, and those that do not fit use the parallelism. One container is enough
 * for the outdated replicas: their successors start one after the other. A tenant above its quota could not start a
 * successor either, so nothing of it is stopped.
 */
function isForced(free: number, parallelism: number, { outdated, empty, releases }: ReplicaNumbers): boolean {
  const room = free + releases
  if (outdated === 0 || room < 0) return false
  return empty > room ? empty - room < Math.max(1, parallelism) : empty === room
}
