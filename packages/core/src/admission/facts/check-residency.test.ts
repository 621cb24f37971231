import { defined, type ResidencyDemand } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import type { Stand } from '../../scheduling/residency.ts'
import { explainResidency } from './check-residency.ts'

const RULES = { enforcement: true, regions: { dach: ['AT', 'CH', 'DE'], moon: ['XX'] } }
const node = (country?: string, region?: string): Stand => ({
  labels: {
    ...defined({ 'holdfast.io/country': country, 'holdfast.io/geo-region': region }),
    zone: 'a',
  },
})

describe('explainResidency finds a matching node', () => {
  test.each<[string, ResidencyDemand, Stand[], boolean]>([
    ['the country', { country: 'DE' }, [node('FR'), node('DE')], true],
    ['another country', { country: 'DE' }, [node('FR')], false],
    ['no country', { country: 'DE' }, [node()], false],
    ['the region by name', { region: 'dach' }, [node(undefined, 'dach')], true],
    ['the region through a country', { region: 'dach' }, [node('AT')], true],
    ['another region', { region: 'dach' }, [node('FR', 'eu')], false],
    ['both, on two nodes', { country: 'DE', region: 'moon' }, [node('DE'), node('XX')], false],
    ['a blocked country', { blockedCountries: ['US'] }, [node('US')], false],
    ['a node of no country beside a blocked one', { blockedCountries: ['US'] }, [node('US'), node()], true],
    ['one that hides it', { blockedCountries: ['US'] }, [{ ...node(), hiddenCountry: 'US' }], false],
    ['the region, and blocked', { region: 'dach', blockedCountries: ['AT'] }, [node('AT')], false],
    ['no node at all', { blockedCountries: ['US'] }, [], false],
    ['nothing demanded', {}, [], true],
    ['nothing blocked', { blockedCountries: [] }, [], true],
  ])('%s', (_about, demand, reachable, answers) => {
    const codes = explainResidency(demand, { rules: RULES, reachable }).map(({ code }) => code)
    expect(codes).toEqual(answers ? [] : ['residency_no_match'])
  })
})

test('explainResidency does not warn without a residency rule', () => {
  const rules = { ...RULES, enforcement: false }
  expect(explainResidency(undefined, { rules, reachable: [] })).toEqual([])
  expect(explainResidency({}, { rules, reachable: [] })).toEqual([])
})

test('explainResidency warns if enforcement is off, also if a node matches', () => {
  const fact = { rules: { ...RULES, enforcement: false }, reachable: [node('DE')] }
  expect(explainResidency({ country: 'DE' }, fact)).toEqual([
    {
      code: 'residency_enforcement_off',
      field: 'placement.residency',
      why: expect.stringContaining('does not enforce'),
    },
  ])
})

test('explainResidency lists each advertised value once, sorted, in the field and in the text', () => {
  const reachable = [node('US', 'na'), node('FR'), node('US', 'eu'), node()]
  expect(explainResidency({ country: 'DE' }, { rules: RULES, reachable })).toEqual([
    {
      code: 'residency_no_match',
      field: 'placement.residency',
      why: expect.stringContaining('the countries FR, US and the regions eu, na.'),
      advertised: { countries: ['FR', 'US'], regions: ['eu', 'na'] },
    },
  ])
})

test('explainResidency distinguishes nodes without labels from no reachable nodes', () => {
  const whyOf = (reachable: Stand[]) =>
    explainResidency({ country: 'DE' }, { rules: RULES, reachable }).map(({ why }) => why)
  expect(whyOf([node()])[0]).toContain('the countries (none) and the regions (none).')
  expect(whyOf([])[0]).toContain('No node of this tenant is reachable.')
})

test('explainResidency limits the number of listed values', () => {
  const reachable = Array.from({ length: 1000 }, (_, n) => node(undefined, `r${String(n).padStart(4, '0')}`))
  const [warning] = explainResidency({ country: 'DE' }, { rules: RULES, reachable })
  const { regions } = Object(warning?.advertised)
  expect(regions).toHaveLength(250)
  expect(warning?.why).toContain('r0249 and 750 more.')
  const abroad = Array.from({ length: 300 }, (_, n) => node(`C${n}`))
  const [byCountry] = explainResidency({ country: 'DE' }, { rules: RULES, reachable: abroad })
  expect(Object(byCountry?.advertised).countries).toHaveLength(250)
})
