// Rejections, alterations (changes the server made to a request) and warnings.

import type { Code } from '../catalogue/index.ts'
import type { Json } from '../json/json.ts'
import { branded, type Infer, json, object, oneOf, optional, string } from '../shapes/shape.ts'

export const rejectionShape = object({
  code: branded<Code>(),
  field: string({ description: 'Path of the field that failed' }),
  received: string({ description: 'The value received, redacted where it may be secret' }),
  expected: string({ description: 'The accepted form' }),
  why: string({ description: 'Human-readable reason; never branch on it' }),
  doc: string({ description: 'Link to the reference page of the code' }),
})
export type Rejection = Infer<typeof rejectionShape>

export const ALTERATION_CODES = [
  'default_applied',
  'image_digest_resolved',
  'residency_stored_as_label',
  'write_time_material_stripped',
  'secrets_version_kept',
  'secret_version_pinned',
  'node_follows_volume',
  'update_order_stop_first',
  'network_node_chosen',
  'read_only_ignored',
] as const

export const alterationShape = object({
  code: oneOf(ALTERATION_CODES),
  field: string(),
  from: json<Json>(),
  to: json<Json>(),
  why: string(),
})
export type Alteration = Infer<typeof alterationShape>

export const WARNING_CODES = [
  'registry_unreachable',
  'secret_keys_dropped',
  'dependency_elsewhere',
  'residency_enforcement_off',
  'residency_no_match',
  'list_shortened',
  'health_check_trivial',
  'charset_unsafe_in_template',
  'engine_below_floor',
  'secret_exists',
  'external_material_generated',
  'volumes_not_promotable_together',
  'scaling_policy_active',
  'canary_aborted',
  'canary_weight_ignored',
  'dependents_left',
] as const

export const warningShape = object({
  code: oneOf(WARNING_CODES),
  field: string(),
  why: string(),
  advertised: optional(json<Json>()),
})
export type Warning = Infer<typeof warningShape>
