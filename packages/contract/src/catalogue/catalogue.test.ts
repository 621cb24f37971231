// Pins the codes of the public error catalogue, their order and statuses, and checks the form of every catalogue text.

import { expect, test } from 'vitest'
import { CATALOGUE, CATALOGUE_SECTIONS, CODES, type Code, codesIn, entryOf, isCode } from './catalogue.ts'

/** Expected codes, each with its HTTP status and any second status. Codes are never renamed, removed or reused. */
const RESOURCE_CODES = [
  // Codes about deployments.
  'name_required 422',
  'deployment_name_invalid 422',
  'deployment_name_too_long 422',
  'reserved_infrastructure_name 422',
  'deployment_not_found 404',
  'manifest_wrong_kind 422',
  'image_required 422',
  'image_not_found 422',
  'registry_credential_store_unavailable 503',
  'replicas_negative 422',
  'replicas_out_of_range 422',
  'plaintext_credential_in_environment 422',
  'secrets_version_negative 422',
  // Codes about health checks.
  'healthcheck_command_missing 422',
  'healthcheck_retries_below_floor 422',
  'healthcheck_timeout_below_floor 422',
  'healthcheck_type_inert 422',
  'healthcheck_type_unsupported 422',
  // Codes about secrets.
  'anchored_secret_dropped 409',
  'anchored_secret_repointed 409',
  'secret_anchor_invalid 422',
  'secret_anchor_volume_ephemeral 422',
  'secret_anchor_volume_not_declared 422',
  'secret_compose_no_reference 422',
  'secret_compose_resource_undeclared 422',
  'secret_compose_template_empty 422',
  'secret_compose_template_malformed 422',
  'secret_generate_axis_conflict 422',
  'secret_generate_below_entropy_floor 422',
  'secret_generate_bytes_out_of_range 422',
  'secret_generate_charset_unknown 422',
  'secret_generate_encoding_unknown 422',
  'secret_generate_key_duplicate 422',
  'secret_generate_keys_required 422',
  'secret_generate_length_out_of_range 422',
  'secret_generate_would_persist 500',
  'secret_key_invalid 422',
  'secret_key_provided_and_generated 422',
  'secret_material_would_persist 500',
  'secret_mount_path_unsupported 422',
  'secret_name_invalid 422',
  'secret_path_name 422',
  'secret_path_namespace 422',
  'secret_path_namespace_split 422',
  'secret_path_shape 422',
  'secret_rotation_unsupported 422',
  'secret_value_empty 422',
  'secret_value_too_long 422',
  'secret_vault_path_not_relative 422',
  'secret_vault_path_required 422',
  'secret_write_empty 422',
  'rotation_transition_invalid 409',
  // Codes about placement.
  'node_candidates_unresolvable 422 503',
  'node_not_a_placement_candidate 422',
  'node_owned_by_another_tenant 409',
  'node_claim_release_no_tenant 400',
  'job_node_candidates_unresolvable 422 503',
  'job_node_not_found 422',
  'network_node_candidates_unresolvable 422 503',
  'network_node_not_a_candidate 422',
  'network_node_required 422',
  'network_option_unsupported_on_agent 422',
  // Codes about volumes.
  'volume_access_mode_conflict 409',
  'volume_binding_unavailable 422',
  'volume_class_not_wired 422',
  'volume_mount_shape 422',
  'volume_not_found 422 404',
  'volume_not_ready 409',
  'volume_primary_mismatch 409',
  'volume_snapshot_not_found 404',
  'volume_snapshot_not_implemented 501',
  'dvm_recommendation_apply_invalid_spec 422',
  'dvm_recommendation_bad_parameter 422',
  'dvm_recommendation_insufficient_nodes 409',
  'dvm_recommendation_not_applicable 409',
  'dvm_recommendation_not_found 404',
  'dvm_recommendation_stale_measurement 409',
  'dvm_recommendation_tenant_required 400',
  'dvm_recommendation_unknown_action 422',
  'dvm_recommendation_unknown_priority 400',
  'dvm_recommendation_unknown_type 400',
  'dvm_recommendation_volume_missing 409',
  'query_parameter_unknown 400',
]

const REQUEST_CODES = [
  'body_malformed 400',
  'body_too_large 413',
  'field_unknown 422',
  'field_type_invalid 422',
  'field_read_only 422',
  'list_too_long 422',
  'header_invalid 400',
  'query_parameter_invalid 400',
  'unauthenticated 401',
  'permission_denied 403',
  'rate_limited 429',
  'not_found 404',
  'method_not_allowed 405',
  'deployment_exists 409',
  'revision_conflict 412',
  'idempotency_key_reused 409',
  'quota_exceeded 409',
  'store_unavailable 503',
  'secrets_store_unavailable 503',
  'tenant_not_found 404',
  'tenant_exists 409',
  'node_not_found 404',
  'network_not_found 422 404',
  'network_exists 409',
  'network_in_use 409',
  'job_not_found 404',
  'backup_not_found 404',
  'archive_not_found 404',
  'secret_not_found 404',
  'secret_in_use 409',
  'secret_patch_base_missing 409',
  'join_token_invalid 401',
  'residency_label_handwritten 422',
  'residency_region_undeclared 422',
  'residency_declared_twice 422',
  'dependency_invalid 422',
  'dependency_not_found 422',
  'dependency_has_no_health_check 422',
  'environment_key_invalid 422',
  'environment_key_conflict 422',
  'environment_too_large 422',
  'healthcheck_interval_below_floor 422',
  'placement_invalid 422',
  'resources_invalid 422',
  'update_invalid 422',
  'label_reserved 422',
  'route_invalid 422',
  'route_conflict 409',
  'volume_spec_invalid 422',
  'volume_in_use 409',
  'replica_node_invalid 422',
  'canary_state_invalid 409',
  'scaling_policy_invalid 422',
  'scaling_policy_not_found 404',
  'registry_not_allowed 422',
]

/** Words with underscores in the docs that are not error codes: fields, actions, alterations, warnings, samples. */
const NAMES_IN_DOCS = [
  'vault_path',
  'mount_path',
  'api_key',
  'deployment_id',
  'set_replicas',
  'target_replicas',
  'target_size_bytes',
  'secrets_version_kept',
  'registry_unreachable',
]

function surfaceOf(code: Code): string {
  const { status, alternativeStatus } = entryOf(code)
  return [code, status, alternativeStatus?.status].filter((part) => part !== undefined).join(' ')
}

test('the codes of deployments, secrets, placement and volumes keep their names, statuses and order', () => {
  expect(RESOURCE_CODES).toHaveLength(83)
  const codes = codesIn('deployment', 'healthCheck', 'secretSources', 'secretEntries', 'placement', 'volumes')
  expect(codes.map(surfaceOf)).toEqual(RESOURCE_CODES)
})

test('the codes of requests, records and workload fields keep their names, statuses and order', () => {
  expect(REQUEST_CODES).toHaveLength(55)
  expect(codesIn('request', 'resources', 'workload').map(surfaceOf)).toEqual(REQUEST_CODES)
})

test('every code of the catalogue is in exactly one section', () => {
  const codes = Object.values(CATALOGUE_SECTIONS).flatMap((section) => Object.keys(section))
  expect(new Set(codes).size).toBe(codes.length)
  expect(codes).toEqual([...CODES])
})

test('isCode accepts the codes of the catalogue and no inherited property', () => {
  expect(CODES.every(isCode)).toBe(true)
  expect(['', 'toString', '__proto__', 'NAME_REQUIRED', 'no_such_code'].some(isCode)).toBe(false)
  expect(entryOf('name_required')).toBe(CATALOGUE.name_required)
})

test.each(CODES)('%s has a well-formed name, statuses and field patterns', (code) => {
  const { status, alternativeStatus, field } = entryOf(code)
  expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/)
  for (const each of [status, alternativeStatus?.status ?? status]) {
    expect(each).toBeGreaterThanOrEqual(400)
    expect(each).toBeLessThan(600)
  }
  expect(alternativeStatus?.status).not.toBe(status)
  for (const pattern of field.split(' | ')) expect(pattern).toMatch(/^[^\s|]+$/)
})

test.each(CODES)('%s states what is accepted, why, and what to do', (code) => {
  const { expected, why, doc } = entryOf(code)
  expect(expected).toMatch(/^\S.*[^\s.]$/)
  expect(why).toMatch(/^\S.*[^\s.]\.$/)
  expect(why, 'one sentence').not.toMatch(/[.!?]\s/)
  expect(doc).toMatch(/^\S[\s\S]{10,}\n\n\*\*What to do\.\*\* \S[\s\S]{10,}\.$/)
})

test.each(CODES)('%s has texts without stray blanks or internal words', (code) => {
  const { field, expected, why, doc } = entryOf(code)
  for (const text of [field, expected, why, doc]) {
    expect(text).not.toMatch(/[ \t]$|[ \t]\n|\n\n\n| {2}/)
    expect(text).not.toMatch(/TODO|FIXME|SPEC|DECISIONS|\bwe\b/)
  }
  expect(doc.split('`').length % 2, 'code spans are closed').toBe(1)
})

test.each(CODES)('%s has well-formed placeholders and no stray brace', (code) => {
  for (const text of [entryOf(code).expected, entryOf(code).why]) {
    const rest = text.replaceAll('{{secret.<resource>.<key>}}', '').replaceAll(/\{[a-z][A-Za-z]*\}/g, '')
    expect(rest).not.toMatch(/[{}]/)
  }
})

test('reference pages name only codes that exist', () => {
  const known = new Set<string>([...CODES, ...NAMES_IN_DOCS])
  for (const code of CODES) {
    const spans = Array.from(entryOf(code).doc.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g), (found) => found[1] ?? '')
    expect(spans.filter((span) => !known.has(span))).toEqual([])
  }
})
