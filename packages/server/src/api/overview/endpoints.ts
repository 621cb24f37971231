// The endpoints that show a whole tenant at once: /api/v1/overview and /api/v1/residency.

import { overviewShape, type ResidencyRules, residencyEntryShape } from '@holdfast/contract'
import { type OverviewDeps, readOverview } from '../../operations/overview/read-overview.ts'
import { listResidency } from '../../operations/residency/list-residency.ts'
import { type Endpoint, endpoint, listEndpoint } from '../endpoint.ts'

export type TenantViewDeps = OverviewDeps & { readonly residency: ResidencyRules }

export function tenantViewEndpoints(deps: TenantViewDeps): Endpoint[] {
  return [
    endpoint('GET', '/api/v1/overview', {
      operation: 'getOverview',
      action: 'tenants:read',
      summary:
        'Read the state of the tenant: counts by phase and status, quotas, rotations, and what needs a person, the worst first, at most 50',
      shape: overviewShape,
      run: ({ caller }) => readOverview(deps, caller.tenant),
    }),
    listEndpoint('/api/v1/residency', {
      operation: 'listResidency',
      action: 'deployments:read',
      summary:
        'List for each deployment which residency it demands, and where its replicas and the copies of its volumes are',
      item: residencyEntryShape,
      run: ({ caller, query }) => listResidency(deps, caller.tenant, query),
    }),
  ]
}
