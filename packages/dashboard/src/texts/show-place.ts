// Where a node is, as people read it: the country and region that it reports, and whether its join token attests the country.

import { NODE_COUNTRY, NODE_REGION } from '@holdfast/contract'
import { residencyTexts as words } from './en/residency.ts'

export interface NodePlace {
  readonly labels: { readonly [name: string]: string }
  /** The country that the join token of the node attests; null if it attests none, undefined while it is not known yet. */
  readonly attested: string | null | undefined
}

export function showPlace({ labels, attested }: NodePlace): string {
  const country = labels[NODE_COUNTRY]
  const region = labels[NODE_REGION]
  const reported = [country ?? words.unstated, ...(region === undefined ? [] : [region])]
  return [...reported, ...trustIn(country, attested)].join(', ')
}

function trustIn(country: string | undefined, attested: NodePlace['attested']): string[] {
  if (attested === undefined) return []
  if (attested === null) return country === undefined ? [] : [words.unattested]
  return [attested === country ? words.isAttested : words.attestedAs(attested)]
}
