import { expect, test } from 'vitest'
import { aBody, forCreate, type Row, summary } from '../admission.fixture.ts'
import { checkBody } from '../admit-body.ts'

const many = (count: number, key = 'k') =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${key}${index}`, 'v']))

const ROWS: Row[] = [
  ['two gates', { dependsOn: { db: 'healthy', 'cache-1': 'started' } }],
  ['another gate', { dependsOn: { db: 'ready' } }, 'dependency_invalid dependsOn.db'],
  ['a bad name', { dependsOn: { 'd b': 'healthy' } }, 'dependency_invalid dependsOn["d b"]'],
  ['true as gate', { dependsOn: { db: true } }, 'field_type_invalid dependsOn.db'],
  ['a list', { dependsOn: ['db'] }, 'field_type_invalid dependsOn'],
  ['itself', { dependsOn: { db: 'started', web: 'started' } }, 'dependency_invalid dependsOn.web'],
  ['itself with a bad gate, once', { dependsOn: { web: 'x' } }, 'dependency_invalid dependsOn.web'],
  ['16 of them', { dependsOn: Object.fromEntries(Object.keys(many(16)).map((k) => [k, 'started'])) }],
  [
    '17 of them',
    { dependsOn: Object.fromEntries(Object.keys(many(17)).map((k) => [k, 'started'])) },
    'list_too_long dependsOn',
  ],
]

test.each(ROWS)('rules of dependsOn: %s', (_about, parts, ...expected) => {
  expect(summary(checkBody(aBody(parts), forCreate()))).toEqual(expected)
})
