// Rules for how many elements each list or map of a deployment may have.

import { isJsonObject, type Json } from '@holdfast/contract'
import type { Limits } from '../../limits.ts'
import type { Rule } from '../rule-engine/rule.ts'

const LENGTHS: { readonly [at: string]: keyof Limits } = {
  'healthCheck.command': 'commandElements',
  environment: 'environmentEntries',
  composedEnvironment: 'environmentEntries',
  secrets: 'secrets',
  volumes: 'volumes',
  'placement.residency.blockedCountries': 'blockedCountries',
  'placement.constraints': 'constraints',
  'placement.constraints[*].values': 'constraintValues',
  'placement.affinity': 'affinityNames',
  'placement.antiAffinity': 'affinityNames',
  dependsOn: 'dependsOn',
  routes: 'routes',
  networks: 'networks',
  labels: 'labels',
  command: 'commandElements',
  args: 'commandElements',
}

export const listLengthsRules: readonly Rule[] = Object.entries(LENGTHS).map(
  ([at, limit]): Rule => ({
    code: 'list_too_long',
    at,
    stage: 'length',
    refuses: (value, { limits }) => sizeOf(value) > limits[limit] && { params: { max: limits[limit] } },
  }),
)

function sizeOf(value: Json | undefined): number {
  if (Array.isArray(value)) return value.length
  return isJsonObject(value) ? Object.keys(value).length : 0
}
