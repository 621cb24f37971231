// Rules for the tenant's own labels: printable ASCII, no prefix that controls an engine or proxy, no residency labels.

import { type Json, type JsonObject, RESIDENCY_LABELS, type ResidencyDemand } from '@holdfast/contract'
import { describeReceived } from '../../credentials/index.ts'
import { isCountry, isLabelKey, isLabelValue } from '../../grammar.ts'
import type { AdmissionContext } from '../context.ts'
import { mergeSent } from '../normalize/merge.ts'
import { RESIDENCY_KEYS } from '../normalize/residency-labels.ts'
import { accepted, onText, type Place, type Rule, type Verdict } from '../rule-engine/rule.ts'
import { blockOf, isDeclared, residencyKeyOf } from './residency.ts'

export const LABEL_KEY_FORM =
  'a label key: name or prefix/name, letters, digits, ".", "_" and "-", at most 253 and 63 characters'
export const LABEL_VALUE_FORM = 'a label value: at most 253 printable ASCII characters'
/** The most entries in a list of countries: the number of two-letter combinations. */
const MOST_COUNTRIES = 26 * 26
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
    refuses: (_value, _context, place) => !isLabelKey(place.key) && accepted(LABEL_KEY_FORM),
  },
  {
    code: 'field_type_invalid',
    at: 'labels.*',
    stage: 'form',
    refuses: onText(
      (value, _context, { key }) =>
        !isResidencyLabel(key) && !isLabelValue(value) && accepted(LABEL_VALUE_FORM),
    ),
  },
  {
    code: 'label_reserved',
    at: 'labels.*',
    stage: 'range',
    refuses: (_value, _context, { key }) => !isResidencyLabel(key) && isReservedLabel(key),
  },
]

const isResidencyLabel = (key: string): boolean => residencyKeyOf(key) !== undefined

/** Whether a label has a reserved prefix. Case is ignored, because some proxies ignore the case of labels. */
export function isReservedLabel(key: string): boolean {
  const lower = key.toLowerCase()
  return RESERVED_PREFIXES.some((prefix) => lower.startsWith(prefix))
}

/** Rejects a residency label. If placement.residency declares the same requirement, another rule rejects the label. */
function handwritten({ current }: AdmissionContext, { key, parent, sent }: Place): Verdict {
  const merged = mergeSent(sent, current)
  return !isDeclared(merged, key) && accepted(filledBlock(parent, blockOf(merged)))
}

/** The placement.residency block that a rejection proposes: the existing block with the submitted label values added. */
function filledBlock(labels: Place['parent'], block: { readonly [key: string]: Json }): string {
  const residency: JsonObject = {}
  for (const key of RESIDENCY_KEYS) {
    const label = RESIDENCY_LABELS[key]
    const text = Array.isArray(labels) ? undefined : labels[label]
    const value = typeof text === 'string' ? submitted(key, label, text) : declared(key, block[key])
    if (value !== undefined) residency[key] = value
  }
  return JSON.stringify({ placement: { residency } })
}

/** A submitted label value in the form of placement.residency, redacted because it may be a misplaced credential. */
function submitted(key: keyof ResidencyDemand, label: string, text: string): Json {
  const shown = describeReceived(`labels[${JSON.stringify(label)}]`, text)
  return key === 'blockedCountries' ? shown.split(',').map((country) => country.trim()) : shown
}

function declared(key: keyof ResidencyDemand, value: Json | undefined): Json | undefined {
  if (key === 'region') return typeof value === 'string' ? describeReceived(key, value) : undefined
  const countries = Array.isArray(value) ? value : [value]
  return countries.length < MOST_COUNTRIES && countries.every(isCountry) ? value : undefined
}
