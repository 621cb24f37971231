// Refuses nodes whose agent lacks a capability that the container needs, because such an agent could only create the
// container with a part left out. Replicas that already run on the node stay there.

import { capabilitiesOf, lackedCapabilities, type StatedAgent } from '@holdfast/contract'
import { memoizeByObject } from '../memoize.ts'
import type { Filter } from '../refusal.ts'

export const agentVersion: Filter = {
  name: 'agent_version',
  retryOn: ['node_agent', 'deployment'],
  phrases: { agent_lacks_capability: 'with an agent that is too old' },
  reportsRecordFact: true,
  cacheKey: ({ needs }) => [needs],
  nodeKey: ({ agent }) => agent && textOfAgent(agent),
  refuse({ needs }, { agent }) {
    if (needs.length === 0) return undefined
    const required = lackedCapabilities(needs, capabilitiesOf(agent))
    if (required.length === 0) return undefined
    return { code: 'agent_lacks_capability', required, reported: agent?.version ?? null }
  },
}

const textOfAgent = memoizeByObject(({ version, capabilities }: StatedAgent): string =>
  JSON.stringify([version, capabilities]),
)

/** Whether two agents are equal in everything that the filter reads. */
export const sameAgent = (left: StatedAgent | undefined, right: StatedAgent | undefined): boolean =>
  left === right || (left !== undefined && right !== undefined && textOfAgent(left) === textOfAgent(right))
