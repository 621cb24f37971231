// The spec of a canary: the deployment's current spec with the changed fields. A rotation that moves the deployment
// therefore moves its canary as well.

import { type DeploymentSpec, decode, deploymentSpecShape, type Json } from '@holdfast/contract'
import type { ReplicaRequests } from '@holdfast/core'
import type { StoredCanary, StoredDeployment } from '../store/records.ts'

const specs = new WeakMap<StoredDeployment, DeploymentSpec>()

/** The spec of the deployment as the canary changes it. A record object never changes, so the result is remembered. */
export function canarySpec(
  stored: StoredDeployment,
  { change }: Pick<StoredCanary, 'change'>,
): DeploymentSpec {
  const known = specs.get(stored)
  if (known !== undefined) return known
  const fields: [string, Json][] = Object.entries({ ...stored.spec, ...change })
  const spec = decode(deploymentSpecShape, Object.fromEntries(fields.filter(([, value]) => value !== null)))
  specs.set(stored, spec)
  return spec
}

/**
 * The resources that the replicas of a deployment request, and those of its canary. A canary that is over still has
 * replicas until their containers are gone.
 */
export function deploymentRequests(stored: StoredDeployment): ReplicaRequests {
  const { spec, canary } = stored
  const { resources } = spec
  return canary === undefined
    ? { resources }
    : { resources, canaryResources: canarySpec(stored, canary).resources }
}
