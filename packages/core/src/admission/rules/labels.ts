// The tenant's own labels: a plain ASCII grammar, no prefix that steers the engine or a proxy, and residency only as the
// typed block. SPEC 2.7; DECISIONS 3, 4; SAFETY 2 rows 16, 35.

import type { JsonObject } from '@holdfast/contract'
import { describeReceived } from '../../credentials/index.ts'
import { isLabelKey, isLabelValue } from '../grammar.ts'
import { accepted, onText, type Place, type Rule } from '../rule.ts'

const LABEL_KEY =
  'a label key: name or prefix/name, letters, digits, ".", "_" and "-", at most 253 and 63 characters'
const RESERVED_PREFIXES = ['holdfast.io/', 'traefik.', 'caddy', 'com.docker.']
const COUNTRY = 'holdfast.io/data-residency-country'
const REGION = 'holdfast.io/data-residency-region'
const BLOCKED = 'holdfast.io/blocked-countries'

export const labelsRules: readonly Rule[] = [
  {
    code: 'residency_label_handwritten',
    at: 'labels.*',
    stage: 'form',
    refuses: (_value, _context, place) =>
      isResidencyLabel(place.key) && accepted(residencyBlock(place.parent)),
  },
  {
    code: 'field_type_invalid',
    at: 'labels.*',
    stage: 'form',
    refuses: (_value, _context, place) => !isLabelKey(place.key) && accepted(LABEL_KEY),
  },
  {
    code: 'field_type_invalid',
    at: 'labels.*',
    stage: 'form',
    refuses: onText(
      (value) => !isLabelValue(value) && accepted('a label value: at most 253 printable ASCII characters'),
    ),
  },
  {
    code: 'label_reserved',
    at: 'labels.*',
    stage: 'range',
    refuses: (_value, _context, place) => isReserved(place.key),
  },
]

function isResidencyLabel(key: string): boolean {
  return key === COUNTRY || key === REGION || key === BLOCKED
}

/** Case does not protect: one of the proxies reads its labels in any case. */
function isReserved(key: string): boolean {
  const lower = key.toLowerCase()
  return RESERVED_PREFIXES.some((prefix) => lower.startsWith(prefix))
}

/** The typed block with the values that were submitted as labels, ready to be pasted. */
function residencyBlock(labels: Place['parent']): string {
  const residency: JsonObject = {}
  const [country, region, blocked] = [COUNTRY, REGION, BLOCKED].map((key) => submitted(labels, key))
  if (country !== undefined) residency.country = country
  if (region !== undefined) residency.region = region
  if (blocked !== undefined) residency.blockedCountries = blocked.split(',').map((text) => text.trim())
  return JSON.stringify({ placement: { residency } })
}

/** Through the one place that redacts: what was submitted may be a credential in the wrong place. */
function submitted(labels: Place['parent'], key: string): string | undefined {
  const value = Array.isArray(labels) ? undefined : labels[key]
  return typeof value === 'string' ? describeReceived(`labels[${JSON.stringify(key)}]`, value) : undefined
}
