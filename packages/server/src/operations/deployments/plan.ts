// What a write would do, as a value that prints: the answer of a dry run. DECISIONS 1.

import { canonicalJson, type DeploymentSpec, type Json, type JsonObject } from '@holdfast/contract'
import type { PlacementPlan } from './plan-placement.ts'

export interface Plan {
  readonly action: 'create' | 'update' | 'none'
  readonly revision: number
  /** Top-level fields whose stored value would be another one. */
  readonly changes: readonly { readonly field: string; readonly from: Json; readonly to: Json }[]
  /** Where the replicas that are not placed yet would go now, with every node and every reason against it. */
  readonly placement: PlacementPlan
}

export function planCreate(placement: PlacementPlan): Plan {
  return { action: 'create', revision: 1, changes: [], placement }
}

export function planUpdate(
  before: DeploymentSpec,
  after: DeploymentSpec,
  revision: number,
  placement: PlacementPlan,
): Plan {
  const was: JsonObject = { ...before }
  const will: JsonObject = { ...after }
  const fields = [...new Set([...Object.keys(was), ...Object.keys(will)])]
  const changes = fields
    .map((field) => ({ field, from: was[field] ?? null, to: will[field] ?? null }))
    .filter(({ from, to }) => canonicalJson(from) !== canonicalJson(to))
  return changes.length === 0
    ? { action: 'none', revision, changes, placement }
    : { action: 'update', revision: revision + 1, changes, placement }
}
