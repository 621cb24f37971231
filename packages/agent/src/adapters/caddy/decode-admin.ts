// Decodes the parts of Caddy's admin answers that the agent uses.

const members = (value: unknown): ReadonlyMap<string, unknown> =>
  typeof value === 'object' && value !== null ? new Map(Object.entries(value)) : new Map()
const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The version of Caddy's loaded configuration; empty if the agent did not write that configuration. */
export const readAdminId = (admin: unknown): string => text(members(admin).get('@id'))

export function readInFlight(upstreams: unknown): ReadonlyMap<string, number> {
  const listed: readonly unknown[] = Array.isArray(upstreams) ? upstreams : []
  const counts = listed.map((upstream): [string, number] => [
    text(members(upstream).get('address')),
    Number(members(upstream).get('num_requests')),
  ])
  return new Map(counts.filter(([, count]) => count > 0))
}
