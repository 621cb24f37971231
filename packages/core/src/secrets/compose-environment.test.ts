import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { composeEnvironment, type EntryDocuments, type EnvironmentParts } from './compose-environment.ts'

const document = (values: { readonly [key: string]: string }): ReadonlyMap<string, string> =>
  new Map(Object.entries(values))
const anEntry = (
  name: string,
  values: { readonly [key: string]: string },
  over: Partial<EntryDocuments> = {},
): EntryDocuments => ({ name, label: name.toLowerCase(), current: document(values), ...over })
const compose = (parts: Partial<EnvironmentParts>) =>
  composeEnvironment({ environment: {}, entries: [], composedEnvironment: {}, ...parts })
const made = (environment: { readonly [variable: string]: string }) => ({ kind: 'ok', environment })

describe('composeEnvironment', () => {
  test('combines constants, NAME_key variables and templates', () => {
    const composed = compose({
      environment: { MODE: 'fast' },
      entries: [anEntry('DB', { user: 'u', password: 'p' }), anEntry('CACHE', { token: 't' })],
      composedEnvironment: {
        URL: 'db://{{secret.db.user}}:{{secret.db.password}}@db?c={{secret.cache.token}}',
      },
    })
    expect(composed).toEqual(
      made({ MODE: 'fast', DB_user: 'u', DB_password: 'p', CACHE_token: 't', URL: 'db://u:p@db?c=t' }),
    )
  })
  test('adds the versions of a rotation beside the current one', () => {
    const entry = anEntry('DB', { a: '1' }, { next: document({ a: '2', b: '3' }) })
    expect(compose({ entries: [entry] })).toEqual(made({ DB_a: '1', DB_a_NEXT: '2', DB_b_NEXT: '3' }))
    const moved = anEntry('DB', { a: '2' }, { previous: document({ a: '1' }) })
    expect(compose({ entries: [moved] })).toEqual(made({ DB_a: '2', DB_a_PREVIOUS: '1' }))
  })
  test('returns no variables for no input', () => expect(compose({})).toEqual(made({})))
  test('uses only the current version in a template', () => {
    const entry = anEntry('DB', { a: '1' }, { next: document({ b: '2' }) })
    expect(compose({ entries: [entry], composedEnvironment: { X: '{{secret.db.b}}' } })).toEqual({
      kind: 'unresolved',
      secret: 'DB',
      cause: 'missing_key',
      missing: { label: 'db', key: 'b', variable: 'X' },
    })
  })
  test('treats __proto__ as an ordinary name', () => {
    const odd = new Map([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ])
    const composed = compose({
      environment: JSON.parse('{"__proto__":"constant"}'),
      entries: [{ name: 'S', label: 's', current: odd }],
      composedEnvironment: { X: '{{secret.s.__proto__}}{{secret.s.constructor}}' },
    })
    if (composed.kind !== 'ok') throw new Error('not composed')
    expect(Object.entries(composed.environment)).toEqual([
      ['__proto__', 'constant'],
      ['S___proto__', 'x'],
      ['S_constructor', 'y'],
      ['X', 'xy'],
    ])
    expect(JSON.parse(JSON.stringify(composed.environment))).toHaveProperty('X', 'xy')
    expect({}).not.toHaveProperty('x')
  })
  test.each(['constructor', '__proto__', 'toString'])(
    'reports %s as missing if the document does not have it',
    (key) => {
      const entry = anEntry('DB', { a: '1' })
      expect(compose({ entries: [entry], composedEnvironment: { X: `{{secret.db.${key}}}` } })).toMatchObject(
        {
          kind: 'unresolved',
          secret: 'DB',
          cause: 'missing_key',
        },
      )
    },
  )
})

describe('composeEnvironment fails for', () => {
  const entries = [anEntry('DB', { X_Y: '1' }), anEntry('DB_X', { Y: '2' })]
  test.each<[string, Partial<EnvironmentParts>, string]>([
    ['two entries', { entries }, 'DB_X'],
    ['a constant and an entry', { environment: { DB_a: 'c' }, entries: [anEntry('DB', { a: '1' })] }, 'DB'],
    [
      'a suffix of a rotation and a key',
      { entries: [anEntry('DB', { a: '1', a_NEXT: '2' }, { next: document({ a: '3' }) })] },
      'DB',
    ],
    [
      'a template and an entry',
      { entries: [anEntry('DB', { a: '1' })], composedEnvironment: { DB_a: '{{secret.db.a}}' } },
      'DB',
    ],
    [
      'a template and a constant',
      {
        environment: { URL: 'c' },
        entries: [anEntry('DB', { a: '1' })],
        composedEnvironment: { URL: '{{secret.db.a}}' },
      },
      'DB',
    ],
  ])('%s of one variable', (_, parts, secret) => {
    expect(compose(parts)).toEqual({ kind: 'unresolved', secret, cause: 'conflict' })
  })
  test('a template of a missing or malformed entry', () => {
    expect(compose({ composedEnvironment: { X: '{{secret.db.a}}' } })).toEqual({
      kind: 'unresolved',
      secret: 'X',
      cause: 'missing_key',
    })
    expect(compose({ composedEnvironment: { X: '{{secret.db' } })).toMatchObject({ cause: 'missing_key' })
  })
  test.each(['a-b', 'a=b', '', '1a', 'a b', 'ü'])('a key that is not a variable name: %o', (key) => {
    expect(compose({ entries: [anEntry('DB', { [key]: 'v' })] })).toEqual({
      kind: 'unresolved',
      secret: 'DB',
      cause: 'malformed',
    })
  })
  test('a value that a variable cannot hold', () => {
    expect(compose({ entries: [anEntry('DB', { a: 'x\0y' })] })).toMatchObject({ cause: 'malformed' })
  })
  test('more variables than the kernel allows', () => {
    const room = 128 * 1024 - 1 - 'DB_a='.length
    expect(compose({ entries: [anEntry('DB', { a: 'x'.repeat(room) })] })).toMatchObject({ kind: 'ok' })
    expect(compose({ entries: [anEntry('DB', { a: 'x'.repeat(room + 1) })] })).toEqual({
      kind: 'unresolved',
      secret: 'DB',
      cause: 'too_large',
    })
    const keys = Array.from({ length: 17 }, (_, index) => [`k${index}`, 'é'.repeat(32 * 1024)])
    expect(compose({ entries: [anEntry('DB', Object.fromEntries(keys))] })).toMatchObject({
      cause: 'too_large',
    })
  })
})

describe('composeEnvironment properties', () => {
  const key = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,6}$/)
  const placeholder = fc.constantFrom('{{secret.a.k}}', '{{secret.b.__proto__}}', '{{', '}}', '{{secret.a.')
  const value = fc
    .array(fc.oneof(fc.string(), placeholder))
    .map((parts) => parts.join('').replaceAll('\0', ''))
  const values = fc.dictionary(key, value, { maxKeys: 6 })

  test('delivers a value unchanged by its own variable and by a template', () => {
    fc.assert(
      fc.property(value, value, (first, second) => {
        const entries = [anEntry('A', { k: first }), anEntry('B', { k: second })]
        const composedEnvironment = { X: '<{{secret.a.k}}|{{secret.b.k}}|{{secret.a.k}}>' }
        expect(compose({ entries, composedEnvironment })).toEqual(
          made({ A_k: first, B_k: second, X: `<${first}|${second}|${first}>` }),
        )
      }),
    )
  })
  test('delivers every source completely or no environment', () => {
    const name = fc.constantFrom('A', 'A_b', 'B', 'A_b_c', '1')
    const entry = fc.record({ name, current: values, next: fc.option(values, { nil: undefined }) })
    fc.assert(
      fc.property(values, fc.array(entry, { maxLength: 4 }), (environment, list) => {
        const entries = list.map(({ name: prefix, current, next }) =>
          anEntry(prefix, current, next === undefined ? {} : { next: document(next) }),
        )
        const expected = [
          ...Object.entries(environment),
          ...list.flatMap(({ name: prefix, current, next }) => [
            ...Object.entries(current).map(([one, text]) => [`${prefix}_${one}`, text]),
            ...Object.entries(next ?? {}).map(([one, text]) => [`${prefix}_${one}_NEXT`, text]),
          ]),
        ]
        const composed = compose({ environment, entries })
        const distinct = new Set(expected.map(([variable]) => variable)).size === expected.length
        expect(composed.kind).toBe(distinct ? 'ok' : 'unresolved')
        if (composed.kind === 'ok') expect(Object.entries(composed.environment)).toEqual(expected)
        else expect(composed.cause).toBe('conflict')
      }),
    )
  })
})
