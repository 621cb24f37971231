import type { Regions } from '@holdfast/contract'
import type { Resource } from './resource.ts'

/**
 * A region, and whether the platform enforces residency. Without enforcement, the platform places no deployment that
 * demands residency.
 */
interface Region extends Readonly<Regions['regions'][number]> {
  readonly enforced: boolean
}

export const regions: Resource<Region> = {
  names: ['regions', 'region'],
  kind: 'region',
  nameOf: ({ name }) => name,
  async list(client) {
    const listed = await client.scheduler.regions()
    if (!listed.ok) return listed
    const { enforcement: enforced, regions } = listed.value
    return { ok: true, value: regions.map((region) => ({ ...region, enforced })) }
  },
  columns: [
    { header: 'NAME', value: ({ name }) => name },
    { header: 'ENFORCED', value: ({ enforced }) => (enforced ? 'yes' : 'no') },
    { header: 'COUNTRIES', value: ({ countries }) => countries.join(', ') },
  ],
}
