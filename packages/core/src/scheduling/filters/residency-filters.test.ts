// Tests the boundaries of the residency filters: accepted and refused nodes, with the required and the reported value of
// each refusal and the fix that an explanation shows. See docs/design/residency.md#enforcement

import { decode, type Json, type ResidencyDemand, refusalShape } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import { explainCandidates } from '../explain.ts'
import { explainNodes } from '../explain-nodes.ts'
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
/** A test case of a residency filter. A case without an expected refusal means that the node is accepted. */
type Row = [about: string, demand: ResidencyDemand, node: Partial<NodeFacts>, expected?: Expected]

function checkTable(filter: Filter, code: string, rows: readonly Row[]): void {
  describe(filter.name, () => {
    test.each(rows)('%s', (_about, demand, parts, expected) => {
      for (const enforcement of [true, false]) {
        const node = aNode(1, parts)
        const workload = demands(demand, enforcement)
        const refusal = filter.refuse(workload, node, someFacts([node]))
        if (expected === undefined) expect(refusal).toBeUndefined()
        else expectRefusal(filter, workload, node, { ...expected, code })
      }
    })

    test('accepts every node for a deployment without demands', () => {
      expect(filter.refuse(aWorkload(), aNode(1), someFacts([]))).toBeUndefined()
      expect(filter.refuse(demands({}), aNode(1), someFacts([]))).toBeUndefined()
      expect(filter.refuse(demands({ blockedCountries: [] }), aNode(1), someFacts([]))).toBeUndefined()
    })
  })
}

function expectRefusal(filter: Filter, workload: Workload, node: NodeFacts, expected: object): void {
  const { candidates } = explainCandidates(explainNodes(workload, someFacts([node])))
  const shown = candidates[0]?.refusals.find((refusal) => refusal.filter === filter.name)
  if (shown === undefined) throw new Error('the node is accepted')
  expect(shown).toEqual({ filter: filter.name, ...expected })
  expect(filter.refuse(workload, node, someFacts([node]))).toEqual({
    code: shown.code,
    required: shown.required,
    reported: shown.reported,
  })
  expect(Object.keys(filter.phrases)).toEqual([shown.code])
  expect(RETRY_TRIGGERS).toEqual(expect.arrayContaining([...filter.retryOn]))
  expect(decode(refusalShape, JSON.parse(JSON.stringify(shown)))).toEqual(shown)
}

const set = (label: string, value: string) => `Set the label ${label} to "${value}" on node-1.`
const enroll = (label: string, value: string) =>
  `Enroll node-1 again with a join token that attests the label ${label} as "${value}", if the machine is located there.`

const inGermany = (reported: string | null, fix: string): Expected => ({
  required: { [C]: 'DE' },
  reported: { [C]: reported },
  fix,
})
checkTable(residencyCountry, 'residency_country_mismatch', [
  ['the country', { country: 'DE' }, inCountry('DE')],
  ['another country', { country: 'DE' }, inCountry('FR'), inGermany('FR', enroll(C, 'DE'))],
  ['another case', { country: 'DE' }, inCountry('de'), inGermany('de', enroll(C, 'DE'))],
  [
    'attested, and another one attested',
    { country: 'DE' },
    { ...inCountry('FR'), attested: { country: 'FR' } },
    inGermany('FR', enroll(C, 'DE')),
  ],
  [
    'attested, and not reported',
    { country: 'DE' },
    { attested: { country: 'DE' } },
    inGermany(null, set(C, 'DE')),
  ],
  [
    'only the region reported',
    { country: 'DE' },
    { labels: { [R]: 'dach' } },
    inGermany(null, enroll(C, 'DE')),
  ],
  ['none demanded', { region: 'dach', blockedCountries: ['DE'] }, inCountry('FR')],
])

const inRegion = (region: string, reported: [string | null, string | null], fix: string): Expected => ({
  required: { [R]: region },
  reported: { [R]: reported[0], [C]: reported[1] },
  fix,
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
    inRegion('dach', ['eu', 'FR'], enroll(R, 'dach')),
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
    'no longer declared: only the name matches',
    { region: 'benelux' },
    inCountry('DE'),
    inRegion('benelux', [null, 'DE'], enroll(R, 'benelux')),
  ],
  ['no longer declared, reported', { region: 'benelux' }, { labels: { [R]: 'benelux' } }],
  [
    'a name that every object inherits, undeclared',
    { region: 'constructor' },
    inCountry('DE'),
    inRegion('constructor', [null, 'DE'], enroll(R, 'constructor')),
  ],
  ['a name that every object inherits, declared', { region: '__proto__' }, inCountry('FR')],
])

const blocked = (countries: string[], country: string): Expected => ({
  required: { [C]: { none: countries } },
  reported: { [C]: country },
  fix: `Remove ${country} from placement.residency.blockedCountries.`,
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

  test('accepts every node while enforcement is on', () => {
    for (const node of [aNode(1), aNode(2, inCountry('DE'))])
      expect(residencyEnforcement.refuse(demands(demand), node, someFacts([]))).toBeUndefined()
  })

  test('refuses every node while enforcement is off, also one that matches', () => {
    for (const node of [aNode(1), aNode(2, inCountry('DE'))])
      expectRefusal(residencyEnforcement, demands(demand, false), node, {
        code: 'residency_enforcement_off',
        required: { enforcement: true },
        reported: { enforcement: false },
        fix: 'Turn on residency.enforcement in the server configuration.',
      })
  })

  test('accepts every node for a deployment without demands while enforcement is off', () => {
    expect(residencyEnforcement.refuse(demands({}, false), aNode(1), someFacts([]))).toBeUndefined()
  })
})

describe('the cache key of a demand', () => {
  const FILTERS = [residencyEnforcement, residencyCountry, residencyRegion, blockedCountry]
  const kindOf = (workload: Workload) => JSON.stringify(FILTERS.map(({ cacheKey }) => cacheKey?.(workload)))

  test('differs for demands that filters tell apart', () => {
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

  test('is the same for equal demands', () => {
    const demand = { country: 'DE', region: 'dach', blockedCountries: ['US'] }
    expect(kindOf(demands({ ...demand, blockedCountries: ['US'] }))).toBe(kindOf(demands(demand)))
  })
})
