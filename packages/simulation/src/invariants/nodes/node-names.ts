// Invariant: a node name has one owner. A second claim of the name exists only while the first is being released.

import type { Invariant } from '../invariant.ts'

export const nodeNames: Invariant = {
  name: 'node-names',
  start: () =>
    function* (moment) {
      for (const { id, is } of moment.nodeNames.changed) {
        const active = is?.claims.filter(({ state }) => state === 'active') ?? []
        if (active.length > 1)
          yield {
            subject: id,
            message: `has ${active.length} active claims: ${active.map(({ tenant }) => tenant).join(', ')}`,
          }
      }
      for (const { tenant, is } of moment.nodes.changed) {
        const claims = is && moment.nodeNames.is(undefined, is.name)?.claims
        if (is !== undefined && !claims?.some((claim) => claim.tenant === tenant && claim.nodeId === is.id))
          yield {
            subject: is.name,
            message: `is a node of ${tenant}, whose claim on the name does not stand`,
          }
      }
    },
}
