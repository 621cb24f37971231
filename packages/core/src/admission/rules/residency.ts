// Rules for placement.residency: well-formed, without contradictions, and not also declared by labels. The scheduler
// decides whether a node satisfies the requirements.

import {
  isJsonObject,
  type Json,
  type JsonObject,
  RESIDENCY_LABELS,
  type ResidencyDemand,
} from '@holdfast/contract'
import { isCountry, isLabelValue } from '../../grammar.ts'
import type { AdmissionContext } from '../context.ts'
import { RESIDENCY_KEYS } from '../normalize/residency-labels.ts'
import { type CrossRefusal, type CrossRule, createRepeatCheck } from '../rule-engine/cross-rule.ts'
import { accepted, onText, type Rule } from '../rule-engine/rule.ts'

export const residencyRules: readonly Rule[] = [
  ...['placement.residency.country', 'placement.residency.blockedCountries[*]'].map(
    (at): Rule => ({
      code: 'placement_invalid',
      at,
      stage: 'form',
      refuses: onText(
        (text) =>
          !isCountry(text) && accepted('an ISO 3166-1 country code of two capital letters, for example DE'),
      ),
    }),
  ),
  {
    code: 'placement_invalid',
    at: 'placement.residency.region',
    stage: 'form',
    refuses: onText(
      (name) =>
        (name === '' || !isLabelValue(name)) &&
        accepted('the name of a region: 1 to 253 printable ASCII characters'),
    ),
  },
]

export const residencyCrossRules: readonly CrossRule[] = [
  {
    code: 'placement_invalid',
    at: 'placement.residency.blockedCountries[*]',
    needs: ['placement'],
    refusals: blockedInVain,
  },
  { code: 'residency_declared_twice', at: 'labels.*', needs: [], refusals: declaredTwice },
]

export const residencyConfigurationRules: readonly CrossRule[] = [
  {
    code: 'residency_region_undeclared',
    at: 'placement.residency.region',
    needs: [],
    refusals: regionUndeclared,
  },
]

/** Rejects a blocked country that is listed twice, and a blocked country that is also the required country. */
function blockedInVain(merged: JsonObject): CrossRefusal[] {
  const { country, blockedCountries } = blockOf(merged)
  if (!Array.isArray(blockedCountries)) return []
  const isRepeat = createRepeatCheck()
  return blockedCountries.flatMap((blocked, index): CrossRefusal[] => {
    const path = ['placement', 'residency', 'blockedCountries', index]
    if (isRepeat(blocked)) return [{ path, value: blocked, ...accepted('a country that is listed once') }]
    const contradicts = blocked === country
    return contradicts
      ? [{ path, value: blocked, ...accepted('a country other than placement.residency.country') }]
      : []
  })
}

function declaredTwice(merged: JsonObject): CrossRefusal[] {
  const { labels } = merged
  if (!isJsonObject(labels)) return []
  return Object.keys(labels)
    .filter((label) => isDeclared(merged, label))
    .map((label) => ({ path: ['labels', label], value: labels[label] }))
}

/** Rejects a region that the configuration does not declare. Checked only if the region was sent. */
function regionUndeclared(
  _merged: JsonObject,
  sent: JsonObject,
  { regions }: AdmissionContext,
): CrossRefusal[] {
  const { region } = blockOf(sent)
  if (typeof region !== 'string' || regions.has(region)) return []
  const declared = [...regions].sort().join(', ')
  return [
    { path: ['placement', 'residency', 'region'], value: region, params: { regions: declared || 'none' } },
  ]
}

/** The field of placement.residency that is stored as the given label; undefined for any other label. */
export function residencyKeyOf(label: string): keyof ResidencyDemand | undefined {
  return RESIDENCY_KEYS.find((key) => RESIDENCY_LABELS[key] === label)
}

/** Whether placement.residency declares the requirement that a residency label stores. */
export function isDeclared(spec: JsonObject, label: string): boolean {
  const key = residencyKeyOf(label)
  const value = key === undefined ? undefined : blockOf(spec)[key]
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)
}

export function blockOf({ placement }: JsonObject): { readonly [key: string]: Json } {
  const residency = isJsonObject(placement) ? placement.residency : undefined
  return isJsonObject(residency) ? residency : {}
}
