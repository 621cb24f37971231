// Runs the same test rows for a secret entry of a deployment and for a secret write; only the field prefix differs.

import { defined } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import { DEFAULT_LIMITS } from '../../limits.ts'
import { aBody, aRecord, forCreate, forUpdate, type Row, summary } from '../admission.fixture.ts'
import { checkBody } from '../admit-body.ts'
import { checkSecretWrite } from '../check-secret-write.ts'

const generate = (parts: { [field: string]: unknown }) => ({ generate: { keys: ['password'], ...parts } })
const values = (of: { [key: string]: unknown }) => ({ values: of })
const big = 'x'.repeat(65_536)
const bytes = (count: number, encoding?: string) => generate({ bytes: count, encoding })
const length = (count: number, charset?: string) => generate({ length: count, charset })
const numbered = (count: number) => Array.from({ length: count }, (_, n) => `k${n}`)

const ROWS: Row[] = [
  ['values', values({ password: 'x', USER_1: 'y', _: 'z' })],
  ['no values', values({}), 'secret_write_empty values'],
  ['values of a wrong type', { values: ['x'] }, 'field_type_invalid values'],
  ['a value of a wrong type', values({ a: 5 }), 'field_type_invalid values.a'],
  ['a null value', values({ a: null }), 'field_type_invalid values.a'],
  ['an empty value', values({ a: '' }), 'secret_value_empty values.a'],
  ['an empty value under a bad key', values({ 'a-b': '' }), 'secret_value_empty values["a-b"]'],
  ['a value of 64 KiB', values({ a: big })],
  ['a value of a byte more', values({ a: `${big}x` }), 'secret_value_too_long values.a'],
  ['bytes are counted, not characters', values({ a: 'ä'.repeat(32_769) }), 'secret_value_too_long values.a'],
  ['a key with a hyphen', values({ 'api-key': 'x' }), 'secret_key_invalid values["api-key"]'],
  ['a key that begins with a digit', values({ '1st': 'x' }), 'secret_key_invalid values["1st"]'],
  ['an empty key', values({ '': 'x' }), 'secret_key_invalid values[""]'],
  ['a NUL in a value', values({ a: 'x\0y' }), 'field_type_invalid values.a'],
  [
    'a document of more than 512 KiB, once',
    values(Object.fromEntries(numbered(8).map((key) => [key, big]))),
    'secret_value_too_long values',
  ],
  ['generate', generate({})],
  ['generate of a wrong type', { generate: ['x'] }, 'field_type_invalid generate'],
  ['no keys', { generate: {} }, 'secret_generate_keys_required generate.keys'],
  ['null keys', generate({ keys: null }), 'secret_generate_keys_required generate.keys'],
  ['an empty list of keys', generate({ keys: [] }), 'secret_generate_keys_required generate.keys'],
  ['keys of a wrong type', generate({ keys: 'a' }), 'field_type_invalid generate.keys'],
  ['a key of a wrong type', generate({ keys: [5] }), 'field_type_invalid generate.keys[0]'],
  ['a bad key', generate({ keys: ['a', 'b-c'] }), 'secret_key_invalid generate.keys[1]'],
  [
    'a key twice, each repetition',
    generate({ keys: ['a', 'b', 'a', 'a'] }),
    'secret_generate_key_duplicate generate.keys[2]',
    'secret_generate_key_duplicate generate.keys[3]',
  ],
  [
    'a key from both',
    { values: { a: 'x' }, generate: { keys: ['b', 'a'] } },
    'secret_key_provided_and_generated generate.keys[1]',
  ],
  ['keys of both that differ', { values: { a: 'x' }, generate: { keys: ['b'] } }],
  ['a key of the prototype', { values: { a: 'x' }, generate: { keys: ['toString'] } }],
  ['15 bytes', bytes(15), 'secret_generate_bytes_out_of_range generate.bytes'],
  ['16 bytes', bytes(16)],
  ['3072 bytes', bytes(3072)],
  ['3073 bytes', bytes(3073), 'secret_generate_bytes_out_of_range generate.bytes'],
  ['3072 bytes as base64', bytes(3072, 'base64')],
  ['2048 bytes as hex', bytes(2048, 'hex')],
  ['2049 bytes as hex', bytes(2049, 'hex'), 'secret_generate_bytes_out_of_range generate.bytes'],
  ['negative bytes', bytes(-1), 'secret_generate_bytes_out_of_range generate.bytes'],
  ['a part of a byte', generate({ bytes: 16.5 }), 'field_type_invalid generate.bytes'],
  [
    'an unknown encoding ends the rules',
    bytes(1, 'base-64'),
    'secret_generate_encoding_unknown generate.encoding',
  ],
  [
    'an encoding of a wrong type',
    generate({ bytes: 1, encoding: 5 }),
    'field_type_invalid generate.encoding',
  ],
  ['an encoding alone', generate({ encoding: 'hex' })],
  ['length 0', length(0), 'secret_generate_length_out_of_range generate.length'],
  ['length -1', length(-1), 'secret_generate_length_out_of_range generate.length'],
  ['length 1', length(1), 'secret_generate_below_entropy_floor generate.length'],
  ['length 4096', length(4096)],
  ['length 4097', length(4097), 'secret_generate_length_out_of_range generate.length'],
  ['21 alphanumeric', length(21), 'secret_generate_below_entropy_floor generate.length'],
  ['22 alphanumeric', length(22)],
  ['21 urlsafe', length(21, 'urlsafe'), 'secret_generate_below_entropy_floor generate.length'],
  ['22 urlsafe', length(22, 'urlsafe')],
  ['19 ascii', length(19, 'ascii'), 'secret_generate_below_entropy_floor generate.length'],
  ['20 ascii', length(20, 'ascii')],
  [
    'an unknown charset ends the rules',
    length(0, 'emoji'),
    'secret_generate_charset_unknown generate.charset',
  ],
  ['a charset alone', generate({ charset: 'ascii' })],
  [
    'both ways, and then only the keys',
    generate({ keys: ['a-'], bytes: 1, encoding: 'x', length: 0, charset: 'y' }),
    'secret_generate_axis_conflict generate',
    'secret_key_invalid generate.keys[0]',
  ],
  ['one of each way', generate({ encoding: 'hex', length: 1 }), 'secret_generate_axis_conflict generate'],
  ['an unknown field', generate({ size: 3 }), 'field_unknown generate.size'],
  [
    'keys whose values would not fit',
    generate({ keys: numbered(130), length: 4096 }),
    'secret_value_too_long values',
  ],
  ['keys whose values fit', generate({ keys: numbered(127), length: 4096 })],
]

describe('material in an entry of a deployment', () => {
  test.each(ROWS)('%s', (_about, parts, ...expected) => {
    const secrets = [
      { name: 'A', vault_path: 'resources/a' },
      { name: 'DB', vault_path: 'resources/db', ...parts },
    ]
    const prefixed = expected.map((line) => line.replace(' ', ' secrets[1].'))
    expect(summary(checkBody(aBody({ secrets }), forCreate()))).toEqual(prefixed)
    const record = aRecord()
    expect(summary(checkBody(JSON.parse(JSON.stringify({ secrets })), forUpdate(record)))).toEqual(prefixed)
  })

  test('accepts material for a path from one entry only', () => {
    const bring = (name: string, parts: object) => ({ name, vault_path: 'resources/db', ...parts })
    const secrets = [bring('A', values({ a: 'x' })), bring('B', {}), bring('C', generate({}))]
    expect(summary(checkBody(aBody({ secrets }), forCreate()))).toEqual([
      'field_type_invalid secrets[2].generate',
    ])
  })

  test('reports a missing permission to write secrets first', () => {
    const secrets = [
      { name: 'A', vault_path: 'resources/a' },
      { vault_path: 'resources/db', generate: { keys: [] }, values: { a: 'x' } },
    ]
    const context = forCreate({ materialForbidden: true })
    expect(summary(checkBody(aBody({ secrets, colour: 'red' }), context))).toEqual([
      'permission_denied secrets[1].values',
      'permission_denied secrets[1].generate',
      'field_unknown colour',
      'secret_name_invalid secrets[1].name',
      'secret_generate_keys_required secrets[1].generate.keys',
    ])
    expect(checkBody(aBody({ secrets: secrets.slice(0, 1) }), context)).toEqual([])
  })
})

describe('material in a secret write', () => {
  const judge = (body: unknown, beside?: string[]) => {
    const options = { limits: DEFAULT_LIMITS, ...defined({ beside }) }
    return checkSecretWrite(JSON.parse(JSON.stringify(body)), options)
  }
  const rejectionsOf = (body: unknown, beside?: string[]) => {
    const verdict = judge(body, beside)
    return verdict.accepted ? [] : summary(verdict.rejections)
  }

  test.each(ROWS)('%s', (_about, parts, ...expected) => {
    expect(rejectionsOf(parts)).toEqual(expected)
  })

  test.each<[unknown, ...string[]]>([
    [{}, 'secret_write_empty values'],
    [{ values: null, generate: null }, 'secret_write_empty values'],
    [[], 'field_type_invalid '],
    ['x', 'field_type_invalid '],
    [{ value: { a: 'x' } }, 'field_unknown value', 'secret_write_empty values'],
    [{ values: { a: 'x' }, uid: 1, status: {} }, 'field_unknown uid', 'field_unknown status'],
    [{ values: { a: 'x' }, phase: 'stage' }, 'field_unknown phase'],
    [{ values: null, generate: { keys: ['a'] } }],
  ])('%j', (body, ...expected) => {
    expect(rejectionsOf(body)).toEqual(expected)
  })

  test('ignores the fields that a rotation checks itself', () => {
    const body = { phase: 'stage', secret: 'DB', values: { a: 'x' } }
    expect(rejectionsOf(body, ['phase', 'secret'])).toEqual([])
    expect(rejectionsOf({ phase: 'stage' }, ['phase', 'secret'])).toEqual(['secret_write_empty values'])
  })

  test('returns values and a generation plan with defaults', () => {
    expect(judge({ values: { b: 'x', a: 'y' }, generate: { keys: ['c', 'd'] } })).toEqual({
      accepted: true,
      material: {
        values: new Map([
          ['b', 'x'],
          ['a', 'y'],
        ]),
        generate: { keys: ['c', 'd'], bytes: 32, encoding: 'base64url' },
      },
    })
    expect(judge({ values: { a: 'x' } })).toEqual({
      accepted: true,
      material: { values: new Map([['a', 'x']]) },
    })
  })

  test.each([
    [{ encoding: 'hex' }, { bytes: 32, encoding: 'hex' }],
    [{ bytes: 20 }, { bytes: 20, encoding: 'base64url' }],
    [{ length: 40 }, { length: 40, charset: 'alphanumeric' }],
    [{ charset: 'ascii' }, { length: 32, charset: 'ascii' }],
  ])('%j is completed to %j', (sent, plan) => {
    const verdict = judge({ generate: { keys: ['a'], ...sent } })
    expect(verdict).toMatchObject({ material: { generate: { keys: ['a'], ...plan } } })
  })

  test('raises a default to a configured minimum', () => {
    const limits = { ...DEFAULT_LIMITS, generateEntropyBits: 512 }
    const plan = (block: object) => {
      const verdict = checkSecretWrite({ generate: { keys: ['a'], ...block } }, { limits })
      return verdict.accepted ? verdict.material.generate : verdict.rejections
    }
    expect(plan({})).toMatchObject({ bytes: 64 })
    expect(plan({ charset: 'alphanumeric' })).toMatchObject({ length: 86 })
  })
})

test('the rejection of a weak length states a sufficient one', () => {
  const [weak] = checkBody(
    aBody({ secrets: [{ name: 'A', vault_path: 'resources/a', ...length(21) }] }),
    forCreate(),
  )
  expect(weak?.expected).toContain('22')
  expect(weak?.why).toContain('125 bits')
})
