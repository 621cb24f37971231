// GET /api/v1/scheduler/regions: where a deployment may ask to be, and whether that is enforced. SPEC 2.7, DECISIONS 2 and 7.

import type { Regions, ResidencyRules } from '@holdfast/contract'

export function readRegions({ enforcement, regions }: ResidencyRules): Regions {
  const names = Object.keys(regions).sort()
  return { enforcement, regions: names.map((name) => ({ name, countries: regions[name] ?? [] })) }
}
