// Requires that the node's labels satisfy every constraint in placement.constraints.

import type { Constraint, Json } from '@holdfast/contract'
import { isMet, labelOf, quoteConstraint } from '../labels.ts'
import type { Filter } from '../refusal.ts'

export const labelConstraint: Filter = {
  name: 'label_constraint',
  retryOn: ['node_labels', 'deployment'],
  phrases: { label_mismatch: 'without matching labels' },
  reportsRecordFact: true,
  cacheKey: ({ placement }) => [placement?.constraints],
  refuse({ placement }, { labels }) {
    const constraints = placement?.constraints
    if (constraints === undefined || constraints.every((each) => isMet(each, labels))) return undefined
    const unmet = constraints.filter((each) => !isMet(each, labels))
    const reported = unmet.map(({ label }): [string, Json] => [label, labelOf(label, labels) ?? null])
    return {
      code: 'label_mismatch',
      required: unmet.map(requiredOf),
      reported: Object.fromEntries(reported),
    }
  },
}

function requiredOf(constraint: Constraint): Json {
  const quoted = quoteConstraint(constraint)
  return quoted.more === 0 ? constraint : { ...quoted.constraint, more: quoted.more }
}
