// The answer of a write of a deployment. DECISIONS 2: `{deployment, alterations, warnings}`, a dry run with its `plan`.

import {
  type Alteration,
  alterationShape,
  type DeploymentRecord,
  deploymentRecordShape,
  integer,
  type Json,
  json,
  list,
  object,
  oneOf,
  optional,
  string,
  type Warning,
  warningShape,
} from '@holdfast/contract'
import type { Plan } from './plan.ts'
import { placementPlanShape } from './plan-placement.ts'
import { rolloutPlanShape } from './plan-rollout.ts'

export interface Written {
  readonly deployment: DeploymentRecord
  readonly alterations: readonly Alteration[]
  readonly warnings: readonly Warning[]
  /** Of a dry run only: then nothing was stored. */
  readonly plan?: Plan
}

export const writtenShape = object({
  deployment: deploymentRecordShape,
  alterations: list(alterationShape),
  warnings: list(warningShape),
})

export const dryRunShape = object({
  alterations: list(alterationShape),
  warnings: list(warningShape),
  plan: object({
    action: oneOf(['create', 'update', 'none']),
    revision: integer(),
    changes: list(object({ field: string(), from: json<Json>(), to: json<Json>() })),
    placement: placementPlanShape,
    rollout: optional(rolloutPlanShape),
  }),
})
