// A wait leaves nothing behind on a signal that outlives it.

import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { defaultRuntime } from './connection.ts'

test('a wait that is over listens no more', async () => {
  const { signal } = new AbortController()
  await defaultRuntime.wait(1, signal)
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test('a wait is given up when the signal fires, or has fired', async () => {
  const controller = new AbortController()
  const waiting = defaultRuntime.wait(60_000, controller.signal)
  controller.abort('enough')
  await expect(waiting).rejects.toBe('enough')
  await expect(defaultRuntime.wait(60_000, controller.signal)).rejects.toBe('enough')
})
