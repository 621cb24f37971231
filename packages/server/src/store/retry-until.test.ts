import { expect, test } from 'vitest'
import { EngineError } from '../ports/key-value.ts'
import { retryUntil, withEngineDeadline } from './retry-until.ts'

const soon = () => performance.now() + 5_000

/** A call that fails with the given errors, one per attempt, and then succeeds. */
function failing(...errors: Error[]) {
  let tries = 0
  const attempt = async () => {
    const error = errors[tries]
    tries += 1
    if (error) throw error
    return 'done'
  }
  return { attempt, tries: () => tries }
}

const refused = new EngineError('unavailable', 'no', 'no connection')
const lost = new EngineError('unavailable', 'unknown', 'connection dropped')

test('retries a call that was certainly not applied', async () => {
  const { attempt, tries } = failing(refused, refused)
  expect(await retryUntil(attempt, soon(), 'once')).toBe('done')
  expect(tries()).toBe(3)
})

test('throws an unknown outcome at once, unless the call is repeatable', async () => {
  const once = failing(lost)
  await expect(retryUntil(once.attempt, soon(), 'once')).rejects.toBe(lost)
  expect(once.tries()).toBe(1)
  expect(await retryUntil(failing(lost, lost).attempt, soon(), 'repeatable')).toBe('done')
})

test.each(['invalid', 'too_large', 'no_space', 'unauthorized', 'compacted'] as const)(
  '%s does not pass with time',
  async (reason) => {
    const error = new EngineError(reason, 'no', reason)
    const { attempt, tries } = failing(error)
    await expect(retryUntil(attempt, soon(), 'repeatable')).rejects.toBe(error)
    expect(tries()).toBe(1)
  },
)

test('makes exactly one attempt when the deadline has already passed', async () => {
  const { attempt, tries } = failing(refused, refused)
  await expect(retryUntil(attempt, performance.now() - 1, 'repeatable')).rejects.toBe(refused)
  expect(tries()).toBe(1)
  expect(await retryUntil(failing().attempt, performance.now() - 1, 'once')).toBe('done')
})

test('stops waiting at the deadline while the work continues', async () => {
  const forever = new Promise<never>(() => {})
  await expect(withEngineDeadline(performance.now() + 5, forever)).rejects.toMatchObject({
    reason: 'deadline',
    applied: 'no',
  })
  await expect(withEngineDeadline(performance.now() - 5, forever)).rejects.toThrow(EngineError)
  expect(await withEngineDeadline(soon(), Promise.resolve(1))).toBe(1)
  await expect(withEngineDeadline(soon(), Promise.reject(refused))).rejects.toBe(refused)
})
