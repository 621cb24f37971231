// The source of a canary's replicas: the deployment's current spec with the changed fields. A rotation that
// moves the deployment therefore moves its canary as well.

import { hash } from 'node:crypto'
import {
  CANARY,
  type DeploymentSpec,
  decode,
  deploymentSpecShape,
  type Json,
  type ResidencyRules,
  type TenantId,
} from '@holdfast/contract'
import { canonicalTemplate, isActiveCanary, type Pins } from '@holdfast/core'
import type { StoredCanary, StoredDeployment } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { workloadOf } from './scheduling-facts.ts'

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

/** The versions that containers of the canary are created with. */
export const canaryPins = ({ pins }: StoredDeployment, canary: StoredCanary): Pins => ({
  ...pins,
  ...canary.pins,
})

/** Routers that know no weights would send the canary as many requests as any other replica. */
const isRouted = ({ spec: { routes = [] } }: StoredDeployment): boolean => routes.length > 0

/** Undefined if the deployment has no canary that runs. */
export function canarySnapshot(
  store: Pick<Store, 'get'>,
  tenant: TenantId,
  stored: StoredDeployment,
  rules: ResidencyRules,
) {
  const { canary, revision } = stored
  if (canary === undefined || !isActiveCanary(canary)) return undefined
  const spec = canarySpec(stored, canary)
  const pins = canaryPins(stored, canary)
  const workload = workloadOf(store, tenant, spec, rules)
  const { digest } = canary
  const templateHash =
    digest === null ? undefined : hash('sha256', canonicalTemplate(spec, digest, { ...stored, pins }), 'hex')
  return {
    spec,
    digest,
    pins,
    workload: isRouted(stored) ? { ...workload, needs: [...workload.needs, CANARY] } : workload,
    target: templateHash === undefined ? undefined : { revision, templateHash },
  }
}
