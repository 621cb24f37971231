import { NODE_COUNTRY, NODE_REGION } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { meetsResidency } from './residency-report.ts'

const RULES = { enforcement: true, regions: { dach: ['DE', 'AT', 'CH'] } }
const inCountry = (country: string) => ({ labels: { [NODE_COUNTRY]: country } })

test.each([
  ['no demand, unknown node', {}, undefined, true],
  ['no demand', {}, inCountry('FR'), true],
  ['the country', { country: 'DE' }, inCountry('DE'), true],
  ['another country', { country: 'DE' }, inCountry('FR'), false],
  ['no country', { country: 'DE' }, { labels: {} }, false],
  ['a country of the region', { region: 'dach' }, inCountry('CH'), true],
  ['the region itself', { region: 'dach' }, { labels: { [NODE_REGION]: 'dach' } }, true],
  ['outside the region', { region: 'dach' }, inCountry('FR'), false],
  ['a blocked country', { blockedCountries: ['FR'] }, inCountry('FR'), false],
  ['a hidden blocked country', { blockedCountries: ['FR'] }, { labels: {}, hiddenCountry: 'FR' }, false],
  ['an unknown node', { country: 'DE' }, undefined, false],
])('%s', (_, demand, place, expected) => expect(meetsResidency(demand, RULES, place)).toBe(expected))

test('a demand is reported as not met also while residency is not enforced', () =>
  expect(meetsResidency({ country: 'DE' }, { ...RULES, enforcement: false }, inCountry('FR'))).toBe(false))
