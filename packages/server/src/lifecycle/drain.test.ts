import { expect, test } from 'vitest'
import { drain } from './drain.ts'

/** A server that notes its calls with the time since the first one. */
function recorder() {
  const calls: { call: string; at: number }[] = []
  const note = (call: string): void => void calls.push({ call, at: performance.now() })
  const server = {
    announceStop: () => note('announce'),
    close: async (spreadMs = 0) => note(`close ${spreadMs}`),
  }
  const names = () => calls.map(({ call }) => call)
  const waitedMs = () => (calls[1]?.at ?? 0) - (calls[0]?.at ?? 0)
  return { server, names, waitedMs }
}

const UNHURRIED = new AbortController().signal

test('readiness fails for the time of the drain before the server closes', async () => {
  const { server, names, waitedMs } = recorder()
  await drain(server, 80, UNHURRIED)
  expect(names()).toEqual(['announce', 'close 80'])
  // A timer may fire a fraction of a millisecond early.
  expect(waitedMs()).toBeGreaterThan(78)
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
