import { expect, test } from 'vitest'
import { untilAborted, withDeadline, withTimeoutSignal } from './with-deadline.ts'

const forever = new Promise<never>(() => {})
const late = (): never => {
  throw new Error('late')
}

test('a deadline ends the wait with a value or an error', async () => {
  expect(await withDeadline(5, forever, () => 'late')).toBe('late')
  await expect(withDeadline(-5, forever, late)).rejects.toThrow('late')
  expect(await withDeadline(1_000, Promise.resolve(1), late)).toBe(1)
  await expect(withDeadline(1_000, Promise.reject(new Error('own')), late)).rejects.toThrow('own')
})

test('a signal ends the wait at once, also when it was aborted before', async () => {
  expect(await untilAborted(AbortSignal.abort(), forever, () => 'late')).toBe('late')
  expect(await untilAborted(AbortSignal.timeout(5), forever, () => 'late')).toBe('late')
  await expect(untilAborted(AbortSignal.abort(), forever, late)).rejects.toThrow('late')
  expect(await untilAborted(AbortSignal.timeout(1_000), Promise.resolve(1), late)).toBe(1)
})

test('an operation receives a signal that aborts when its time is over', async () => {
  const aborted = (signal: AbortSignal) =>
    new Promise<boolean>((resolve) => {
      signal.addEventListener('abort', () => resolve(signal.aborted))
    })
  expect(await withTimeoutSignal(5, aborted)).toBe(true)
  expect(await withTimeoutSignal(1_000, async (signal) => signal.aborted)).toBe(false)
})
