import { expect, test } from 'vitest'
import { drain } from './drain.ts'

/** A server that notes its calls. */
function recorder() {
  const calls: string[] = []
  const note = (call: string): void => void calls.push(call)
  const server = {
    announceStop: () => note('announce'),
    close: async (spreadMs = 0) => note(`close ${spreadMs}`),
  }
  return { server, names: () => calls, note }
}

const UNHURRIED = new AbortController().signal

test('readiness fails for the time of the drain before the server closes', async () => {
  const { server, names, note } = recorder()
  setTimeout(() => note('nearly over'), 70)
  await drain(server, 80, UNHURRIED)
  expect(names()).toEqual(['announce', 'nearly over', 'close 80'])
})

test('a server without a time for the drain closes at once', async () => {
  const { server, names } = recorder()
  await drain(server, 0, UNHURRIED)
  expect(names()).toEqual(['announce', 'close 0'])
})

test('a second signal ends the wait', async () => {
  const { server, names } = recorder()
  const hurry = new AbortController()
  const drained = drain(server, 600_000, hurry.signal)
  expect(names()).toEqual(['announce'])
  hurry.abort()
  await drained
  expect(names()).toEqual(['announce', 'close 0'])
})
