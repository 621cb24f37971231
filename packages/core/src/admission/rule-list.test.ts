// Tests that every rule has a catalogue entry, and that the entry names every field at which the rule can reject.

import { CODES, type Code, codesIn, entryOf, placeholdersOf } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import { type CompiledNode, DEPLOYMENT_RULES } from './rule-engine/compile-rules.ts'
import { STAGES } from './rule-engine/rule.ts'
import { CROSS_RULES, FIELD_RULES } from './rule-list.ts'

const RULES: readonly { code: Code; at: string }[] = [...FIELD_RULES, ...CROSS_RULES]

/** Codes that no admission rule raises, but the body walker, the fact checks or the persist guard. */
const ELSEWHERE: readonly Code[] = [
  'manifest_wrong_kind',
  'field_unknown',
  'field_read_only',
  'permission_denied',
  'deployment_exists',
  'deployment_not_found',
  'dependency_not_found',
  'dependency_has_no_health_check',
  'image_not_found',
  'node_candidates_unresolvable',
  'node_not_a_placement_candidate',
  'registry_credential_store_unavailable',
  'route_conflict',
  'quota_exceeded',
  'secret_material_would_persist',
  'secret_generate_would_persist',
  'anchored_secret_dropped',
  'anchored_secret_repointed',
  'rotation_transition_invalid',
]

test.each(RULES.map(({ code, at }) => [code, at] as const))('%s may be raised at %s', (code, at) => {
  expect(CODES).toContain(code)
  const patterns = entryOf(code).field.split(' | ')
  expect(patterns.some((pattern) => covers(pattern, at))).toBe(true)
})

test.each([...ELSEWHERE])('%s is in the catalogue', (code) => {
  expect(CODES).toContain(code)
})

test('every code of deployments, health checks and secrets is raised by a rule or listed as raised elsewhere', () => {
  const raised = new Set<Code>([...RULES.map(({ code }) => code), ...ELSEWHERE])
  const owned = codesIn('deployment', 'healthCheck', 'secretSources', 'secretEntries')
  expect(owned.length).toBe(18 + 34)
  expect(owned.filter((code) => !raised.has(code))).toEqual([])
})

test('the walker visits the path of every rule', () => {
  const placed = new Set(rulesOf(DEPLOYMENT_RULES))
  expect(FIELD_RULES.filter((rule) => !placed.has(rule))).toEqual([])
})

test('some codes have an accepted form that the rule fills in', () => {
  const names = new Set(CODES.flatMap((code) => placeholdersOf(entryOf(code).expected)))
  expect(names).toContain('accepted')
})

describe('rule stages', () => {
  test('run in the order type, required, length, form, range', () => {
    expect(STAGES).toEqual(['type', 'required', 'length', 'form', 'range'])
  })
})

function rulesOf(node: CompiledNode): unknown[] {
  const inner = [...node.fields.values(), ...(node.element === undefined ? [] : [node.element])]
  return [...node.typeRules, ...node.requiredRules, ...node.rules, ...inner.flatMap(rulesOf)]
}

/**
 * Whether a field pattern of the catalogue, such as `labels["<label>"]` or `dependsOn.<name>`, matches the path of a
 * rule, such as `labels.*` or `a[*].b`.
 */
function covers(pattern: string, at: string): boolean {
  const source = pattern
    .replaceAll('["<', '.<')
    .replaceAll('>"]', '>')
    .replace(/[.[\]]/g, '\\$&')
    .replace(/<[^>]+>/g, '.+')
  return new RegExp(`^${source}$`).test(at)
}
