import { describe, expect, test } from 'vitest'
import { namesCredential, wordsOf } from './credential-keys.ts'
import { detectCredential } from './detect-credential.ts'

describe('splits a name into words', () => {
  test.each([
    ['DB_PASSWORD', 'db password'],
    ['dbPassword', 'db password'],
    ['HTTPAuthToken', 'http auth token'],
    ['spring.datasource.api-key', 'spring datasource api key'],
    ['ConnectionStrings__Default', 'connection strings default'],
    ['API_KEY_V2', 'api key'],
    ['PASSWORD_01', 'password'],
    ['__', ''],
    ['пароль', ''],
  ])('%s', (key, words) => expect(wordsOf(key).join(' ')).toBe(words))
})

test.each([
  'PASSWORD',
  'PGPASSWORD',
  'MyApiKey',
  'x-api-key',
  'SECRET_KEY_BASE',
  'AWS_ACCESS_KEY_ID',
  'TOKEN1',
])('%s names a credential', (key) => expect(namesCredential(key)).toBe(true))

test.each([
  'AUTHOR',
  'KEYBOARD',
  'SECRETARY',
  'MAX_TOKENS',
  'PASSWORD_FILE',
  'SECRET_PATH',
  'PUBLIC_KEY',
  'PWD',
  '',
  'X',
])('%s names none', (key) => expect(namesCredential(key)).toBe(false))

test('checks a hostile name in linear time', () => {
  const started = process.cpuUsage()
  for (const unit of ['a', 'A', 'aA', 'A_', '_', '0', 'password', 'KEY_'])
    namesCredential(unit.repeat(100_000))
  // Measures CPU time, which other processes do not affect. A backtracking pattern would need minutes.
  const { user, system } = process.cpuUsage(started)
  expect((user + system) / 1000).toBeLessThan(2000)
})

describe('detects a credential by name and value', () => {
  const withUserinfo = ['https://', 'user', '@idp.example.com/'].join('')
  test.each([
    ['DB_PASSWORD', '', undefined],
    ['DB_PASSWORD', 'x', 'key'],
    ['DB_PASSWORD', 'true', 'key'],
    ['DB_PASSWORD_FILE', '/run/secrets/x', undefined],
    ['DB_SECRET', 'https://idp.example.com/x', undefined],
    ['DB_SECRET', withUserinfo, 'key'],
    ['DB_SECRET', `https://idp.example.com/${'x'.repeat(9_000)}`, 'key'],
    ['DB_SECRET', '/etc/app/key.pem', undefined],
    ['DB_SECRET', '/Zm9vYmFyYmF6/cXV4', 'key'],
    ['API_TOKENS', '4096', undefined],
    ['API_TOKEN', '4096', 'key'],
    ['SMTP_AUTH', 'plain', undefined],
    ['SMTP_AUTH', 'plan', 'key'],
    ['PASSWORD_FILE', ['postgres://a', ':b@', 'c/d'].join(''), 'value'],
    ['DB_PASSWORD', ['postgres://a', ':b@', 'c/d'].join(''), 'value'],
  ])('%s, case %#', (key, value, reason) => expect(detectCredential(key, value)?.reason).toBe(reason))

  test('never returns the value', () => {
    expect(JSON.stringify(detectCredential('TOKEN', 'canary8341'))).toBe('{"reason":"key"}')
  })
})
