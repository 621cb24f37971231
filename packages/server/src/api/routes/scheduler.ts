// /api/v1/scheduler: what the scheduler goes by that is not of one tenant. DECISIONS 1.

import { type ResidencyRules, regionsShape } from '@holdfast/contract'
import { readRegions } from '../../operations/read-regions.ts'
import { answer, type Endpoint } from '../endpoint.ts'

export function schedulerEndpoints(rules: ResidencyRules): Endpoint[] {
  return [
    {
      method: 'GET',
      path: '/api/v1/scheduler/regions',
      action: 'scheduler:read',
      summary: 'List the regions that placement.residency may name, and whether residency is enforced',
      query: [],
      headers: [],
      success: { status: 200, shape: regionsShape },
      codes: [],
      handle: async () => answer(200, readRegions(rules)),
    },
  ]
}
