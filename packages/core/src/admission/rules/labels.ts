// The tenant's own labels: a plain ASCII grammar, no prefix that steers the engine or a proxy, and residency only as the
// typed block. SPEC 2.7; DECISIONS 3, 4; SAFETY 2 rows 16, 35.

import { type Json, type JsonObject, RESIDENCY_LABELS, type ResidencyDemand } from '@holdfast/contract'
import { describeReceived } from '../../credentials/index.ts'
import { isCountry, isLabelKey, isLabelValue } from '../../grammar.ts'
import type { AdmissionContext } from '../context.ts'
import { mergeSent } from '../normalize/merge.ts'
import { RESIDENCY_KEYS } from '../normalize/residency-labels.ts'
import { accepted, onText, type Place, type Rule, type Verdict } from '../rule-engine/rule.ts'
import { blockOf, isDeclared, residencyKeyOf } from './residency.ts'

const LABEL_KEY =
  'a label key: name or prefix/name, letters, digits, ".", "_" and "-", at most 253 and 63 characters'
/** There are no more of two letters. */
const MOST_SAID = 26 * 26
const RESERVED_PREFIXES = ['holdfast.io/', 'traefik.', 'caddy', 'com.docker.']

export const labelsRules: readonly Rule[] = [
  {
    code: 'residency_label_handwritten',
    at: 'labels.*',
    stage: 'form',
    refuses: (_value, context, place) => isResidencyLabel(place.key) && handwritten(context, place),
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
      (value, _context, { key }) =>
        !isResidencyLabel(key) &&
        !isLabelValue(value) &&
        accepted('a label value: at most 253 printable ASCII characters'),
    ),
  },
  {
    code: 'label_reserved',
    at: 'labels.*',
    stage: 'range',
    refuses: (_value, _context, { key }) => !isResidencyLabel(key) && isReserved(key),
  },
]

const isResidencyLabel = (key: string): boolean => residencyKeyOf(key) !== undefined

/** Case does not protect: one of the proxies reads its labels in any case. */
function isReserved(key: string): boolean {
  const lower = key.toLowerCase()
  return RESERVED_PREFIXES.some((prefix) => lower.startsWith(prefix))
}

/** Beside a block that says the same it is declared twice, which is a question between fields. */
function handwritten({ current }: AdmissionContext, { key, parent, sent }: Place): Verdict {
  const merged = mergeSent(sent, current)
  return !isDeclared(merged, key) && accepted(filledBlock(parent, blockOf(merged)))
}

/** The typed block, ready to be pasted: the values that were submitted as labels, beside what it says already. */
function filledBlock(labels: Place['parent'], block: { readonly [key: string]: Json }): string {
  const residency: JsonObject = {}
  for (const key of RESIDENCY_KEYS) {
    const label = RESIDENCY_LABELS[key]
    const text = Array.isArray(labels) ? undefined : labels[label]
    const value = typeof text === 'string' ? submitted(key, label, text) : said(key, block[key])
    if (value !== undefined) residency[key] = value
  }
  return JSON.stringify({ placement: { residency } })
}

/** Through the one place that redacts: what was submitted may be a credential in the wrong place. */
function submitted(key: keyof ResidencyDemand, label: string, text: string): Json {
  const shown = describeReceived(`labels[${JSON.stringify(label)}]`, text)
  return key === 'blockedCountries' ? shown.split(',').map((country) => country.trim()) : shown
}

function said(key: keyof ResidencyDemand, value: Json | undefined): Json | undefined {
  if (key === 'region') return typeof value === 'string' ? describeReceived(key, value) : undefined
  const countries = Array.isArray(value) ? value : [value]
  return countries.length < MOST_SAID && countries.every(isCountry) ? value : undefined
}
