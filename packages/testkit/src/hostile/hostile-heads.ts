// Request lines, headers, queries and paths that break careless parsers, as raw text, because a client library would
// correct them.

import { hostileText } from './hostile-values.ts'
import type { Random } from './random.ts'

const oneLine = (text: string): string => text.replaceAll(/[\r\n]/g, ' ')

const METHODS: readonly [string, ...string[]] = [
  ...([
    'GET',
    'HEAD',
    'OPTIONS',
    'TRACE',
    'PATCH',
    'PUT',
    'DELETE',
    'POST',
    'QUERY',
    'SEARCH',
    'PURGE',
  ] as const),
  'get',
  'GETT',
  'G T',
  '',
  'PRI',
  'M-SEARCH',
  'PROPFIND',
  'CONNECT',
  'A'.repeat(200),
  '\u0000',
  'GE\u00e9',
]

export const hostileMethod = (random: Random): string => random.pick(METHODS)

const SEGMENTS: readonly [string, ...string[]] = [
  ...([
    '.',
    '..',
    '%2e',
    '%2e%2e',
    '%2f',
    '%5c',
    '%00',
    '%',
    '%zz',
    '%c0%ae',
    '%u002e',
    '%252e',
    '',
  ] as const),
  'a;b',
  ';',
  'a\\b',
  '\\',
  'a//b',
  '*',
  ':name',
  '{name}',
  '~',
  'a b',
  '\u00e9',
  '\u202e',
  'a\u0000b',
  '\u0001',
  '__proto__',
  'constructor',
  'toString',
  'x'.repeat(501),
  'x'.repeat(8000),
  '@',
  "'",
  '"',
  '<a>',
  '|',
  '^',
  '`',
  'dep_00000000000000000000000000',
  'tok_0',
  '-1',
  '0',
  '1',
  '1e9',
  '00000000-0000-0000-0000-000000000000',
]
const PREFIXES: readonly [string, ...string[]] = [
  ...([
    '/api/v1/deployments/',
    '/api/v1/archives/deployments/',
    '/api/v1/tenants/',
    '/api/v1/errors/',
  ] as const),
  '/docs/errors/',
  '/api/v1/registries/',
  '/api/v1/',
  '/api/v2/',
  '/',
  '//',
  '/./',
  '/../',
  '/API/v1/',
  '/api//v1/',
  'http://127.0.0.1/api/v1/deployments/',
  'https://evil.example/',
  '*',
  '',
  '?',
  '#',
  '/docs/',
  '/metrics/',
  '/healthz/',
]
const SUFFIXES: readonly [string, ...string[]] = [
  '',
  '',
  '',
  '/',
  '/credential',
  '/tokens',
  '/tokens/x',
  '/1',
  '/-1',
  '?',
  '#',
  '#?a',
]

export function hostilePath(random: Random): string {
  const middle = random.chance(0.8)
    ? random.pick(SEGMENTS)
    : encodeURIComponent(hostileText(random).toWellFormed())
  return oneLine(`${random.pick(PREFIXES)}${middle}${random.pick(SUFFIXES)}`).slice(0, 12_000)
}

const QUERIES: readonly [string, ...string[]] = [
  ...([
    'limit=1&limit=2',
    'limit=0',
    'limit=501',
    'limit=-1',
    'limit=1e2',
    'limit=',
    'limit',
    'limit=%31',
    'limit=+1',
  ] as const),
  'limit[]=1',
  'limit[$gt]=1',
  '__proto__[x]=1',
  'constructor.prototype=1',
  '__proto__=1',
  'toString',
  'cursor=%00',
  'cursor=',
  '=',
  '&',
  '&&&',
  '%',
  '%zz=1',
  '%00=1',
  'a=%ff%fe',
  'cursor=AAAA',
  'cursor=!!!!',
  'cursor=__proto__',
  'after=1',
  'after=9999999999999999-0',
  'after=1-1-1',
  'type=x',
  'severity=INFO',
  'subject=%0d%0aX: 1',
  'dryRun=1',
  'dryRun=TRUE',
  'dryRun=true&dryRun=false',
  'dryRun',
  'a;b=1',
  'tenant=x',
  'X-Tenant-ID=x',
  '?limit=1',
  '#limit=1',
  `limit=${'1'.repeat(9000)}`,
  `${'a'.repeat(9000)}=1`,
  'a=1&'.repeat(2000),
]

export const hostileQuery = (random: Random): string =>
  random.chance(0.7)
    ? random.pick(QUERIES)
    : `${encodeURIComponent(hostileText(random).toWellFormed()).slice(0, 6000)}=1`

const NAMES: readonly [string, ...string[]] = [
  ...([
    'X-Tenant-ID',
    'If-Match',
    'Idempotency-Key',
    'Content-Type',
    'Authorization',
    'Host',
    'Expect',
    'Accept',
  ] as const),
  'Content-Encoding',
  'Transfer-Encoding',
  'Content-Length',
  'Connection',
  'Upgrade',
  'TE',
  'Trailer',
  'Range',
  'Cookie',
  'X-Forwarded-For',
  'X-HTTP-Method-Override',
  'X-Original-URL',
  'X-Request-Id',
  '__proto__',
  'constructor',
  'If-None-Match',
  'Origin',
]
const VALUES: readonly [string, ...string[]] = [
  ...([
    '',
    ' ',
    ',',
    'a, b',
    '*',
    '""',
    '"1"',
    'W/"1"',
    '"1", "2"',
    '"-1"',
    '"99999999999999999999"',
    '1',
  ] as const),
  'application/json; charset=utf-16',
  'application/json;charset=utf-8',
  'text/plain',
  'application/x-www-form-urlencoded',
  'APPLICATION/JSON',
  'multipart/form-data; boundary=a',
  'application/json, text/plain',
  'application/json;',
  ';',
  '/',
  'gzip',
  'chunked',
  'identity',
  'chunked, chunked',
  '0',
  '5',
  '-1',
  '+5',
  '0x5',
  '5, 5',
  '99999999999999999999',
  '1e3',
  ' 5',
  'xchunked',
  'close',
  'keep-alive',
  'upgrade',
  'websocket',
  'h2c',
  '100-continue',
  '200-ok',
  '\u00e9',
  '\u0000',
  '\u007f',
  '\t',
  'a'.repeat(300),
  'a'.repeat(9000),
  'a'.repeat(17_000),
  'Bearer',
  'Bearer ',
  'Basic a:b',
  '00000000-0000-0000-0000-000000000000',
  'bytes=0-',
  '../../x',
  '%0d%0aX: 1',
  '{"a":1}',
  `Bearer hf_${'0'.repeat(26)}_${'A'.repeat(43)}`,
]

/** Generates header lines in various valid and invalid forms. */
export function hostileHeaders(random: Random): string[] {
  return Array.from({ length: 1 + random.below(3) }, () => {
    const name = random.pick(NAMES)
    const value = random.chance(0.85) ? random.pick(VALUES) : oneLine(hostileText(random)).slice(0, 2000)
    switch (random.below(14)) {
      case 0:
        return `${name} : ${value}`
      case 1:
        return ` ${name}: ${value}`
      case 2:
        return `${name}:${value}\r\n folded`
      case 3:
        return `${name}: ${value}\r\n${name}: ${value}`
      case 4:
        return `${name}: ${value}\r\n${name.toUpperCase()}: ${random.pick(VALUES)}`
      case 5:
        return `${name}`
      case 6:
        return `${name}: ${value}\nX-Bare: 1`
      case 7:
        return Array.from({ length: 300 }, (_, at) => `X-${at}: ${at}`).join('\r\n')
      default:
        return `${name}: ${value}`
    }
  })
}
