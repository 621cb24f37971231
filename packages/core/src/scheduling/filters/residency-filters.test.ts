// The four questions of residency at their borders, with both sides of each comparison and the sentence that is told.
// SPEC 2.7 and 6, DECISIONS 7.

import { decode, type Json, type ResidencyDemand, refusalShape } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import type { NodeFacts, Workload } from '../facts.ts'
import { type Filter, RETRY_TRIGGERS } from '../refusal.ts'
import { desiredResidency } from '../residency.ts'
import { aNode, aWorkload, someFacts } from '../scheduling.fixture.ts'
import { blockedCountry } from './blocked-country.ts'
import { residencyCountry } from './residency-country.ts'
import { residencyEnforcement } from './residency-enforcement.ts'
import { residencyRegion } from './residency-region.ts'

const REGIONS = Object.fromEntries([
  ['dach', ['DE', 'AT', 'CH']],
  ['__proto__', ['FR']],
])
const RULES = { enforcement: true, regions: REGIONS }
const demands = (demand: ResidencyDemand, enforcement = true): Workload =>
  aWorkload({ residency: desiredResidency(demand, { ...RULES, enforcement }) })

const C = 'holdfast.io/country'
const R = 'holdfast.io/geo-region'
const inCountry = (country: string): Partial<NodeFacts> => ({ labels: { [C]: country } })

interface Expected {
  readonly required: Json
  readonly reported: Json
  readonly fix: string
}
/** Nothing expected: the node is accepted. */
type Row = [about: string, demand: ResidencyDemand, node: Partial<NodeFacts>, expected?: Expected]

function checkTable(filter: Filter, code: string, rows: readonly Row[]): void {
  describe(filter.name, () => {
    test.each(rows)('%s', (_about, demand, parts, expected) => {
      for (const enforcement of [true, false]) {
        const node = aNode(1, parts)
        const refusal = filter.refuse(demands(demand, enforcement), node, someFacts([node]))
        if (expected === undefined) expect(refusal).toBeUndefined()
        else expectRefusal(filter, refusal, { ...expected, code })
      }
    })

    test('says nothing to a deployment that demands nothing', () => {
      expect(filter.refuse(aWorkload(), aNode(1), someFacts([]))).toBeUndefined()
      expect(filter.refuse(demands({}), aNode(1), someFacts([]))).toBeUndefined()
      expect(filter.refuse(demands({ blockedCountries: [] }), aNode(1), someFacts([]))).toBeUndefined()
    })
  })
}

function expectRefusal(filter: Filter, refusal: ReturnType<Filter['refuse']>, expected: object): void {
  if (refusal === undefined) throw new Error('the node is accepted')
  expect(refusal).toEqual({ filter: filter.name, ...expected })
  expect(Object.keys(filter.phrases)).toEqual([refusal.code])
  expect(RETRY_TRIGGERS).toEqual(expect.arrayContaining([...filter.curedBy]))
  expect(decode(refusalShape, JSON.parse(JSON.stringify(refusal)))).toEqual(refusal)
}

const set = (label: string, value: string) =>
  `Set the label ${label} to "${value}" in the configuration of the agent on node-1`
const enroll = (label: string, value: string, attests: string) =>
  `Enroll a node whose join token attests ${label} "${value}" (that of node-1 attests ${attests})`

const inGermany = (reported: string | null, fix: string): Expected => ({
  required: { [C]: 'DE' },
  reported: { [C]: reported },
  fix: `${fix}, or change placement.residency.country.`,
})
checkTable(residencyCountry, 'residency_country_mismatch', [
  ['the country', { country: 'DE' }, inCountry('DE')],
  ['another country', { country: 'DE' }, inCountry('FR'), inGermany('FR', enroll(C, 'DE', 'none'))],
  ['another case', { country: 'DE' }, inCountry('de'), inGermany('de', enroll(C, 'DE', 'none'))],
  [
    'attested, and another one attested',
    { country: 'DE' },
    { ...inCountry('FR'), attested: { country: 'FR' } },
    inGermany('FR', enroll(C, 'DE', '"FR"')),
  ],
  [
    'attested and not reported is not reported',
    { country: 'DE' },
    { attested: { country: 'DE' } },
    inGermany(null, set(C, 'DE')),
  ],
  [
    'the region alone says no country',
    { country: 'DE' },
    { labels: { [R]: 'dach' } },
    inGermany(null, enroll(C, 'DE', 'none')),
  ],
  ['none demanded', { region: 'dach', blockedCountries: ['DE'] }, inCountry('FR')],
])

const inRegion = (region: string, told: [string | null, string | null], fix: string): Expected => ({
  required: { [R]: region },
  reported: { [R]: told[0], [C]: told[1] },
  fix: `${fix}, or change placement.residency.region.`,
})
checkTable(residencyRegion, 'residency_region_mismatch', [
  ['the region', { region: 'dach' }, { labels: { [R]: 'dach' } }],
  ['a country of it', { region: 'dach' }, inCountry('CH')],
  ['a country of it, and another region', { region: 'dach' }, { labels: { [R]: 'eu', [C]: 'DE' } }],
  ['the region, and a country not of it', { region: 'dach' }, { labels: { [R]: 'dach', [C]: 'FR' } }],
  [
    'neither',
    { region: 'dach' },
    { labels: { [R]: 'eu', [C]: 'FR' } },
    inRegion('dach', ['eu', 'FR'], enroll(R, 'dach', 'none')),
  ],
  [
    'nothing reported, a country of it attested',
    { region: 'dach' },
    { attested: { country: 'AT', region: 'eu' } },
    inRegion('dach', [null, null], set(C, 'AT')),
  ],
  [
    'nothing reported, the region attested',
    { region: 'dach' },
    { attested: { country: 'FR', region: 'dach' } },
    inRegion('dach', [null, null], set(R, 'dach')),
  ],
  [
    'declared no more: the name alone counts',
    { region: 'benelux' },
    inCountry('DE'),
    inRegion('benelux', [null, 'DE'], enroll(R, 'benelux', 'none')),
  ],
  ['declared no more, reported', { region: 'benelux' }, { labels: { [R]: 'benelux' } }],
  [
    'a name that every object inherits, undeclared',
    { region: 'constructor' },
    inCountry('DE'),
    inRegion('constructor', [null, 'DE'], enroll(R, 'constructor', 'none')),
  ],
  ['a name that every object inherits, declared', { region: '__proto__' }, inCountry('FR')],
])

const blocked = (countries: string[], country: string): Expected => ({
  required: { [C]: { none: countries } },
  reported: { [C]: country },
  fix: `Enroll a node in another country than node-1, or take ${country} out of placement.residency.blockedCountries.`,
})
checkTable(blockedCountry, 'residency_country_blocked', [
  ['another country', { blockedCountries: ['US', 'CN'] }, inCountry('DE')],
  ['a listed one', { blockedCountries: ['US', 'CN'] }, inCountry('CN'), blocked(['US', 'CN'], 'CN')],
  ['a node that reports none', { blockedCountries: ['US'] }, {}],
  ['one that hides it', { blockedCountries: ['US'] }, { hiddenCountry: 'US' }, blocked(['US'], 'US')],
  ['one that hides another', { blockedCountries: ['US'] }, { hiddenCountry: 'DE' }],
  ['a node that reports only a region', { blockedCountries: ['US'] }, { labels: { [R]: 'na' } }],
  [
    'demanded and blocked at once',
    { country: 'US', blockedCountries: ['US'] },
    inCountry('US'),
    blocked(['US'], 'US'),
  ],
])

describe('residency_enforcement', () => {
  const demand = { country: 'DE' }

  test('on: it says nothing, whatever the node reports', () => {
    for (const node of [aNode(1), aNode(2, inCountry('DE'))])
      expect(residencyEnforcement.refuse(demands(demand), node, someFacts([]))).toBeUndefined()
  })

  test('off: every node is refused, also one that matches', () => {
    for (const node of [aNode(1), aNode(2, inCountry('DE'))])
      expectRefusal(
        residencyEnforcement,
        residencyEnforcement.refuse(demands(demand, false), node, someFacts([])),
        {
          code: 'residency_enforcement_off',
          required: { enforcement: true },
          reported: { enforcement: false },
          fix: 'Switch residency.enforcement on in the configuration of the control plane, or take placement.residency out.',
        },
      )
  })

  test('off: a deployment that demands nothing is none of its business', () => {
    expect(residencyEnforcement.refuse(demands({}, false), aNode(1), someFacts([]))).toBeUndefined()
  })
})

describe('what an answer is kept for', () => {
  const FILTERS = [residencyEnforcement, residencyCountry, residencyRegion, blockedCountry]
  const kindOf = (workload: Workload) => JSON.stringify(FILTERS.map(({ keptFor }) => keptFor?.(workload)))

  test('two demands that are judged apart have different texts', () => {
    const elsewhere = { ...RULES, regions: { dach: ['DE'] } }
    const all = [
      aWorkload(),
      demands({ country: 'DE' }),
      demands({ country: '' }),
      demands({ country: 'DE' }, false),
      demands({ region: 'DE' }),
      demands({ region: 'dach' }),
      demands({ region: '' }),
      aWorkload({ residency: desiredResidency({ region: 'dach' }, elsewhere) }),
      demands({ region: 'dach', country: 'DE' }),
      demands({ blockedCountries: ['DE'] }),
      demands({ blockedCountries: ['DE', 'AT'] }),
      demands({ blockedCountries: ['DE,AT'] }),
      demands({ blockedCountries: ['DE'], region: 'dach' }),
    ].map(kindOf)
    expect(new Set(all).size).toBe(all.length)
  })

  test('the same demand made twice has the same text', () => {
    const demand = { country: 'DE', region: 'dach', blockedCountries: ['US'] }
    expect(kindOf(demands({ ...demand, blockedCountries: ['US'] }))).toBe(kindOf(demands(demand)))
  })
})
