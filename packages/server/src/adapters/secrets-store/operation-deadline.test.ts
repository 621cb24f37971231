import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { secret } from '../../ports/secret.ts'
import { createSecretsStoreClient } from './secrets-store-client.ts'
import { withinDeadline } from './store-call.ts'

const DEADLINE_MS = 5_000
const client = createSecretsStoreClient({
  address: 'https://store.example:8200',
  auth: { token: secret('t') },
  deadlineMs: DEADLINE_MS,
})

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('an operation beyond its deadline returns a timeout', async () => {
  const late = client.within((signal) => withinDeadline(new Promise<never>(() => {}), signal))
  await vi.advanceTimersByTimeAsync(DEADLINE_MS)
  expect(await late).toEqual({ kind: 'unavailable', cause: 'timeout', applied: 'no' })
})

test('the deadline of an operation that has ended never aborts its signal', async () => {
  const signals: AbortSignal[] = []
  const note = (signal: AbortSignal) => void signals.push(signal)
  await client.within(async (signal) => note(signal))
  await expect(client.within(async (signal) => Promise.reject(note(signal)))).rejects.toBeUndefined()
  expect(vi.getTimerCount()).toBe(0)
  await vi.advanceTimersByTimeAsync(2 * DEADLINE_MS)
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false])
})

test('a finished wait removes its abort listener', async () => {
  await client.within(async (signal) => {
    const left = vi.spyOn(signal, 'removeEventListener')
    expect(await withinDeadline(Promise.resolve('answer'), signal)).toBe('answer')
    await Promise.resolve()
    expect(left).toHaveBeenCalledWith('abort', expect.any(Function))
  })
})
