// The source of a canary's replicas: their spec, image and pins, and their demands on nodes.

import { hash } from 'node:crypto'
import { CANARY, type ResidencyRules, type TenantId } from '@holdfast/contract'
import { canonicalTemplate, isActiveCanary, type Pins } from '@holdfast/core'
import type { StoredCanary, StoredDeployment } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { canarySpec } from './canary-spec.ts'
import { workloadOf } from './scheduling-facts.ts'

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
