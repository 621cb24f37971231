// The endpoints below /api/v1/scheduler: settings of the scheduler, which are the same for all tenants.

import { type Regions, type ResidencyRules, regionsShape } from '@holdfast/contract'
import { done } from '../../operations/caller.ts'
import { type Endpoint, endpoint } from '../endpoint.ts'

export function schedulerEndpoints(rules: ResidencyRules): Endpoint[] {
  return [
    endpoint('GET', '/api/v1/scheduler/regions', {
      operation: 'listRegions',
      action: 'scheduler:read',
      summary: 'List the regions that placement.residency may name, and whether residency is enforced',
      shape: regionsShape,
      run: () => done(readRegions(rules)),
    }),
  ]
}

function readRegions({ enforcement, regions }: ResidencyRules): Regions {
  const names = Object.keys(regions).sort()
  return { enforcement, regions: names.map((name) => ({ name, countries: regions[name] ?? [] })) }
}
