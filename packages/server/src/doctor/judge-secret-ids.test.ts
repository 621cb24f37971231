import { expect, test } from 'vitest'
import { seen, unobserved } from './finding.ts'
import { judgeSecretIds } from './judge-secret-ids.ts'

const DAY_MS = 86_400_000
const judge = (days: number | undefined, isRenewed = false, age = 90) => {
  const expiresAtMs = days === undefined ? undefined : days * DAY_MS
  return judgeSecretIds(
    [{ identity: 'api', lifetime: seen({ createdAtMs: -age * DAY_MS, expiresAtMs }), isRenewed }],
    0,
  )[0]
}

test.each([
  [0, 'failure'],
  [6, 'failure'],
  [7, 'warning'],
  [13, 'warning'],
  [14, 'warning'],
  [29, 'warning'],
  [30, 'ok'],
])('a secret id with %i days left is judged %s', (days, verdict) => {
  expect(judge(days)?.verdict).toBe(verdict)
})

test('the remedy is urgent at 14 and 7 days, and names the log only if the process should have renewed it', () => {
  expect(judge(29)?.remedy).toMatch(/^renew it by hand as in \S+$/)
  expect(judge(13)?.remedy).toContain('do it this week')
  expect(judge(6)?.remedy).toContain('do it now')
  expect(judge(29, true)?.remedy).toContain('read in the log of the process')
})

test('a secret id that never expires, as earlier versions issued them, is a warning with what to do', () => {
  expect(judge(undefined)).toMatchObject({
    verdict: 'warning',
    text: 'never expires',
    remedy: expect.stringContaining('update the policies and replace it'),
  })
})

test('a valid secret id in a read-only file is reported as not renewed automatically', () => {
  expect(judge(60)?.text).toContain('is not renewed automatically')
  expect(judge(60, true)?.text).toBe('expires in 60 days, on 1970-03-02')
})

test('a secret id that cannot be looked up is not healthy', () => {
  const [found] = judgeSecretIds([{ identity: 'broker', lifetime: unobserved('denied'), isRenewed: true }], 0)
  expect(found).toMatchObject({ verdict: 'unobserved', remedy: expect.stringContaining('init --operator') })
})

test('a short lifetime of which less than half has passed is healthy if the process renews it', () => {
  expect(judge(20, true, 12)?.verdict).toBe('ok')
  expect(judge(20, false, 12)?.verdict).toBe('warning')
})
