// Rules for the body of a new volume, and for the bodies that change its size or number of copies.

import { isJsonObject, isNodeId, type JsonObject, VOLUME_CLASSES } from '@holdfast/contract'
import type { AdmissionContext } from '../admission/context.ts'
import { type CrossRefusal, type CrossRule, createRepeatCheck } from '../admission/rule-engine/cross-rule.ts'
import { accepted, isAbsent, onNumber, onText, type Rule, type Stage } from '../admission/rule-engine/rule.ts'
import { hasNameCharacters, isCountry, isLabelValue } from '../grammar.ts'

const MIB = 1024 ** 2
const TIB = 1024 ** 4
export const LEAST_BYTES = 16 * MIB
export const MOST_BYTES = 16 * TIB
/** The most copies besides the primary. */
export const MOST_REPLICAS = 4

const NAME_FORM = accepted('lowercase letters, digits and hyphens, first a letter, at most 63 characters')
const CLASS_FORM = accepted(`one of ${VOLUME_CLASSES.join(', ')}`)
const SIZE_FORM = accepted(`a whole number of bytes from ${LEAST_BYTES} (16 MiB) to ${MOST_BYTES} (16 TiB)`)
const REPLICAS_FORM = accepted(`a whole number from 0 to ${MOST_REPLICAS}`)
export const ONE_COPY = accepted('0, because only the class replicated has copies')
const COUNTRY_FORM = accepted('an ISO 3166-1 country code of two capital letters, for example DE')

const invalid = (at: string, stage: Stage, refuses: Rule['refuses']): Rule => ({
  code: 'volume_spec_invalid',
  at,
  stage,
  refuses,
})

const isCountryForm = onText((text) => !isCountry(text) && COUNTRY_FORM)

export const sizeRules: readonly Rule[] = [
  invalid('sizeBytes', 'required', (value) => isAbsent(value) && SIZE_FORM),
  invalid(
    'sizeBytes',
    'range',
    onNumber((size) => (size < LEAST_BYTES || size > MOST_BYTES) && SIZE_FORM),
  ),
]

export const replicasRange: Rule = invalid(
  'replicas',
  'range',
  onNumber((count) => (count < 0 || count > MOST_REPLICAS) && REPLICAS_FORM),
)

export const replicasRequired: Rule = invalid(
  'replicas',
  'required',
  (value) => isAbsent(value) && REPLICAS_FORM,
)

export const volumeRules: readonly Rule[] = [
  { code: 'name_required', at: 'name', stage: 'required', refuses: (name) => isAbsent(name) || name === '' },
  invalid(
    'name',
    'length',
    onText((name, { limits }) => name.length > limits.nameCharacters && NAME_FORM),
  ),
  invalid(
    'name',
    'form',
    onText((name) => !hasNameCharacters(name) && NAME_FORM),
  ),
  invalid('class', 'required', (value) => isAbsent(value) && CLASS_FORM),
  invalid(
    'class',
    'form',
    onText((name) => !VOLUME_CLASSES.some((known) => known === name) && CLASS_FORM),
  ),
  ...sizeRules,
  replicasRange,
  invalid(
    'nodeId',
    'form',
    onText((id) => !isNodeId(id) && accepted('the id of a node of this tenant')),
  ),
  invalid('residency.country', 'form', isCountryForm),
  invalid(
    'residency.region',
    'form',
    onText(
      (name) =>
        (name === '' || !isLabelValue(name)) &&
        accepted('the name of a region: 1 to 253 printable ASCII characters'),
    ),
  ),
  {
    code: 'list_too_long',
    at: 'residency.blockedCountries',
    stage: 'length',
    refuses: (value, { limits: { blockedCountries: max } }) =>
      Array.isArray(value) && value.length > max && { params: { max } },
  },
  invalid('residency.blockedCountries[*]', 'form', isCountryForm),
]

export const volumeCrossRules: readonly CrossRule[] = [
  { code: 'volume_spec_invalid', at: 'replicas', needs: ['class', 'replicas'], refusals: copiesOfOneCopy },
  {
    code: 'volume_spec_invalid',
    at: 'residency.blockedCountries[*]',
    needs: ['residency'],
    refusals: blockedInVain,
  },
  {
    code: 'residency_region_undeclared',
    at: 'residency.region',
    needs: ['residency'],
    refusals: regionUndeclared,
  },
]

/** Rejects copies of a class that has none. */
function copiesOfOneCopy({ class: kind, replicas }: JsonObject): CrossRefusal[] {
  if (kind === 'replicated' || typeof replicas !== 'number' || replicas === 0) return []
  return [{ path: ['replicas'], value: replicas, ...ONE_COPY }]
}

const residencyOf = ({ residency }: JsonObject): JsonObject => (isJsonObject(residency) ? residency : {})

/** Rejects a blocked country that is listed twice, and one that is also the required country. */
function blockedInVain(merged: JsonObject): CrossRefusal[] {
  const { country, blockedCountries } = residencyOf(merged)
  if (!Array.isArray(blockedCountries)) return []
  const isRepeat = createRepeatCheck()
  return blockedCountries.flatMap((blocked, index): CrossRefusal[] => {
    const path = ['residency', 'blockedCountries', index]
    if (isRepeat(blocked)) return [{ path, value: blocked, ...accepted('a country that is listed once') }]
    if (blocked !== country) return []
    return [{ path, value: blocked, ...accepted('a country other than residency.country') }]
  })
}

function regionUndeclared(
  merged: JsonObject,
  _sent: JsonObject,
  { regions }: AdmissionContext,
): CrossRefusal[] {
  const { region } = residencyOf(merged)
  if (typeof region !== 'string' || regions.has(region)) return []
  const params = { regions: [...regions].sort().join(', ') || 'none' }
  return [{ path: ['residency', 'region'], value: region, params }]
}
