// Tests the labels that a residency demand is stored as, the demand with the configuration applied, and which nodes
// satisfy the demand.

import type { ResidencyDemand } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import { answersResidency, desiredResidency, residencyLabels } from './residency.ts'

const regions = Object.fromEntries([
  ['eu', ['DE', 'FR']],
  ['__proto__', ['US']],
])
const RULES = { enforcement: true, regions }
const PREFIX = 'holdfast.io'

test.each<[ResidencyDemand | undefined, { [label: string]: string }]>([
  [undefined, {}],
  [{}, {}],
  [{ blockedCountries: [] }, {}],
  [{ country: 'DE' }, { [`${PREFIX}/data-residency-country`]: 'DE' }],
  [{ region: 'eu' }, { [`${PREFIX}/data-residency-region`]: 'eu' }],
  [{ blockedCountries: ['US', 'CN'] }, { [`${PREFIX}/blocked-countries`]: 'US,CN' }],
])('%j is stored as its labels', (demand, labels) => {
  expect(residencyLabels(demand)).toEqual(labels)
})

describe('the desired residency', () => {
  test.each([[undefined], [{}], [{ blockedCountries: [] }]])('is absent for %j', (demand) => {
    expect(desiredResidency(demand, RULES)).toBeUndefined()
  })

  test.each<[string, string[]]>([
    ['eu', ['DE', 'FR']],
    ['undeclared', []],
    ['constructor', []],
    ['toString', []],
    ['__proto__', ['US']],
  ])('the region %s covers %j', (region, covered) => {
    expect(desiredResidency({ region }, RULES)?.regionCountries).toEqual(covered)
  })

  test('states whether it is enforced', () => {
    expect(desiredResidency({ country: 'DE' }, { ...RULES, enforcement: false })?.enforced).toBe(false)
  })
})

test.each<[ResidencyDemand, { [label: string]: string }, boolean]>([
  [{ country: 'DE' }, { [`${PREFIX}/country`]: 'DE' }, true],
  [{ country: 'DE' }, {}, false],
  [{ region: 'eu' }, { [`${PREFIX}/country`]: 'FR' }, true],
  [{ region: 'eu' }, { [`${PREFIX}/geo-region`]: 'eu' }, true],
  [{ region: 'eu', country: 'DE' }, { [`${PREFIX}/country`]: 'FR' }, false],
  [{ region: 'eu', blockedCountries: ['FR'] }, { [`${PREFIX}/country`]: 'FR' }, false],
  [{ blockedCountries: ['FR'] }, {}, true],
])('%j of a node with %j: %s', (demand, labels, answer) => {
  const desired = desiredResidency(demand, RULES)
  expect(desired && answersResidency(desired, { labels })).toBe(answer)
})
