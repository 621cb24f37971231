import { expect, test } from 'vitest'
import { chooseChallenge, parseChallenge } from './challenge.ts'

test.each([
  ['Basic realm="registry"', { kind: 'basic' }],
  ['Basic', { kind: 'basic' }],
  ['basic realm=registry', { kind: 'basic' }],
  [
    'Bearer realm="https://auth.example.com/token",service="registry.example.com",scope="repository:a/b:pull"',
    { kind: 'bearer', realm: 'https://auth.example.com/token', service: 'registry.example.com' },
  ],
  ['Bearer realm="https://a/t", error="x"', { kind: 'bearer', realm: 'https://a/t', service: undefined }],
])('parses the challenge %s', (line, expected) => {
  expect(parseChallenge(line)).toEqual(expected)
})

test.each([
  '',
  'Bearer',
  'Bearer ',
  'Bearer service="x"',
  'Negotiate abc',
  'Bearer realm="https://a/t',
  'Bearer realm="https://a/t" service="x"',
  'Bearer realm="a",realm="b"',
  'Bearer realm="a",REALM="b"',
  'Bearer realm="a\\"b"',
  'Bearer realm="a\nb"',
  'Bearer realm="ä"',
  'Bearer realm="a", Basic realm="b"',
  'Bearer realm="a",,service="b"',
  'Bearer realm = "a"',
  `Bearer realm="${'a'.repeat(5000)}"`,
])('rejects %j as a challenge', (line) => {
  expect(parseChallenge(line)).toBeUndefined()
})

test('prefers a Bearer challenge over a Basic one, and ignores invalid lines beside valid ones', () => {
  expect(chooseChallenge(['Basic realm="x"', 'Bearer realm="https://a/t"'])?.kind).toBe('bearer')
  expect(chooseChallenge(['Bearer broken', 'Basic realm="x"'])?.kind).toBe('basic')
  expect(chooseChallenge([])).toBeUndefined()
})
