import { expect, test } from 'vitest'
import { aBody, forCreate, type Row, summary } from '../admission.fixture.ts'
import { checkBody } from '../admit-body.ts'

const constraint = { label: 'disk', operator: 'in', values: ['ssd'] }

const ROWS: Row[] = [
  [
    'all filters',
    { placement: { constraints: [constraint], affinity: ['db'], antiAffinity: ['web'], spread: 'zone' } },
  ],
  ['an empty placement', { placement: {} }],
  ['a list as placement', { placement: [] }, 'field_type_invalid placement'],
  [
    'no label',
    { placement: { constraints: [{ operator: 'exists' }] } },
    'placement_invalid placement.constraints[0].label',
  ],
  [
    'a bad label',
    { placement: { constraints: [{ label: 'a b', operator: 'exists' }] } },
    'placement_invalid placement.constraints[0].label',
  ],
  [
    'no operator',
    { placement: { constraints: [{ label: 'a' }] } },
    'placement_invalid placement.constraints[0].operator',
  ],
  [
    'another operator',
    { placement: { constraints: [{ label: 'a', operator: '=' }] } },
    'placement_invalid placement.constraints[0].operator',
  ],
  [
    'in without values',
    { placement: { constraints: [{ label: 'a', operator: 'in' }] } },
    'placement_invalid placement.constraints[0].values',
  ],
  [
    'notIn nothing',
    { placement: { constraints: [{ label: 'a', operator: 'notIn', values: [] }] } },
    'placement_invalid placement.constraints[0].values',
  ],
  [
    'exists with values',
    { placement: { constraints: [{ ...constraint, operator: 'exists' }] } },
    'placement_invalid placement.constraints[0].values',
  ],
  [
    'exists with no values',
    { placement: { constraints: [{ label: 'a', operator: 'notExists', values: [] }] } },
  ],
  [
    'a bad value',
    { placement: { constraints: [{ ...constraint, values: ['a', 'b\n'] }] } },
    'placement_invalid placement.constraints[0].values[1]',
  ],
  [
    'a number as value',
    { placement: { constraints: [{ ...constraint, values: [1] }] } },
    'field_type_invalid placement.constraints[0].values[0]',
  ],
  [
    '65 values',
    { placement: { constraints: [{ ...constraint, values: Array(65).fill('a') }] } },
    'list_too_long placement.constraints[0].values',
  ],
  ['16 constraints', { placement: { constraints: Array(16).fill(constraint) } }],
  [
    '17 constraints',
    { placement: { constraints: Array(17).fill(constraint) } },
    'list_too_long placement.constraints',
  ],
  [
    'a bad name in affinity',
    { placement: { affinity: ['db', 'Db'] } },
    'placement_invalid placement.affinity[1]',
  ],
  [
    'a long name in antiAffinity',
    { placement: { antiAffinity: ['a'.repeat(64)] } },
    'placement_invalid placement.antiAffinity[0]',
  ],
  [
    '64 names in affinity',
    { placement: { affinity: Array(64).fill('db'), antiAffinity: Array(64).fill('db') } },
  ],
  [
    '65 names in both',
    { placement: { affinity: Array(65).fill('db'), antiAffinity: Array(65).fill('db') } },
    'list_too_long placement.affinity',
    'list_too_long placement.antiAffinity',
  ],
  ['a bad spread', { placement: { spread: '' } }, 'placement_invalid placement.spread'],
  ['null inside', { placement: { spread: null } }, 'field_type_invalid placement.spread'],
]

test.each(ROWS)('rules of placement: %s', (_about, parts, ...expected) => {
  expect(summary(checkBody(aBody(parts), forCreate()))).toEqual(expected)
})
