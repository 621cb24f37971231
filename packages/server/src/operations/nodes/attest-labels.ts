// Which of the labels that a machine advertises may count? Its own words, except about where it stands: those must be what
// its join token attested, or the machine could attract data that must not be there. SPEC 2.7, SAFETY 2 row 14.

import { hash } from 'node:crypto'
import { type Infer, NODE_COUNTRY, NODE_REGION, type residencyShape } from '@holdfast/contract'

type Labels = { readonly [key: string]: string }

const RESERVED = 'holdfast.io/'

export interface RefusedLabel {
  readonly label: string
  readonly advertised: string
  /** Null: nothing was attested. */
  readonly attested: string | null
}

export interface AttestedLabels {
  readonly labels: { [key: string]: string }
  readonly refused: RefusedLabel[]
}

/** Everything below the platform's own domain is attested or refused, also under a name that means nothing yet. */
export function attestLabels(
  advertised: Labels,
  { country, region }: Infer<typeof residencyShape>,
): AttestedLabels {
  const attested = new Map([
    [NODE_COUNTRY, country],
    [NODE_REGION, region],
  ])
  const labels: [label: string, value: string][] = []
  const refused: RefusedLabel[] = []
  for (const [label, value] of Object.entries(advertised)) {
    const known = attested.get(label) ?? null
    if (!label.startsWith(RESERVED) || value === known) labels.push([label, value])
    else refused.push({ label, advertised: value, attested: known })
  }
  // Entry by entry: to assign `__proto__` would set nothing and say nothing.
  return { labels: Object.fromEntries(labels), refused }
}

/** Tells one refused advertisement from another; kept with the node, so that one refusal is one event. */
export function markOf(refused: readonly RefusedLabel[]): string | undefined {
  if (refused.length === 0) return undefined
  const inOrder = refused.toSorted((left, right) => (left.label < right.label ? -1 : 1))
  const parts = inOrder.map(({ label, advertised, attested }) => [label, advertised, attested])
  return hash('sha256', JSON.stringify(parts), 'hex').slice(0, 32)
}
