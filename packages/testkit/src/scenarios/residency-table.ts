// Each residency rule under which a deployment can run: the demand, the stored labels, and the numbers of the lab
// machines that satisfy the rule. See docs/design/residency.md#demands

import { RESIDENCY_LABELS } from '@holdfast/contract'
import type { Row } from './residency-world.ts'

const { country: COUNTRY, region: REGION, blockedCountries: BLOCKED } = RESIDENCY_LABELS

interface Allowed extends Row {
  readonly labels: { readonly [label: string]: string }
  readonly nodes: readonly number[]
}

export const ALLOWED: readonly Allowed[] = [
  { name: 'country', residency: { country: 'DE' }, labels: { [COUNTRY]: 'DE' }, nodes: [1, 2] },
  { name: 'covered', residency: { region: 'dach' }, labels: { [REGION]: 'dach' }, nodes: [1, 2] },
  { name: 'both-ways', residency: { region: 'alpine' }, labels: { [REGION]: 'alpine' }, nodes: [1, 2, 5] },
  { name: 'overseas', residency: { region: 'na' }, labels: { [REGION]: 'na' }, nodes: [4] },
  {
    name: 'blocked',
    residency: { blockedCountries: ['US'] },
    labels: { [BLOCKED]: 'US' },
    nodes: [1, 2, 3, 5],
  },
  { name: 'two', residency: { blockedCountries: ['FR', 'DE'] }, labels: { [BLOCKED]: 'FR,DE' }, nodes: [4] },
  {
    name: 'by-label',
    residency: { country: 'FR', region: 'alpine' },
    labels: { [COUNTRY]: 'FR', [REGION]: 'alpine' },
    nodes: [5],
  },
  {
    name: 'but-not',
    residency: { region: 'eu', blockedCountries: ['DE'] },
    labels: { [REGION]: 'eu', [BLOCKED]: 'DE' },
    nodes: [3, 5],
  },
  {
    name: 'all-three',
    residency: { country: 'DE', region: 'eu', blockedCountries: ['US', 'CN'] },
    labels: { [COUNTRY]: 'DE', [REGION]: 'eu', [BLOCKED]: 'US,CN' },
    nodes: [1, 2],
  },
  { name: 'empty', residency: { blockedCountries: [] }, labels: {}, nodes: [1, 2, 3, 4, 5] },
]
