// POST /api/v1/deployments/{name}/rollback: restores an archived revision as an update of every field. The rollback
// passes ordinary admission, because a node may have been removed or a limit lowered since that revision.

import {
  type ArchiveEntry,
  type DeploymentSpec,
  decode,
  deploymentSpecShape,
  type Json,
  type JsonObject,
  rollbackShape,
} from '@holdfast/contract'
import { type Caller, type Outcome, refused } from '../../caller.ts'
import { checkShape } from '../../check-shape.ts'
import type { Kept } from '../../idempotency.ts'
import type { DeploymentDeps } from '../deps.ts'
import { findStored } from '../read/find-deployment.ts'
import { getArchived } from '../read/read-deployments.ts'
import { updateDeployment } from './update-deployment.ts'
import type { Written } from './written.ts'

export interface RollbackOptions extends Kept<Written> {
  readonly ifMatch: string | undefined
}

export async function rollBackDeployment(
  deps: DeploymentDeps,
  caller: Caller,
  pathName: string,
  sent: Json,
  { ifMatch, ...kept }: RollbackOptions,
): Promise<Outcome<Written>> {
  const faults = checkShape(rollbackShape, sent)
  if (faults.length > 0) return refused(...faults)
  const { revision } = decode(rollbackShape, sent)
  const archived = await findArchived(deps, caller, pathName, revision)
  if (!archived.ok) return archived
  const rollback = { ...kept, revision, digest: archived.value.digest }
  return updateDeployment(deps, caller, pathName, everyField(archived.value.spec), { ifMatch, rollback })
}

/** Finds the archived revision; a missing deployment is reported as a missing deployment, not as a missing revision. */
async function findArchived(
  { store }: DeploymentDeps,
  { tenant }: Caller,
  pathName: string,
  revision: number,
): Promise<Outcome<ArchiveEntry>> {
  await store.fresh()
  const found = findStored(store, tenant, pathName)
  if (!found.ok) return found
  return getArchived(store, tenant, found.value.spec.name, String(revision))
}

/** Builds an update of every field: fields that the stored spec lacks are cleared, secretsVersion is unchanged. */
export function everyField(spec: DeploymentSpec): JsonObject {
  const cleared = Object.keys(deploymentSpecShape.fields).map((field) => [field, null])
  return { ...Object.fromEntries(cleared), ...spec }
}
