import { expect, test } from 'vitest'
import { attestLabels } from './attest-labels.ts'

const advertised = (text: string): { [key: string]: string } => JSON.parse(text)

test('a label is its own word, under whatever name', () => {
  const given = advertised('{"disk":"ssd","__proto__":"x","constructor":"y"}')
  const { labels, refused } = attestLabels(given, {})
  expect(Object.entries(labels)).toEqual(Object.entries(given))
  expect(refused).toEqual([])
})

test('what is below the domain of the platform is attested or refused, and nothing is both or neither', () => {
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
