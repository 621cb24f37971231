import { expect, test } from 'vitest'
import { describeStarter } from './rotation-starter.ts'

const NOW = Date.parse('2026-06-01T00:00:00.000Z')
const starter = { token: 'tok_1', name: 'ci' }
const BY = 'The platform carried out the rotation that token'

test.each([
  ['a valid token', starter, '2026-07-01T00:00:00.000Z', `${BY} ci (tok_1) started.`, undefined],
  [
    'a token without a known name',
    { token: 'tok_1' },
    '2026-07-01T00:00:00.000Z',
    `${BY} tok_1 started.`,
    undefined,
  ],
  ['an expired token', starter, '2026-06-01T00:00:00.000Z', 'expired since', 'expired'],
  [
    'a revoked token',
    starter,
    undefined,
    'revoked since; the rotation continues unless it is aborted.',
    'revoked',
  ],
])('a rotation of %s names the platform and the starter', (_, who, expiresAt, sentence, tokenState) => {
  const described = describeStarter(who, expiresAt === undefined ? undefined : { expiresAt }, NOW)
  expect(described.sentence).toContain(sentence)
  expect(described.detail['tokenState']).toBe(tokenState)
  expect(described.detail).toMatchObject({ carriedOutBy: 'platform' })
  expect(described.detail['startedBy']).toContain('tok_1')
})
