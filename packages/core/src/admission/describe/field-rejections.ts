// The error codes that reject a field, with their texts. The numbers in the texts come from the validation rules, which
// are run on unacceptable values.

import {
  type Code,
  describeShape,
  entryOf,
  fillIn,
  type Json,
  placeholdersOf,
  type ShapeNode,
} from '@holdfast/contract'
import type { Limits } from '../../limits.ts'
import type { Params } from '../../reject.ts'
import { type AdmissionContext, admissionContext } from '../context.ts'
import type { CrossRule } from '../rule-engine/cross-rule.ts'
import type { Place, Rule } from '../rule-engine/rule.ts'
import { CROSS_RULES, FIELD_RULES } from '../rule-list.ts'
import { writtenDocumentRules } from '../rules/secret-documents.ts'
import { secretMaterialRules } from '../rules/secret-material.ts'

export interface FieldRejection {
  readonly code: Code
  /** The accepted form. */
  readonly expected: string
  readonly why: string
}

/** The rules that can reject the fields of a request body. */
export interface BodyRules {
  readonly rules: readonly Rule[]
  readonly cross: readonly CrossRule[]
  /** Codes without a rule, because they depend on the store or a registry; the catalogue names their fields. */
  readonly facts: readonly Code[]
}

export const DEPLOYMENT_BODY: BodyRules = {
  rules: FIELD_RULES,
  cross: CROSS_RULES,
  facts: [
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
    'network_not_found',
  ],
}

export const SECRET_WRITE_BODY: BodyRules = {
  rules: secretMaterialRules(''),
  cross: writtenDocumentRules,
  facts: ['secret_in_use'],
}

const MANY = 10_000
/** Values that together break every limit on a number, a text, a duration, a list and a map. */
const UNACCEPTABLE: readonly (Json | undefined)[] = [
  undefined,
  '',
  -1,
  0,
  8,
  10 ** 12,
  '\0',
  '1ms',
  '999999999h',
  'x/x',
  'x'.repeat(MANY * 100),
  Array.from({ length: MANY }, () => 'x'),
  Object.fromEntries(Array.from({ length: MANY }, (_, index) => [`x${index}`, 'x'.repeat(100)])),
]

/** Sibling fields that are present when a rule is run, because some rules apply only beside one of these values. */
const SIBLINGS = { type: 'exec', operator: 'in' }

/** Stands for the accepted values of a code if these values depend on the request. */
const OPEN = 'depends on the request; the response states it'

/** Words for placeholders whose values depend on the request. A placeholder that is not listed is shown in capitals. */
const WORDS: { readonly [placeholder: string]: string } = {
  accepted: OPEN,
  allowed: 'holdfast registry list shows them',
  consumers: 'other deployments',
  current: 'another step',
  declared: 'listed in the response',
  deployment: 'named in the response',
  etag: 'the response has it',
  fault: 'the response names the fault',
  kind: 'records of this kind',
  limit: 'the limit of',
  other: 'another source',
  regions: 'the regions that holdfast get regions lists',
  resource: 'a secret',
  seconds: 'a few',
  used: 'all',
  variable: 'of this name',
}

export function contextOf(limits: Limits): AdmissionContext {
  return admissionContext({ limits, registries: new Set([WORDS.allowed ?? '']), volumesEnabled: true })
}

export function isRequired(at: string, { rules }: BodyRules, context: AdmissionContext): boolean {
  if (at === 'kind') return true
  return rules.some(
    (rule) => rule.at === at && rule.stage === 'required' && refuses(rule, undefined, context),
  )
}

/**
 * The rejections of a field and of its elements, in the order of the rules. A code is listed once for each accepted form.
 */
export function rejectionsAt(
  at: string,
  shape: ShapeNode,
  body: BodyRules,
  context: AdmissionContext,
): FieldRejection[] {
  const places = [at, `${at}[*]`, `${at}.*`]
  const ruled = body.rules
    .filter((rule) => places.includes(rule.at))
    .flatMap((rule) => ruleRejections(rule, context))
  const others = [
    ...body.cross.filter((rule) => places.includes(rule.at)).map(({ code }) => code),
    ...body.facts.filter((code) => placesOf(code).some((place) => places.includes(place))),
  ].map((code) => describeCode(code, context.limits))
  const all = [...wrongType(at, shape, body, context), ...ruled, ...others]
  const isFilled = ({ expected }: FieldRejection) => expected !== OPEN
  const filled = new Set(all.filter(isFilled).map(({ code }) => code))
  const listed = all.filter((each) => isFilled(each) || !filled.has(each.code))
  return [...new Map(listed.map((each) => [`${each.code} ${each.expected}`, each])).values()]
}

/** The rejection of a value of another type, unless a rule rejects such values with a code of its own. */
function wrongType(at: string, shape: ShapeNode, { rules }: BodyRules, context: AdmissionContext) {
  const wrong: Json = shape.kind === 'boolean' ? 'x' : true
  const isRuled = rules.some(
    (rule) => rule.at === at && rule.stage === 'type' && refuses(rule, wrong, context) !== false,
  )
  return isRuled ? [] : [rejectionText('field_type_invalid', { accepted: describeShape(shape) })]
}

/** The texts of a code. Numbers that a rule states are filled in; other placeholders are replaced by words. */
export function describeCode(code: Code, limits: Limits): FieldRejection {
  const context = contextOf(limits)
  const rules = FIELD_RULES.filter((rule) => rule.code === code)
  const forms = rules.flatMap((rule) => ruleRejections(rule, context))
  const [first] = forms
  const isOneForm = first !== undefined && forms.every(({ expected }) => expected === first.expected)
  return isOneForm ? first : rejectionText(code)
}

function refuses(rule: Rule, value: Json | undefined, context: AdmissionContext) {
  const place: Place = { key: '', parent: SIBLINGS, sent: {} }
  return rule.refuses(value, context, place)
}

function ruleRejections(rule: Rule, context: AdmissionContext): FieldRejection[] {
  const verdicts = UNACCEPTABLE.map((value) => refuses(rule, value, context)).filter(
    (verdict) => typeof verdict === 'object',
  )
  if (verdicts.length === 0) return [rejectionText(rule.code)]
  return verdicts.map(({ params }) => rejectionText(rule.code, params))
}

function rejectionText(code: Code, params: Params = {}): FieldRejection {
  const { expected, why } = entryOf(code)
  const open = placeholdersOf(`${expected} ${why}`).map((name) => [name, WORDS[name] ?? name.toUpperCase()])
  const filled = { ...Object.fromEntries(open), ...params }
  return { code, expected: fillIn(expected, filled), why: fillIn(why, filled) }
}

/** The fields that a code can reject, in the notation of the validation rules. */
function placesOf(code: Code): string[] {
  return entryOf(code)
    .field.split(' | ')
    .map((pattern) => pattern.replaceAll('[<i>]', '[*]').replace(/\["<\w+>"\]|\.<\w+>/g, '.*'))
}
