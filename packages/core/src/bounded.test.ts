import { jsonText } from '@holdfast/contract'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { aBody, forCreate } from './admission/admission.fixture.ts'
import { checkBody } from './admission/admit-body.ts'
import { boundedKey, boundedValue } from './bounded.ts'

test('boundedValue keeps the first 256 characters of the JSON text', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      const sent = JSON.parse(JSON.stringify([Array(300).fill(value), value]))
      expect(jsonText(boundedValue(sent) ?? null).slice(0, 256)).toBe(jsonText(sent).slice(0, 256))
      const small = JSON.parse(JSON.stringify(value))
      expect(jsonText(boundedValue(small) ?? null).slice(0, 256)).toBe(jsonText(small).slice(0, 256))
    }),
  )
})

test('a long key is quoted by its first characters', () => {
  const [rejection] = checkBody(aBody({ labels: { ['a.'.repeat(50_000)]: 'x' } }), forCreate())
  expect(rejection?.field.length).toBeLessThan(200)
  expect(boundedKey('LOG_LEVEL', (key) => key)).toBe('LOG_LEVEL')
  expect(boundedKey('a'.repeat(2000), () => '<redacted>')).toBe('<redacted>')
})
