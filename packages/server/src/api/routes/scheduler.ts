// /api/v1/scheduler: settings of the scheduler that all tenants share.

import { type ResidencyRules, regionsShape } from '@holdfast/contract'
import { done } from '../../operations/caller.ts'
import { readRegions } from '../../operations/read-regions.ts'
import { type Endpoint, endpoint } from '../endpoint.ts'

export function schedulerEndpoints(rules: ResidencyRules): Endpoint[] {
  return [
    endpoint('GET', '/api/v1/scheduler/regions', {
      action: 'scheduler:read',
      summary: 'List the regions that placement.residency may name, and whether residency is enforced',
      shape: regionsShape,
      run: () => done(readRegions(rules)),
    }),
  ]
}
