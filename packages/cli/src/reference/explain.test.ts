// Checks that the explanation of a field lists only rejection codes that a manifest can get at that field.

import { describe, expect, test } from 'vitest'
import { explainWord } from './explain.ts'

const codesOf = (field: string): string[] =>
  [...(explainWord(field) ?? '').matchAll(/^- `(\w+)`:/gm)].map(([, code = '']) => code)

describe('the rejection codes of a field', () => {
  test('omit codes of other resources with a field of the same name', () => {
    expect(codesOf('replicas')).toEqual(['replicas_negative', 'replicas_out_of_range'])
    for (const code of codesOf('nodeId')) expect(code).toMatch(/^(?:node_|volume_primary_mismatch)/)
  })
  test.each([
    ['placement.residency.country', 'placement_invalid'],
    ['update.order', 'update_invalid'],
    ['resources.cpuMillis', 'resources_invalid'],
    ['routes.host', 'route_invalid'],
    ['labels', 'label_reserved'],
    ['secrets.name', 'secret_name_invalid'],
  ])('%s lists %s', (field, code) => expect(codesOf(field)).toContain(code))
})
