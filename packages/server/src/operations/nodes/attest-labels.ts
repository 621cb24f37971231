// Decides which labels of a machine are accepted. Labels about its location must equal what its join token attested, or the
// machine could attract data that must not be there (docs/design/residency.md#attestation).

import { hash } from 'node:crypto'
import { type Infer, NODE_COUNTRY, NODE_REGION, type residencyShape } from '@holdfast/contract'

type Labels = { readonly [key: string]: string }

const RESERVED = 'holdfast.io/'

export interface RefusedLabel {
  readonly label: string
  readonly advertised: string
  /** Null where nothing was attested. */
  readonly attested: string | null
}

export interface AttestedLabels {
  readonly labels: { [key: string]: string }
  readonly refused: RefusedLabel[]
}

/** Labels under the platform's own domain are attested or refused, even unknown ones. */
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
  // Built from entries, because assigning to `__proto__` would silently set nothing.
  return { labels: Object.fromEntries(labels), refused }
}

/** A hash of the refused labels, stored with the node so that a repeated refusal emits no second event. */
export function markOf(refused: readonly RefusedLabel[]): string | undefined {
  if (refused.length === 0) return undefined
  const inOrder = refused.toSorted((left, right) => (left.label < right.label ? -1 : 1))
  const parts = inOrder.map(({ label, advertised, attested }) => [label, advertised, attested])
  return hash('sha256', JSON.stringify(parts), 'hex').slice(0, 32)
}
