// A stored deployment as a client reads it. DECISIONS 2, deployment record.

import type { DeploymentRecord } from '@holdfast/contract'
import { deriveStatus } from '@holdfast/core'
import type { StoredDeployment } from '../../store/records.ts'

export function deploymentView(stored: StoredDeployment): DeploymentRecord {
  const { spec, uid, revision, specHash, createdAt, updatedAt, deleting, digest } = stored
  const status = deriveStatus(spec, { deleting, imageDigest: digest })
  return { ...spec, uid, revision, specHash, createdAt, updatedAt, status, residencyLabels: {} }
}
