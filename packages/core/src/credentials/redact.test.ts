import { childPath, elementPath, type Json, stepsOf } from '@holdfast/contract'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { alnum, hex } from './corpus.fixture.ts'
import { CREDENTIALS } from './corpus-credentials.fixture.ts'
import { credentialShapeOf } from './credential-shapes.ts'
import { describeReceived, safeField, safeKey } from './redact.ts'

/** A test secret without the form of a known credential, so that only its position marks it as a secret. */
const CANARY = 'canary8341'

describe('describeReceived quotes', () => {
  test.each<[string, Json | undefined, string]>([
    ['replicas', undefined, ''],
    ['replicas', null, 'null'],
    ['replicas', -1, '-1'],
    ['replicas', 9007199254740993n, '9007199254740993'],
    ['name', 'My Web', 'My Web'],
    ['name', '', ''],
    ['kind', ['Deployment'], '["Deployment"]'],
    ['placement', { country: 'DE', n: [1, true] }, '{"country":"DE","n":[1,true]}'],
    ['placement.constraints[0].values', ['ssd', 3], '["ssd",3]'],
    [
      'placement',
      { constraints: [{ label: 'a', values: ['b'] }] },
      '{"constraints":[{"label":"a","values":["b"]}]}',
    ],
    ['secrets[0].vault_path', '../etc', '../etc'],
    ['secrets[0].anchor', 'volume()', 'volume()'],
    ['secrets[0].name', 'DB-1', 'DB-1'],
    ['secrets[0].mount_path', '/x', '/x'],
    ['secrets[0].generate.keys[1]', 'a b', 'a b'],
    ['secrets[0].generate', { bytes: 8 }, '{"bytes":8}'],
    ['secrets', [{ name: 'DB', vault_path: 'a/b' }], '[{"name":"DB","vault_path":"a/b"}]'],
    ['secrets', [], '[]'],
    ['secretsVersion', -3, '-3'],
    ['secret', 'DB', 'DB'],
    ['environment', null, 'null'],
    ['environment', {}, '{}'],
    ['dependsOn.auth-token', 'ready', 'ready'],
    ['image', 'web', 'web'],
    ['image', 'r.example.com:5000/a/web:latest', 'r.example.com:5000/a/web:latest'],
    ['image', `web:1@sha256:${'a'.repeat(64)}`, `web:1@sha256:${'a'.repeat(64)}`],
    ['image', 'web@sha256:short', 'web@sha256:short'],
    ['labels["mail"]', 'jane@example.com', 'jane@example.com'],
  ])('%s, case %#', (field, value, text) => expect(describeReceived(field, value)).toBe(text))
})

describe('describeReceived does not quote', () => {
  const places: [string, Json][] = [
    ['values.password', CANARY],
    ['values', CANARY],
    ['values', [CANARY]],
    ['secrets[0].values["a b"]', CANARY],
    ['secrets[3].values', { k: CANARY }],
    ['secrets[0]', { name: 'DB', values: { k: CANARY } }],
    ['secrets', [{ name: 'DB' }, { values: { k: CANARY } }]],
    ['secrets', { DB: CANARY }],
    ['secrets', CANARY],
    ['secrets[0]', CANARY],
    ['secrets[0].value', CANARY],
    ['secrets[0].vaules', { k: CANARY }],
    ['environment.KEY', CANARY],
    ['environment["a.b"]', CANARY],
    ['environment.KEY', { nested: CANARY }],
    ['environment.KEY', 83418341],
    ['environment.KEY', true],
    ['environment', CANARY],
    ['environment', [CANARY]],
    ['environment', { KEY: CANARY }],
    ['composedEnvironment.URL', `x{{secret.a.b}}${CANARY}`],
    ['spec', { environment: { KEY: CANARY } }],
    ['env', [{ name: 'A', value: CANARY }]],
    ['Authorization', `Whatever ${CANARY}`],
    ['authorization', CANARY],
    ['password', CANARY],
    ['joinToken', CANARY],
    ['ticket', CANARY],
    ['labels["db-password"]', CANARY],
    ['unknown', { deep: [{ apiKey: CANARY }] }],
    ['image', `${CANARY}@registry.example.com/web:1`],
    ['image', `user:${CANARY}@registry.example.com/web:1`],
    ['image', `https://user:${CANARY}@registry.example.com/web`],
    ['image', `user:${CANARY}@registry.example.com:5000`],
    ['image', `user:${CANARY}@r.example.com/web@sha256:${'a'.repeat(64)}`],
    ['anything', `user:${CANARY}@host`],
    ['command', ['psql', `postgres://u:${CANARY}@db/x`]],
    ['args', [`--password=${CANARY}`]],
    ['unknown', { [`https://u:${CANARY}@h`]: 1 }],
  ]
  test.each(places)('%s, case %#', (field, value) => {
    const text = describeReceived(field, value)
    expect(text).toMatch(/^<redacted (string|number|boolean|list|object), \d+ bytes>$/)
    expect(text).not.toContain(CANARY)
  })

  test('and shows type and size in UTF-8 bytes instead', () => {
    expect(describeReceived('environment.A', 'é\u{1f600}')).toBe('<redacted string, 6 bytes>')
    expect(describeReceived('environment.A', '\ud800')).toBe('<redacted string, 3 bytes>')
    expect(describeReceived('environment', { A: 'é' })).toBe('<redacted object, 10 bytes>')
    expect(describeReceived('environment', ['a'])).toBe('<redacted list, 5 bytes>')
    expect(describeReceived('environment.A', 12n)).toBe('<redacted number, 2 bytes>')
  })
})

describe('a credential with a known shape', () => {
  const shaped = CREDENTIALS.filter((entry) => credentialShapeOf(entry.value) !== undefined)
  const name = fc.constantFrom(
    'a',
    'name',
    'vault_path',
    'anchor',
    'image',
    'foo',
    'labels',
    'constraints',
    'values',
  )

  test('is redacted in every field, at every depth, as value and as key', () => {
    expect(shaped.length).toBeGreaterThan(100)
    const wrap = fc.array(fc.constantFrom('list', 'object', 'key'), { maxLength: 4 })
    fc.assert(
      fc.property(fc.constantFrom(...shaped), name, wrap, fc.string(), ({ value }, field, wraps, text) => {
        const sent = wraps.reduce<Json>((inner, kind) => wrapped(kind, inner, text), value)
        expect(describeReceived(field, sent)).toMatch(/^<redacted [a-z]+, \d+ bytes>$/)
      }),
      { numRuns: 500 },
    )
  })

  test('is redacted behind the quoted part', () => {
    const token = `gh${'p_'}${alnum(36)}`
    expect(describeReceived('name', `${'a'.repeat(236)} ${token}`)).toBe('<redacted string, 277 bytes>')
  })

  test('is redacted as a key of a path', () => {
    for (const { value } of shaped) {
      expect(safeKey(value)).toMatch(/^<redacted key, \d+ bytes>$/)
      expect(safeField(elementPath(childPath('labels', value), 0))).not.toContain(value)
    }
  })
})

function wrapped(kind: string, inner: Json, text: string): Json {
  if (kind === 'list') return [text, inner]
  if (kind === 'key' && typeof inner === 'string') return { [inner]: text }
  return { before: text, x: inner }
}

describe('a quoted value', () => {
  test('has at most 256 characters and no half surrogate pair', () => {
    expect(describeReceived('name', 'a'.repeat(256))).toBe('a'.repeat(256))
    expect(describeReceived('name', 'a'.repeat(257))).toBe('a'.repeat(256))
    expect(describeReceived('name', `${'a'.repeat(255)}\u{1f600}`)).toBe('a'.repeat(255))
    expect(describeReceived('name', '\n'.repeat(300))).toHaveLength(256)
    expect(describeReceived('command', ['a'.repeat(500)])).toBe(`["${'a'.repeat(254)}`)
  })

  test.each([
    ['a\r\nb\tc', 'a\\r\\nb\\tc'],
    ['\u001b[31mred', '\\u001b[31mred'],
    ['\u0000\u007f\u009b', '\\u0000\\u007f\\u009b'],
    ['ab\u202egnp.exe', 'ab\\u202egnp.exe'],
    ['\u2066\u200f\u061c\u200b\ufeff\u2028', '\\u2066\\u200f\\u061c\\u200b\\ufeff\\u2028'],
    ['\ud83dx\ude00', '\\ud83dx\\ude00'],
    ['\u{e0041}', '\\udb40\\udc41'],
    ['é \u{1f600} \\ "', 'é \u{1f600} \\ "'],
  ])('case %#', (sent, text) => expect(describeReceived('name', sent)).toBe(text))

  test('contains no unprintable character', () => {
    const raw = /[\p{Cc}\p{Bidi_Control}\u2028\u2029\p{Cs}]/u
    const json = fc.jsonValue({ stringUnit: 'binary' })
    fc.assert(
      fc.property(json, fc.string({ unit: 'binary' }), (value, text) => {
        for (const sent of [JSON.parse(JSON.stringify(value)), `${text}\u202e\u001b`]) {
          expect(describeReceived('foo', sent)).not.toMatch(raw)
          expect(describeReceived('foo', sent).length).toBeLessThanOrEqual(256)
        }
        expect(childPath('', safeKey(`${text}\u202e\u001b`))).not.toMatch(raw)
      }),
      { numRuns: 500 },
    )
  })
})

describe('quoted keys and paths', () => {
  test('keep an ordinary key unchanged', () => {
    for (const key of ['a', 'a.b/c', 'DB_PASSWORD', '', 'é', 'a\nb']) expect(safeKey(key)).toBe(key)
    expect(safeField('secrets[0].values["a b"].x')).toBe('secrets[0].values["a b"].x')
  })

  test('split a path into the steps it was built from', () => {
    const step = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.nat(),
      fc.constantFrom('a', '"', '\\', '["', '"]', ']', '.'),
    )
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 5 }), (steps) => {
        const path = steps.reduce<string>(
          (parent, part) => (typeof part === 'number' ? elementPath(parent, part) : childPath(parent, part)),
          '',
        )
        expect(stepsOf(path)).toEqual(steps)
      }),
    )
  })

  test('take time linear in the size', () => {
    const text = `${hex(1000)}:@`
    describeReceived('foo', text.repeat(1000))
    describeReceived('["'.repeat(100_000), 'x')
    // A quadratic algorithm would exceed the time limit of this test on 2 MB.
    describeReceived('foo', 'a:'.repeat(1_000_000))
    expect(describeReceived('foo', 'a@'.repeat(1_000_000))).toHaveLength(256)
  }, 60_000)
})
