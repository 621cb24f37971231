// The error codes that reject a manifest field, with their texts. The numbers in the texts come from the validation
// rules, which are run on unacceptable values.

import { type Code, entryOf, fillIn, type Json, placeholdersOf } from '@holdfast/contract'
import { admissionContext, CROSS_RULES, FIELD_RULES } from '@holdfast/core/admission'
import type { Place, Rule } from '@holdfast/core/admission/rule-engine/rule'

export interface FieldRejection {
  readonly code: Code
  readonly expected: string
  readonly why: string
}

/** Error codes that depend on the store or a registry and have no field rule; the code catalogue names their fields. */
const FACT_CODES: readonly Code[] = [
  'manifest_wrong_kind',
  'deployment_exists',
  'dependency_not_found',
  'dependency_has_no_health_check',
  'image_not_found',
  'registry_credential_store_unavailable',
  'node_candidates_unresolvable',
  'node_not_a_placement_candidate',
  'anchored_secret_dropped',
  'anchored_secret_repointed',
  'secret_in_use',
  'route_conflict',
]

const CONTEXT = admissionContext({ registries: new Set(['<registry>']), regions: new Set(['<region>']) })
const MANY = 10_000
/** Values that together break every limit on a number, a text, a duration, a list and a map. */
const UNACCEPTABLE: readonly (Json | undefined)[] = [
  undefined,
  '',
  -1,
  0,
  10 ** 12,
  '\0',
  '1ms',
  '999999999h',
  'x'.repeat(MANY * 100),
  Array.from({ length: MANY }, () => 'x'),
  Object.fromEntries(Array.from({ length: MANY }, (_, index) => [`x${index}`, 'x'])),
]

/** Sibling fields that are present when a rule is run, because some rules apply only beside one of these values. */
const SIBLINGS = { type: 'exec', operator: 'in' }

export function isRequired(at: string): boolean {
  if (at === 'kind') return true
  return FIELD_RULES.some((rule) => rule.at === at && rule.stage === 'required' && refuses(rule, undefined))
}

export function rejectionsAt(at: string): FieldRejection[] {
  const found = [
    ...FIELD_RULES.filter((rule) => rule.at === at).flatMap(fieldRejections),
    ...CROSS_RULES.filter((rule) => rule.at === at).map(({ code }) => rejection(code, {})),
    ...FACT_CODES.filter((code) => placesOf(code).includes(at)).map((code) => rejection(code, {})),
  ]
  const texts = new Map(found.map((each) => [`${each.code} ${each.expected}`, each]))
  return [...texts.values()].filter(({ code, expected }) => {
    const isFilled = expected !== OPEN
    return isFilled || !found.some((each) => each.code === code && each.expected !== OPEN)
  })
}

/** Shown in place of the accepted values of an error code if these values depend on the request. */
const OPEN = 'depends on the request; the response states it'

function refuses(rule: Rule, value: Json | undefined) {
  const place: Place = { key: '', parent: SIBLINGS, sent: {} }
  return rule.refuses(value, CONTEXT, place)
}

function fieldRejections(rule: Rule): FieldRejection[] {
  const verdicts = UNACCEPTABLE.map((value) => refuses(rule, value)).filter(
    (verdict) => typeof verdict === 'object',
  )
  if (verdicts.length === 0) return [rejection(rule.code, {})]
  return verdicts.map(({ params }) => rejection(rule.code, params))
}

/** The texts of a rejection. Placeholders that depend on the request are shown as `<name>`. */
function rejection(code: Code, params: { readonly [name: string]: string | number }): FieldRejection {
  const { expected, why } = entryOf(code)
  const open = Object.fromEntries(placeholdersOf(`${expected} ${why}`).map((name) => [name, `<${name}>`]))
  const filled = { ...open, accepted: OPEN, ...params }
  return { code, expected: fillIn(expected, filled), why: fillIn(why, filled) }
}

/** The manifest fields that an error code can reject, in the notation of the validation rules. */
function placesOf(code: Code): string[] {
  return entryOf(code)
    .field.split(' | ')
    .map((pattern) => pattern.replaceAll('[<i>]', '[*]').replace(/\["<\w+>"\]|\.<\w+>/g, '.*'))
}
