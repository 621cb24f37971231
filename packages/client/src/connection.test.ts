// A wait leaves nothing behind on a signal that outlives it.

import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { realWorld } from './connection.ts'

test('a wait that is over listens no more', async () => {
  const { signal } = new AbortController()
  await realWorld.wait(1, signal)
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test('a wait is given up when the signal fires, or has fired', async () => {
  const giver = new AbortController()
  const waiting = realWorld.wait(60_000, giver.signal)
  giver.abort('enough')
  await expect(waiting).rejects.toBe('enough')
  await expect(realWorld.wait(60_000, giver.signal)).rejects.toBe('enough')
})
