// The answer of a write of a deployment. DECISIONS 2: `{deployment, alterations, warnings}`, a dry run with its `plan`.

import type { Alteration, DeploymentRecord, Warning } from '@holdfast/contract'
import type { Plan } from './plan.ts'

export interface Written {
  readonly deployment: DeploymentRecord
  readonly alterations: readonly Alteration[]
  readonly warnings: readonly Warning[]
  /** Of a dry run only: then nothing was stored. */
  readonly plan?: Plan
}
