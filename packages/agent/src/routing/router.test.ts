// The router's state apart from Caddy: which callers wait for an unavailable router, which addresses may still be routed
// to, and how long a drain takes.

import { setTimeout as pause } from 'node:timers/promises'
import {
  asAssignmentId,
  type DeploymentUid,
  decode,
  ownerOf,
  routedDeploymentShape,
} from '@holdfast/contract'
import { waitUntil } from '@holdfast/testkit'
import pino from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type RouterAdmin, RouterError } from '../ports/router.ts'
import { createDrain } from './drain.ts'
import { type LocalReplica, runOf } from './plan-backends.ts'
import { startRouter } from './router.ts'

const DEPLOYMENT = 'dep_1' as unknown as DeploymentUid
const TABLE = [
  decode(routedDeploymentShape, {
    deployment: DEPLOYMENT,
    name: 'web',
    routes: [{ host: 'web.test', path: '/', port: 80 }],
    peers: [],
  }),
]
const ADDRESS = '10.208.0.2'
const serving = (run: string): LocalReplica => ({
  owner: ownerOf('deployment', DEPLOYMENT),
  assignmentId: asAssignmentId('rep_1'),
  run,
  address: ADDRESS,
  state: 'serves',
})

function newRouter(over: Partial<RouterAdmin> = {}) {
  const upstreams: (readonly string[])[] = []
  const lines: string[] = []
  const clock = { ms: 0, replicas: [serving('a')] }
  const admin: RouterAdmin = {
    readUpstreams: async () => new Map(),
    async writeUpstreams([web]) {
      upstreams.push(web?.local ?? [])
    },
    load: async () => {},
    probe: async () => true,
    requestsInFlight: async () => new Map(),
    ...over,
  }
  const router = startRouter({
    admin,
    table: () => TABLE,
    replicas: () => clock.replicas,
    monotonicMs: () => clock.ms,
    log: pino({}, { write: (line: string) => lines.push(line) }),
  })
  return { router, admin, upstreams, lines, clock }
}
/** A time that is longer than a test may take, so that a test that waits for it fails. */
const FOREVER_MS = 600_000
function settling(done: Promise<void>) {
  const watched = { settled: false }
  void done.then(() => {
    watched.settled = true
  })
  return watched
}
test('the first update waits for a hanging router, and later ones treat it as unavailable', async () => {
  const pending: ((error: Error) => void)[] = []
  const hanging = (): Promise<void> => new Promise((_, reject) => pending.push(reject))
  const { router, upstreams } = newRouter({ load: hanging })
  const first = settling(router.applied(FOREVER_MS))
  await waitUntil(() => pending.length > 0, { what: 'the router is updated' })
  await pause(0)
  expect(first.settled).toBe(false)
  const failPending = (): boolean => {
    for (const reject of pending.splice(0)) reject(new RouterError('unavailable', 'no answer'))
    return first.settled
  }
  await waitUntil(failPending, { what: 'the update was awaited' })
  // The router still does not answer, but after its first failure callers no longer wait for it.
  for (let count = 0; count < 3; count += 1) await router.applied(FOREVER_MS)
  await waitUntil(() => pending.length > 0, { what: 'it is updated again' })
  await router.applied(FOREVER_MS)
  expect(upstreams.at(-1)).toEqual([ADDRESS])
  router.close()
})

test('every address may be routed to until the upstreams are read', async () => {
  const read = Promise.withResolvers<ReadonlyMap<string, readonly string[]>>()
  const { router } = newRouter({ readUpstreams: () => read.promise })
  expect(router.routedLately('10.208.0.9')).toBe(true)
  read.resolve(new Map())
  await router.applied(1000)
  expect([router.routedLately('10.208.0.9'), router.routedLately(ADDRESS)]).toEqual([false, true])
  router.close()
})

test('an address is in use for as long as an earlier request may still try it', async () => {
  const { router, clock } = newRouter()
  await router.applied(1000)
  await router.withdraw(ADDRESS, 'a', 1000)
  clock.ms += 29_000
  expect(router.routedLately(ADDRESS)).toBe(true)
  clock.ms += 1000
  expect(router.routedLately(ADDRESS)).toBe(false)
  router.close()
})

test('a replica that was withdrawn, stopped and restarted is routed to again', async () => {
  const { router, upstreams, clock } = newRouter()
  const [first, second] = ['1', '2'].map((startedAt) => runOf({ id: 'c', startedAt }))
  clock.replicas = [serving(first ?? '')]
  await router.applied(1000)
  await router.withdraw(ADDRESS, first ?? '', 1000)
  expect(upstreams.at(-1)).toEqual([])
  clock.replicas = [serving(second ?? '')]
  await router.applied(1000)
  expect(upstreams.at(-1)).toEqual([ADDRESS])
  router.close()
})

test('a failed write of upstreams is logged once, and its recovery once', async () => {
  const full = { now: true }
  const { router, lines } = newRouter({
    writeUpstreams: () => (full.now ? Promise.reject(new Error('ENOSPC')) : Promise.resolve()),
  })
  for (let count = 0; count < 4; count += 1) await router.applied(1000)
  expect(lines.filter((line) => line.includes('ENOSPC'))).toHaveLength(1)
  full.now = false
  await router.applied(1000)
  expect(lines.filter((line) => line.includes('succeeded again'))).toHaveLength(1)
  router.close()
})

test('a drain waits for requests to a replica that an earlier agent withdrew', async () => {
  const counts = { polls: 0, busy: 3 }
  const { router, admin } = newRouter({
    async requestsInFlight() {
      counts.polls += 1
      return new Map(counts.polls <= counts.busy ? [['10.208.0.9:80', 1]] : [])
    },
  })
  await router.applied(1000)
  const engine = { inspectContainer: async () => ({ id: 'b', startedAt: '1', address: '10.208.0.9' }) }
  const drain = createDrain({ engine, router, admin })
  await drain('b', 10_000)
  expect(counts.polls).toBe(4)
  // For a container without requests in flight, the router is polled only once.
  await drain('b', 10_000)
  expect(counts.polls).toBe(5)
  router.close()
})

test('a drain ends after a while without requests in flight, and a missing answer does not end it', async () => {
  // The only time that passes is 50 ms after each poll.
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const counts = { polls: 0, busy: 0 }
  const { router, admin } = newRouter({
    async requestsInFlight() {
      vi.advanceTimersByTime(50)
      counts.polls += 1
      counts.busy -= 1
      if (counts.busy === 1) throw new RouterError('unavailable', 'closed')
      return new Map(counts.busy >= 0 ? [[`${ADDRESS}:80`, 1]] : [])
    },
  })
  await router.applied(1000)
  const engine = { inspectContainer: async () => ({ id: 'a', startedAt: '1', address: ADDRESS }) }
  const drain = createDrain({ engine, router, admin })
  await drain('a', 2000)
  // The first poll is the beginning of 250 ms without a request.
  expect(counts.polls).toBe(6)
  counts.busy = 3
  await drain('a', 5000)
  // Two polls with a request in flight, one without an answer between them, and six in 250 ms without a request.
  expect(counts.polls).toBe(6 + 9)
  counts.busy = Number.POSITIVE_INFINITY
  await drain('a', 1000)
  expect(counts.polls).toBe(6 + 9 + 20)
  router.close()
})
