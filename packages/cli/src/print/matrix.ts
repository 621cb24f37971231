// Why a replica is nowhere: every node with every reason, and what would cure it. DECISIONS 7.

import type { Candidate } from '@holdfast/contract'
import { valueText } from './changes.ts'
import { plain } from './plain.ts'
import { alignRows } from './table.ts'

export interface Explained {
  readonly summary: string
  readonly candidates: readonly Candidate[]
  readonly cure: readonly string[]
}

export function matrixLines({ summary, candidates, cure }: Explained): string[] {
  const rows = candidates.flatMap(({ nodeName, refusals }) =>
    refusals.length === 0
      ? [[plain(nodeName), 'accepts', '', '', '']]
      : refusals.map(({ code, required, reported, fix }, at) => [
          at === 0 ? plain(nodeName) : '',
          plain(code),
          valueText(required),
          valueText(reported),
          plain(fix),
        ]),
  )
  return [
    plain(summary),
    ...(rows.length === 0 ? [] : alignRows([['NODE', 'REFUSES BY', 'REQUIRED', 'REPORTED', 'FIX'], ...rows])),
    ...(cure.length === 0
      ? []
      : ['', 'Any one of these would do:', ...cure.map((each) => `  - ${plain(each)}`)]),
  ]
}
