// POST /api/v1/deployments/{name}/rollback: an archived revision is sent again, as a PUT of every field. It passes the
// ordinary admission, because the world may have changed since: a node may be gone, a limit lower. DECISIONS 1 and 3.

import {
  type ArchiveEntry,
  decode,
  deploymentSpecShape,
  integer,
  type Json,
  type JsonObject,
  object,
} from '@holdfast/contract'
import { type Caller, type Outcome, refused } from '../../caller.ts'
import { checkShape } from '../../check-shape.ts'
import type { Kept } from '../../idempotency.ts'
import type { DeploymentDeps } from '../deps.ts'
import { findStored } from '../read/find-deployment.ts'
import { getArchived } from '../read/read-deployments.ts'
import { updateDeployment } from './update-deployment.ts'
import type { Written } from './written.ts'

export const rollbackShape = object({ revision: integer({ minimum: 1 }) })

export interface RollbackOptions extends Kept<Written> {
  readonly dryRun: boolean
  readonly ifMatch: string | undefined
}

export async function rollBackDeployment(
  deps: DeploymentDeps,
  caller: Caller,
  pathName: string,
  sent: Json,
  { dryRun, ifMatch, ...kept }: RollbackOptions,
): Promise<Outcome<Written>> {
  const faults = checkShape(rollbackShape, sent)
  if (faults.length > 0) return refused(...faults)
  const { revision } = decode(rollbackShape, sent)
  const archived = await findArchived(deps, caller, pathName, revision)
  if (!archived.ok) return archived
  const rollback = { ...kept, revision, digest: archived.value.digest }
  return updateDeployment(deps, caller, pathName, everyField(archived.value), { dryRun, ifMatch, rollback })
}

/** The deployment is asked for first: of one that is not there no revision can be missing. */
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

/** A field that the archived spec has not is cleared. secretsVersion stays, and is announced where it was another. */
function everyField({ spec }: ArchiveEntry): JsonObject {
  const archived: JsonObject = { ...spec }
  const fields = Object.keys(deploymentSpecShape.fields)
  return Object.fromEntries(fields.map((field) => [field, archived[field] ?? null]))
}
