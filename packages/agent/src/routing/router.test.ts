// How the router is kept, told apart from the router itself: whom a router that is away holds up, what may still be led to,
// and how long a drain takes.

import { setTimeout as pause } from 'node:timers/promises'
import { type DeploymentUid, decode, routedDeploymentShape } from '@holdfast/contract'
import pino from 'pino'
import { expect, test } from 'vitest'
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
  deployment: DEPLOYMENT,
  run,
  address: ADDRESS,
  state: 'serves',
})

function newRouter(over: Partial<RouterAdmin> = {}) {
  const led: (readonly string[])[] = []
  const lines: string[] = []
  const clock = { ms: 0, replicas: [serving('a')] }
  const admin: RouterAdmin = {
    readLeads: async () => new Map(),
    async lead([web]) {
      led.push(web?.local ?? [])
    },
    load: async () => {},
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
  return { router, admin, led, lines, clock }
}
const took = async (work: Promise<void>): Promise<number> => {
  const begun = performance.now()
  await work
  return performance.now() - begun
}

test('a router that hangs is waited for once; then it is known to be away', async () => {
  const hanging = async (): Promise<void> => {
    await pause(400)
    throw new RouterError('unavailable', 'no answer')
  }
  const { router, led } = newRouter({ load: hanging })
  expect(await took(router.applied(2000))).toBeGreaterThan(350)
  for (let count = 0; count < 3; count += 1) expect(await took(router.applied(2000))).toBeLessThan(200)
  expect(led.at(-1)).toEqual([ADDRESS])
  router.close()
})

test('until it was read where requests are led, every address may be led to', async () => {
  const read = Promise.withResolvers<ReadonlyMap<string, readonly string[]>>()
  const { router } = newRouter({ readLeads: () => read.promise })
  expect(router.ledLately('10.208.0.9')).toBe(true)
  read.resolve(new Map())
  await router.applied(1000)
  expect([router.ledLately('10.208.0.9'), router.ledLately(ADDRESS)]).toEqual([false, true])
  router.close()
})

test('an address is led to lately for as long as a request that looked before may still try it', async () => {
  const { router, clock } = newRouter()
  await router.applied(1000)
  await router.withdraw(ADDRESS, 'a', 1000)
  clock.ms += 29_000
  expect(router.ledLately(ADDRESS)).toBe(true)
  clock.ms += 1000
  expect(router.ledLately(ADDRESS)).toBe(false)
  router.close()
})

test('one that was withdrawn, stopped and started again is led to again', async () => {
  const { router, led, clock } = newRouter()
  const [first, second] = ['1', '2'].map((startedAt) => runOf({ id: 'c', startedAt }))
  clock.replicas = [serving(first ?? '')]
  await router.applied(1000)
  await router.withdraw(ADDRESS, first ?? '', 1000)
  expect(led.at(-1)).toEqual([])
  clock.replicas = [serving(second ?? '')]
  await router.applied(1000)
  expect(led.at(-1)).toEqual([ADDRESS])
  router.close()
})

test('a disk that takes nothing is told of once, and once that it does again', async () => {
  const full = { now: true }
  const { router, lines } = newRouter({
    lead: () => (full.now ? Promise.reject(new Error('ENOSPC')) : Promise.resolve()),
  })
  for (let count = 0; count < 4; count += 1) await router.applied(1000)
  expect(lines.filter((line) => line.includes('ENOSPC'))).toHaveLength(1)
  full.now = false
  await router.applied(1000)
  expect(lines.filter((line) => line.includes('told again'))).toHaveLength(1)
  router.close()
})

test('what an agent before us withdrew is waited for as well', async () => {
  const counts = { asked: 0, busy: 3 }
  const { router, admin } = newRouter({
    async requestsInFlight() {
      counts.asked += 1
      return new Map(counts.asked <= counts.busy ? [['10.208.0.9:80', 1]] : [])
    },
  })
  await router.applied(1000)
  const engine = { inspectContainer: async () => ({ id: 'b', startedAt: '1', address: '10.208.0.9' }) }
  const drain = createDrain({ engine, router, admin })
  await drain('b', 2000)
  expect(counts.asked).toBe(4)
  expect(await took(drain('b', 2000))).toBeLessThan(40)
  router.close()
})

test('a drain ends when nothing was in flight for a while; one answer that is missing is no end', async () => {
  const counts = { asked: 0, busy: 0 }
  const { router, admin } = newRouter({
    async requestsInFlight() {
      counts.asked += 1
      counts.busy -= 1
      if (counts.busy === 1) throw new RouterError('unavailable', 'closed')
      return new Map(counts.busy >= 0 ? [[`${ADDRESS}:80`, 1]] : [])
    },
  })
  await router.applied(1000)
  const engine = { inspectContainer: async () => ({ id: 'a', startedAt: '1', address: ADDRESS }) }
  const drain = createDrain({ engine, router, admin })
  expect(await took(drain('a', 2000))).toBeGreaterThan(240)
  const before = counts.asked
  counts.busy = 3
  await drain('a', 5000)
  expect(counts.asked - before).toBeGreaterThan(5)
  counts.busy = Number.POSITIVE_INFINITY
  expect(await took(drain('a', 1000))).toBeGreaterThan(990)
  router.close()
})
