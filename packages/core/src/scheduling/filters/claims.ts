// Is the machine this tenant's alone? While one claim of two is being released it takes no new work. DECISIONS 5, Claim.

import type { NodeFacts } from '../facts.ts'
import type { Filter } from '../refusal.ts'

const REFUSED: {
  readonly [claim in Exclude<NodeFacts['claim'], 'sole'>]: { code: string; fix: (name: string) => string }
} = {
  releasing: {
    code: 'node_claims_releasing',
    fix: (name) => `Enroll another node: this tenant is releasing its claim on ${name}.`,
  },
  shared: {
    code: 'node_claims_shared',
    fix: (name) => `Wait for the end of the other claim on ${name}, which is being released.`,
  },
}

export const claims: Filter = {
  name: 'claims',
  curedBy: ['node_claims'],
  phrases: { node_claims_releasing: 'being released', node_claims_shared: 'with another claim' },
  keptFor: () => '',
  refuse(_workload, { name, claim }) {
    if (claim === 'sole') return undefined
    const { code, fix } = REFUSED[claim]
    return {
      filter: 'claims',
      code,
      required: 'sole',
      reported: claim,
      fix: fix(name),
    }
  },
}
