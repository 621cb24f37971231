// The dependencies of the operations on backups that restore nothing.

import type { DeploymentDeps } from '../deployments/deps.ts'

export type BackupDeps = Pick<DeploymentDeps, 'store' | 'clock' | 'ids' | 'slots' | 'quotas' | 'answers'>
