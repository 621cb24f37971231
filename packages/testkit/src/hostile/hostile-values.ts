// Texts and JSON values that break careless parsers. JSON values are written as JSON text, because many cannot be written
// as JavaScript values: 2^53 + 1, 1e309, half a surrogate pair.

import type { Random } from './random.ts'

const TOKEN = `hf_${'0'.repeat(26)}_${'A'.repeat(43)}`

const KEYS: readonly [string, ...string[]] = [
  ...(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', 'then'] as const),
  '',
  ' ',
  '.',
  '..',
  '/',
  '\\',
  '%00',
  '\u0000',
  '\u202e',
  '\ufeff',
  '\u2028',
  'a.b',
  'a[0]',
  '["a"]',
  '$ref',
  'kind',
  'name',
  'uid',
  'status',
  'tenant',
  'v',
  'tx',
  'slot',
  'values',
  'generate',
  'privileged',
  'nodeId',
  '\ud83d\ude00',
  '\u0301',
  'ſ',
  '\u212a',
  'ＡＢＣ',
  TOKEN,
  'https://u:p@example.com/',
]

const TEXTS: readonly [string, ...string[]] = [
  ...(['', ' ', '\u0000', '\n', '\r\nX-Injected: 1', '\u001b[31m', '\u202e', '\ufeff', '\u2028'] as const),
  '../../etc/passwd',
  '..%2f..%2f',
  '\\\\host\\share',
  'a'.repeat(64),
  'a'.repeat(4096),
  'A-b',
  '-a',
  'a-',
  'latest',
  '__proto__',
  'constructor',
  'null',
  'undefined',
  'NaN',
  'true',
  '0',
  '-1',
  '1e309',
  '9007199254740993',
  '{{secret.a.b}}',
  '${jndi:ldap://x}',
  '<script>',
  "' OR 1=1 --",
  '$(reboot)',
  '`id`',
  '%s%n',
  '\ud83d\ude00'.repeat(30),
  TOKEN,
  'https://user:pass@example.com',
  '169.254.169.254/x:1',
  '[::1]:5000/a:1',
  'user:pass@host/a:1',
  'a@sha256:00',
  '10s',
  '0s',
  '-1s',
  '1e3s',
  '999999999h',
  '1.5s',
  '5 s',
  'P1D',
  'ſ',
  '\u212a',
  'İ',
  'ß',
  '\u0300'.repeat(100),
]

const NUMBERS: readonly [string, ...string[]] = [
  ...(['0', '-0', '-1', '1', '0.5', '1e0', '1E+2', '-1e-7', '1e308', '1e-400'] as const),
  '2147483647',
  '2147483648',
  '4294967296',
  '9007199254740991',
  '9007199254740992',
  '9007199254740993',
  '-9007199254740993',
  '18446744073709551616',
  '1'.repeat(300),
  '0.1'.padEnd(300, '1'),
  '0.30000000000000004',
  '1e-7',
  '100',
  '1000000',
]

const RAW: readonly [string, ...string[]] = [
  ...([
    'null',
    'true',
    'false',
    '[]',
    '{}',
    '[[]]',
    '[null]',
    '{"":null}',
    '{"__proto__":{"polluted":true}}',
  ] as const),
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"toJSON":1}',
  '{"then":1}',
  '"\\u0000"',
  '"\\ud83d\\ude00"',
]

/** Texts that are invalid JSON, or JSON that different parsers interpret differently. */
const UNSOUND: readonly [string, ...string[]] = [
  ...([
    '"\\ud800"',
    '"\\udc00\\ud800"',
    '"\\x41"',
    '"\\',
    '"a',
    "'a'",
    'undefined',
    '/* */1',
    '[1,]',
    '{"a":1,}',
  ] as const),
  '{"a":1,"a":2}',
  '{"a":1,"\\u0061":2}',
  '01',
  '+1',
  '.5',
  '1.',
  '0x10',
  'NaN',
  'Infinity',
  '1_000',
  '１',
  '1e309',
  '-',
]

export const hostileKey = (random: Random): string =>
  random.chance(0.9) ? random.pick(KEYS) : 'k'.repeat(1 + random.below(2000))

export function hostileText(random: Random): string {
  if (random.chance(0.7)) return random.pick(TEXTS)
  if (random.chance(0.9)) return randomUnits(random, random.below(40))
  return random
    .pick(['a', '@', 'ey', '-----BEGIN ', '://', 'a:@', '{{', '\u00e9', '"', '\\'])
    .repeat(random.below(4000))
}

function randomUnits(random: Random, length: number): string {
  const ranges = [0x80, 0x250, 0x3000, 0xd800, 0xd800, 0xd800, 0xd800, 0x10000] as const
  return Array.from({ length }, () => String.fromCharCode(random.below(random.pick(ranges)))).join('')
}

/** Generates hostile JSON text, which is not always valid. */
export function hostileJson(random: Random, depth = 0): string {
  if (random.chance(0.03)) return random.pick(UNSOUND)
  const kind = random.below(depth > 3 ? 4 : 8)
  if (kind === 0) return random.pick(NUMBERS)
  if (kind === 1) return random.pick(RAW)
  if (kind < 4) return JSON.stringify(hostileText(random))
  if (kind === 4) return nested(random)
  if (kind === 5) return `[${members(random, () => hostileJson(random, depth + 1))}]`
  if (kind === 6) return many(random)
  return `{${members(random, () => `${JSON.stringify(hostileKey(random))}:${hostileJson(random, depth + 1)}`)}}`
}

const members = (random: Random, make: () => string): string =>
  Array.from({ length: random.below(5) }, make).join(',')

function nested(random: Random): string {
  const depth = random.pick([2, 3, 5, 10, 20, 28, 33, 5000] as const)
  return random.chance(0.5)
    ? '['.repeat(depth) + ']'.repeat(random.chance(0.95) ? depth : depth - 1)
    : '{"a":'.repeat(depth) + '1' + '}'.repeat(depth)
}

function many(random: Random): string {
  const count = random.pick([20, 200, 2000] as const)
  const one = JSON.stringify(hostileText(random).slice(0, 20))
  return random.chance(0.5)
    ? `[${Array(count).fill(one).join(',')}]`
    : `{${Array.from({ length: count }, (_, at) => `"K${at}":${one}`).join(',')}}`
}
