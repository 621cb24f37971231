import fc from 'fast-check'
import { expect, test } from 'vitest'
import { composeEnvironment } from '../../secrets/compose-environment.ts'
import { aBody, forCreate, type Row, summary } from '../admission.fixture.ts'
import { checkBody } from '../admit-body.ts'

const bring = (name: string, ...keys: string[]) => ({
  name,
  vault_path: `resources/${name.toLowerCase().replaceAll('_', '-')}`,
  ...(keys.length === 0 ? {} : { values: Object.fromEntries(keys.map((key) => [key, 'x'])) }),
})
const TEMPLATE = '{{secret.db.a}}'
const conflict = (field: string) => `environment_key_conflict ${field}`

const ROWS: Row[] = [
  [
    'a constant beside a key',
    { environment: { DB_a: '' }, secrets: [bring('DB', 'a')] },
    conflict('environment.DB_a'),
  ],
  ['a constant beside another key', { environment: { DB_b: '' }, secrets: [bring('DB', 'a')] }],
  ['unknown keys', { environment: { DB_a: '' }, secrets: [bring('DB')] }],
  [
    'a generated key',
    { environment: { DB_a: '' }, secrets: [{ ...bring('DB'), generate: { keys: ['a'] } }] },
    conflict('environment.DB_a'),
  ],
  [
    'a template beside a constant and a key',
    {
      environment: { A: '' },
      composedEnvironment: { A: TEMPLATE, DB_a: TEMPLATE },
      secrets: [bring('DB', 'a')],
    },
    conflict('environment.A'),
    conflict('composedEnvironment.DB_a'),
  ],
  [
    'two prefixes, one variable',
    { secrets: [bring('DB', 'X_Y'), bring('DB_X', 'Y')] },
    conflict('secrets[1].name'),
  ],
  ['two prefixes, two variables', { secrets: [bring('DB', 'X_Z'), bring('DB_X', 'Y')] }],
  [
    'what a rotation adds, whatever the keys',
    {
      environment: { DB_a_NEXT: '', DB_b_PREVIOUS: '', DB_NEXT: '', DB_1_NEXT: '', DBX_a_NEXT: '' },
      secrets: [bring('DB')],
    },
    conflict('environment.DB_a_NEXT'),
    conflict('environment.DB_b_PREVIOUS'),
  ],
  [
    'what a rotation adds, as a template',
    { composedEnvironment: { DB_a_PREVIOUS: TEMPLATE }, secrets: [bring('DB')] },
    conflict('composedEnvironment.DB_a_PREVIOUS'),
  ],
  [
    'what a rotation adds to a key beside it',
    { secrets: [bring('DB', 'a', 'a_NEXT')] },
    conflict('secrets[0].name'),
  ],
  ['a key that only looks so', { secrets: [bring('DB', 'a_NEXT')] }],
  [
    'what a rotation adds to another entry',
    { secrets: [bring('DB_X'), bring('DB', 'X_a_NEXT')] },
    conflict('secrets[1].name'),
  ],
  [
    'not while the entries are at fault',
    { environment: { DB_a: '' }, secrets: [{ ...bring('DB', 'a'), anchor: 'x' }] },
    'secret_anchor_invalid secrets[0].anchor',
  ],
]

test.each(ROWS)('conflicts of variables: %s', (_about, parts, ...expected) => {
  expect(summary(checkBody(aBody(parts), forCreate()))).toEqual(expected)
})

test('a conflict names the other source of the variable', () => {
  const parts = { environment: { DB_a: 'x', DB_b_NEXT: 'x' }, secrets: [bring('DB', 'a')] }
  const why = checkBody(aBody(parts), forCreate()).map((rejection) => rejection.why)
  expect(why[0]).toContain('DB_a is also defined by secrets[0]')
  expect(why[1]).toContain('a rotation of secrets[0]')
})

const names = fc.uniqueArray(fc.constantFrom('A', 'A_B', 'A_B_C', 'B', 'Ab'), { minLength: 1, maxLength: 3 })
const keys = fc.uniqueArray(fc.constantFrom('B', 'B_C', 'C', 'b', 'B_NEXT', 'C_PREVIOUS', 'x'), {
  minLength: 1,
  maxLength: 3,
})
const entries = names.chain((all) => fc.tuple(...all.map((name) => fc.tuple(fc.constant(name), keys))))

test('an accepted deployment composes without a conflict, also during a rotation', () => {
  let composed = 0
  fc.assert(
    fc.property(
      entries,
      fc.uniqueArray(fc.constantFrom('A_B', 'A_B_C', 'A_x', 'B_B_NEXT', 'Z')),
      (declared, constants) => {
        const environment = Object.fromEntries(constants.map((name) => [name, '']))
        const secrets = declared.map(([name, of]) => bring(name, ...of))
        const rejections = checkBody(aBody({ environment, secrets }), forCreate())
        const conflicts = rejections.filter(({ code }) => code === 'environment_key_conflict')
        expect(rejections).toEqual(conflicts)
        const document = (of: readonly string[]) => new Map(of.map((key) => [key, 'x']))
        const outcomes = ['next', 'previous'].map((side) =>
          composeEnvironment({
            environment,
            entries: declared.map(([name, of]) => ({
              name,
              label: name,
              current: document(of),
              [side]: document(of),
            })),
            composedEnvironment: {},
          }),
        )
        const isValid = outcomes.every(({ kind }) => kind === 'ok')
        if (conflicts.length === 0) expect(isValid).toBe(true)
        if (isValid) composed++
      },
    ),
    { numRuns: 500 },
  )
  expect(composed).toBeGreaterThan(20)
})
