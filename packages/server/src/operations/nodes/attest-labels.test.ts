import { expect, test } from 'vitest'
import { attestLabels } from './attest-labels.ts'

const advertised = (text: string): { [key: string]: string } => JSON.parse(text)

test('accepts any label outside the platform domain under any name', () => {
  const given = advertised('{"disk":"ssd","__proto__":"x","constructor":"y"}')
  const { labels, refused } = attestLabels(given, {})
  expect(Object.entries(labels)).toEqual(Object.entries(given))
  expect(refused).toEqual([])
})

test('attests or refuses every label of the platform domain, never both or neither', () => {
  const given = advertised(
    '{"holdfast.io/country":"DE","holdfast.io/geo-region":"eu","holdfast.io/__proto__":"x","zone":"a"}',
  )
  const { labels, refused } = attestLabels(given, { country: 'DE', region: 'na' })
  expect(labels).toEqual({ 'holdfast.io/country': 'DE', zone: 'a' })
  expect(refused).toEqual([
    { label: 'holdfast.io/geo-region', advertised: 'eu', attested: 'na' },
    { label: 'holdfast.io/__proto__', advertised: 'x', attested: null },
  ])
})
