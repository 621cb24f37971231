// Decides which labels of a machine are accepted. Location labels must equal the values in the machine's join token, or
// the machine could attract data that must not be stored there (docs/design/residency.md#attestation).

import { hash } from 'node:crypto'
import { type Infer, NODE_COUNTRY, NODE_REGION, type residencyShape } from '@holdfast/contract'

type Labels = { readonly [key: string]: string }

const RESERVED = 'holdfast.io/'

export interface RefusedLabel {
  readonly label: string
  readonly advertised: string
  /** The label's value in the join token; null if the token has none. */
  readonly attested: string | null
}

export interface AttestedLabels {
  readonly labels: { [key: string]: string }
  readonly refused: RefusedLabel[]
}

/**
 * Accepts or refuses the labels of a machine. Labels under the platform's own domain must be attested, even unknown ones.
 */
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
  // The object is built from entries, because assigning a label named `__proto__` would silently set nothing.
  return { labels: Object.fromEntries(labels), refused }
}

/** A hash of the refused labels, stored with the node so that a repeated refusal emits no second event. */
export function markOf(refused: readonly RefusedLabel[]): string | undefined {
  if (refused.length === 0) return undefined
  const inOrder = refused.toSorted((left, right) => (left.label < right.label ? -1 : 1))
  const parts = inOrder.map(({ label, advertised, attested }) => [label, advertised, attested])
  return hash('sha256', JSON.stringify(parts), 'hex').slice(0, 32)
}
