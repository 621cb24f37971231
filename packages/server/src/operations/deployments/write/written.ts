// The response to a deployment write: `{deployment, alterations, warnings}`.

import type { Alteration, DeploymentRecord, Warning } from '@holdfast/contract'

export interface Written {
  readonly deployment: DeploymentRecord
  readonly alterations: readonly Alteration[]
  readonly warnings: readonly Warning[]
}
