// A change of one deployment that a person may ask for: how the server plans it, and how it is sent. Each kind of change has
// a function in changes.ts.

import type { Client, Result } from '@holdfast/client'
import type { Alteration, DeploymentPlan, Effects, PlanStep, Warning } from '@holdfast/contract'

/** The parts of a dry run that a person reads before the change is sent. */
export interface Planned {
  readonly action: 'create' | 'update' | 'none' | 'delete'
  readonly changes: DeploymentPlan['changes']
  /** Set for the start and the end of a canary, whose changes are those of the canary and not of the deployment. */
  readonly canary?: 'start' | 'abort'
  readonly steps: readonly PlanStep[]
  readonly effects: Effects
  readonly alterations: readonly Alteration[]
  readonly warnings: readonly Warning[]
  /** Replicas without a node, why, and what would help; absent if every replica has one. */
  readonly unplaced?: { readonly count: number; readonly summary: string; readonly cures: readonly string[] }
}

interface Conditions {
  /** The revision that the record must still have. */
  readonly ifMatch?: string
  readonly signal?: AbortSignal
}

export interface Change {
  /** Identifies the change in the cache. It holds no part of a manifest. */
  readonly id: string
  readonly deployment: string
  /** True if the revisions of the record are kept, so that the change of another person can be shown. */
  readonly archived: boolean
  /** True if the write carries an Idempotency-Key, so that it may be sent again after a lost answer. */
  readonly keyed: boolean
  /** The revision that the write requires; undefined if no record exists. */
  revision(client: Client, signal?: AbortSignal): Promise<Result<number | undefined>>
  /** The revision that is stored now; undefined if no record exists. */
  stored(client: Client): Promise<Result<number | undefined>>
  plan(client: Client, conditions: Conditions): Promise<Result<Planned>>
  send(client: Client, conditions: Conditions & { readonly idempotencyKey: string }): Promise<Result<unknown>>
}

/** True if two plans would do the same. The reasons for which nodes are chosen may differ. */
export const isSamePlan = (left: Planned, right: Planned): boolean => essence(left) === essence(right)

function essence({ action, changes, steps, effects, alterations, warnings, unplaced }: Planned): string {
  const acts = steps.map(({ kind, lowestReady, replicas }) => ({
    kind,
    lowestReady,
    replicas: replicas.map(({ why: _why, ...replica }) => replica),
  }))
  const codes = [...alterations, ...warnings].map(({ code, field }) => `${code} ${field}`)
  return JSON.stringify({ action, changes, acts, effects, codes, unplaced: unplaced?.count ?? 0 })
}
