// Tests that the `wait` function of the default runtime rejects on abort and leaves no listeners.

import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { defaultRuntime } from './connection.ts'

test('a finished wait removes its abort listener', async () => {
  const { signal } = new AbortController()
  await defaultRuntime.wait(1, signal)
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test('a wait rejects when the signal aborts or is already aborted', async () => {
  const controller = new AbortController()
  const waiting = defaultRuntime.wait(60_000, controller.signal)
  controller.abort('enough')
  await expect(waiting).rejects.toBe('enough')
  await expect(defaultRuntime.wait(60_000, controller.signal)).rejects.toBe('enough')
})
