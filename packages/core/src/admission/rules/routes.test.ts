import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { aBody, aRecord, forCreate, forUpdate, type Row, summary } from '../admission.fixture.ts'
import { checkBody } from '../admit-body.ts'
import { routeIdentity } from '../facts/route-identity.ts'

const route = { host: 'shop.example.com', path: '/', port: 8080 }
const judge = (...routes: unknown[]) => summary(checkBody(aBody({ routes }), forCreate()))
const many = (count: number) => Array.from({ length: count }, (_, n) => ({ ...route, host: `h${n}.example` }))

const ROWS: Row[] = [
  ['a route', { routes: [route] }],
  ['no routes', { routes: [] }],
  ['null', { routes: null }],
  ['no path', { routes: [{ host: 'a.example', port: 80 }] }],
  ['16 routes', { routes: many(16) }],
  ['17 routes, none of which is checked', { routes: [...many(16), {}] }, 'list_too_long routes'],
  ['no list', { routes: route }, 'field_type_invalid routes'],
  ['an element that is no object', { routes: ['shop.example.com'] }, 'field_type_invalid routes[0]'],
  ['nothing in it', { routes: [route, {}] }, 'route_invalid routes[1].host', 'route_invalid routes[1].port'],
  [
    'null inside',
    { routes: [{ host: null, path: null, port: null }] },
    'route_invalid routes[0].host',
    'field_type_invalid routes[0].path',
    'route_invalid routes[0].port',
  ],
  [
    'wrong types',
    { routes: [{ host: 1, path: [], port: '80' }] },
    'field_type_invalid routes[0].host',
    'field_type_invalid routes[0].path',
    'field_type_invalid routes[0].port',
  ],
  ['half a port', { routes: [{ ...route, port: 80.5 }] }, 'field_type_invalid routes[0].port'],
]

test.each(ROWS)('rules of routes: %s', (_about, parts, ...expected) => {
  expect(summary(checkBody(aBody(parts), forCreate()))).toEqual(expected)
})

const label63 = 'a'.repeat(63)
const host253 = [label63, label63, label63, 'a'.repeat(61)].join('.')

test.each([
  ...['a', 'localhost', 'a.example', 'a-b.example', 'xn--bcher-kva.example', '1.example', '10.0.0.1.example'],
  ...[`${label63}.example`, host253],
])('host %s', (host) => {
  expect(judge({ ...route, host })).toEqual([])
})

test.each([
  ...['', '.', 'a.', '.a', 'a..b', '-a.example', 'a-.example', 'a_b.example', 'A.example', 'shop.Example'],
  ...[
    '*.example',
    '*',
    'a.example:80',
    'https://a.example',
    'a.example/x',
    'a b',
    'a.example\n',
    'bücher.example',
  ],
  ...['10.0.0.1', '1', 'a.1', '::1', '[::1]', 'user@a.example', 'a,b.example', '{host}', 'a.example\0'],
  ...[`a${label63}.example`, `${host253}a`, 'K.example', 'ſ.example'],
])('not the host %j', (host) => {
  expect(judge({ ...route, host })).toEqual(['route_invalid routes[0].host'])
})

test.each([
  ...['/', '/api', '/api/v1', '/a.b/c_d/e~f/g-h', '/...', '/.well-known/x', '/API', `/${'a'.repeat(1023)}`],
])('path %s', (path) => {
  expect(judge({ ...route, path })).toEqual([])
})

test.each([
  ...[
    '',
    'api',
    '//',
    '/api/',
    '/api//v1',
    '/.',
    '/..',
    '/a/../b',
    '/a/./b',
    '/a/..',
    'https://a/',
    '/a?b=1',
  ],
  ...[
    '/a#b',
    '/%61',
    '/a%2fb',
    '/a%2Fb',
    '/%2e%2e',
    '/a%252fb',
    '/a;b',
    '/a*',
    '/*',
    '/a b',
    '/a\\b',
    '/ä',
    '/a\n',
  ],
  ...['/{path}', '/a+b', '/a:b', '/a@b', '/a,b', '/a=b', '/a\0', `/${'a'.repeat(1024)}`],
])('not the path %j', (path) => {
  expect(judge({ ...route, path })).toEqual(['route_invalid routes[0].path'])
})

test.each([
  [1, []],
  [65_535, []],
  [0, ['route_invalid routes[0].port']],
  [-1, ['route_invalid routes[0].port']],
  [65_536, ['route_invalid routes[0].port']],
  [1e15, ['route_invalid routes[0].port']],
])('port %d', (port, expected) => {
  expect(judge({ ...route, port })).toEqual(expected)
})

describe('a repeated host and path', () => {
  const { path: _path, ...atRoot } = route
  test.each<[string, unknown[], string[]]>([
    [
      'another port does not tell them apart',
      [route, { ...route, port: 1 }],
      ['route_invalid routes[1].path'],
    ],
    ['nor a path that was left out', [atRoot, route], ['route_invalid routes[1].path']],
    [
      'nor letter case',
      [{ ...route, path: '/Api' }, route, { ...route, path: '/api' }],
      ['route_invalid routes[2].path'],
    ],
    [
      'each repetition',
      [route, route, route],
      ['route_invalid routes[1].path', 'route_invalid routes[2].path'],
    ],
    ['another host', [route, { ...route, host: 'a.example' }], []],
    ['a longer path', [route, { ...route, path: '/api' }, { ...route, path: '/api/v1' }], []],
  ])('%s', (_about, routes, expected) => {
    expect(judge(...routes)).toEqual(expected)
  })

  test('is not reported for a malformed route', () => {
    expect(judge(route, { ...route, port: 0 })).toEqual(['route_invalid routes[1].port'])
  })
})

test('accepts an update that swaps the ports of its routes', () => {
  const [one, other] = [route, { ...route, path: '/api', port: 81 }]
  const current = aRecord(aBody({ routes: [one, other] }))
  const exchanged = [
    { ...other, port: one.port },
    { ...one, port: other.port },
  ]
  expect(checkBody({ routes: exchanged }, forUpdate(current))).toEqual([])
})

test('an accepted host and path does not change when decoded, cleaned or resolved', () => {
  const characters = fc.constantFrom(...'aA1.-_~/%*:@ ')
  let accepted = 0
  fc.assert(
    fc.property(
      fc.string({ unit: characters, maxLength: 12 }),
      fc.string({ unit: characters, maxLength: 12 }),
      (host, rest) => {
        const path = `/${rest}`
        if (judge({ host, path, port: 80 }).length > 0) return
        accepted += 1
        const url = new URL(`http://${host}${path}`)
        expect([url.host, url.pathname, url.search, url.hash]).toEqual([host, path, '', ''])
        expect(decodeURIComponent(path)).toBe(path)
      },
    ),
    { numRuns: 20_000 },
  )
  expect(accepted).toBeGreaterThan(20)
})

test('two routes are equal if host and path are equal, ignoring the case of the path', () => {
  const host = fc.constantFrom('a.b', 'a', 'a.b.c')
  const path = fc.constantFrom('/', '/b', '/B', '/b/c', '/c')
  fc.assert(
    fc.property(host, path, host, path, (host, path, otherHost, otherPath) => {
      const same = host === otherHost && path.toLowerCase() === otherPath.toLowerCase()
      const [one, other] = [
        { host, path },
        { host: otherHost, path: otherPath },
      ]
      expect(routeIdentity(one) === routeIdentity(other)).toBe(same)
    }),
  )
})
