import { expect, test, vi } from 'vitest'
import { callWithFailover } from './call-with-failover.ts'
import type { Endpoint } from './endpoint-pool.ts'

test('does not send a request whose deadline has passed and reports it as not applied', async () => {
  const makeUnaryRequest = vi.fn()
  const endpoint = { name: 'a', client: { makeUnaryRequest } } as unknown as Endpoint
  const deps = {
    pool: { endpoints: [endpoint], acquire: async () => endpoint, leave: () => {}, close: () => {} },
    // The auth token arrives after 30 ms, later than the deadline of the call (5 ms), so the request must not be sent.
    authenticator: {
      token: async () => {
        await new Promise((resolve) => setTimeout(resolve, 30))
        return 'token'
      },
      discard: () => {},
    },
  }
  const asked = callWithFailover(deps, {
    method: '/etcdserverpb.KV/Txn',
    bytes: Buffer.alloc(0),
    decode: () => undefined,
    deadlineMs: 5,
    repeatable: false,
    needsLeader: true,
  })
  await expect(asked).rejects.toMatchObject({ reason: 'deadline', applied: 'no' })
  expect(makeUnaryRequest).not.toHaveBeenCalled()
})
