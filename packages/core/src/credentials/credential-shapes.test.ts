import { cpuMsOf } from '@holdfast/testkit/cpu-time'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { alnum, hex, upper } from './corpus.fixture.ts'
import { CREDENTIALS } from './corpus-credentials.fixture.ts'
import { CREDENTIAL_SHAPES } from './credential-shape-table.ts'
import { credentialShapeOf } from './credential-shapes.ts'

describe('a known credential shape', () => {
  test.each([
    [['AK', 'IA', upper(16)], 'aws_access_key'],
    [['gh', 'p_', alnum(36)], 'github_token'],
    [['github', '_pat_', alnum(60)], 'github_token'],
    [['hf', '_', upper(26), '_', alnum(43)], 'holdfast_token'],
    [['hf', '_', 'abcdefghijklmnopqrstuvwxyzABCDEFGH'], 'hugging_face_token'],
    [['sk', '-ant-api03-', alnum(90)], 'anthropic_key'],
    [['hv', 's.', alnum(90)], 'vault_token'],
    [['-----BEGIN ', 'PRIVATE KEY-----'], 'pem_private_key'],
    [['ey', 'J', alnum(20), '.ey', 'J', alnum(20), '.', alnum(20)], 'jwt'],
    [['ey', 'J', alnum(20), '..', alnum(16), '.', alnum(40), '.', alnum(22)], 'jwe'],
    [['x://u', '@h:80'], undefined],
    [['x://h', ':80?a@b'], undefined],
    [['redis://', ':p@', 'cache'], 'url_with_password'],
    [['any+scheme-1.0://user', ':pa@ss', '@host'], 'url_with_password'],
    [['see https://u', ':p@host', '/x for more'], 'url_with_password'],
  ])('%#', (parts, name) => {
    expect(credentialShapeOf(parts.join(''))).toBe(name)
  })

  test('is found inside a longer text, and not inside a longer word', () => {
    const token = `gh${'p_'}${alnum(36)}`
    expect(credentialShapeOf(`--header=${token} --x`)).toBe('github_token')
    expect(credentialShapeOf(`x${token}`)).toBeUndefined()
    expect(credentialShapeOf(`${hex(12)}AK${'IA'}${upper(16)}`)).toBeUndefined()
  })

  test('is found as a separate word at any position of a text', () => {
    const found = CREDENTIALS.filter((entry) => credentialShapeOf(entry.value) === 'github_token')
    fc.assert(
      fc.property(fc.constantFrom(...found), fc.string(), fc.string(), (entry, before, after) => {
        expect(credentialShapeOf(`${before} ${entry.value} ${after}`)).toBeDefined()
      }),
    )
  })
})

describe('the table of credential shapes', () => {
  test('has no nested or open-ended quantifier and no pattern with both i and u', () => {
    for (const { name, pattern } of CREDENTIAL_SHAPES) {
      expect(pattern.flags, name).toMatch(/^i?$/)
      expect(pattern.source.replace(/\\./g, ''), name).not.toMatch(
        /[*+}]\)[*+{]|\{\d+,\}|[^\\\]A-Za-z0-9+/]\+[^/\]]/,
      )
      expect(pattern.source, name).not.toMatch(/\)[*+]/)
    }
  })

  test('has no minLength that hides a match', () => {
    for (const entry of CREDENTIALS) {
      for (const { name, pattern, minLength } of CREDENTIAL_SHAPES) {
        const match = pattern.exec(entry.value)
        if (match !== null) expect(match[0].length, name).toBeGreaterThanOrEqual(minLength)
      }
    }
  })

  const SIZE = 100_000
  const fillTo = (unit: string): string => unit.repeat(Math.ceil(SIZE / unit.length)).slice(0, SIZE)
  const bait = [
    ...[
      'a',
      'A',
      '0',
      '-',
      '_',
      '.',
      '=',
      '/',
      ':',
      '@',
      ' ',
      '"',
      'a.',
      'M-',
      'A ',
      '0:A',
      '://',
      '://a:',
      '://a:b',
      ':a@',
    ],
    ...[
      '-----BEGIN',
      '-----BEGIN A ',
      'eyJ',
      'eyJaaaaaaaa.',
      'eyJa-',
      ' eyJ',
      '.eyJaaaaaaaaaaaaaaaa',
      'SG.',
      'ghp_',
      'sk-',
    ],
    ...[
      'password=',
      'password = ',
      '"password":',
      'pwd',
      'secret',
      'token=',
      'api_key',
      'xoxb-',
      'a1',
      'AKIA',
      'key-0a',
    ],
    ...[
      'jdbc:oracle:thin:',
      'jdbc:oracle:thin:a/',
      'bearer ',
      'basic ',
      'authorization: ',
      '?sig=',
      'hf_aaaaaaaaaaaaaaaa_',
    ],
  ].map(fillTo)

  test('searches 100 kB with each pattern in under 5 ms', () => {
    const slow: string[] = []
    for (const { name, pattern } of CREDENTIAL_SHAPES) {
      for (const text of [...bait, fillTo(prefixOf(pattern))]) {
        const took = fastest(5, () => pattern.test(text))
        if (took >= 5) slow.push(`${name} on ${text.slice(0, 24)}: ${took.toFixed(1)} ms`)
      }
    }
    expect(slow).toEqual([])
  })

  test('searches 100 kB with all patterns in under 50 ms', () => {
    for (const text of bait) expect(fastest(50, () => credentialShapeOf(text))).toBeLessThan(50)
  })
})

/** The literal start of a pattern. A text that repeats this start makes the search begin again at many positions. */
function prefixOf(pattern: RegExp): string {
  return (
    /[A-Za-z0-9_.:/-]{2,}/.exec(pattern.source.replace(/^\(\?<![^)]*\)/, '').replaceAll('\\', ''))?.[0] ?? 'a'
  )
}

/** Processor time of the fastest of several runs, because compilation and garbage collection are part of some. */
function fastest(enough: number, run: () => unknown): number {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 40 && best >= enough; round++) best = Math.min(best, cpuMsOf(run))
  return best
}
