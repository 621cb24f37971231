// Three members of which one fails: what is acknowledged is there, what is refused is not, and work goes on.

import {
  absent,
  put,
  recordWatch,
  unconditionally,
  under,
  write,
} from '@holdfast/simulation/conformance/fixtures'
import {
  type EtcdCluster,
  freePort,
  startChaosProxy,
  startEtcd,
  uniquePrefix,
  waitUntil,
} from '@holdfast/testkit'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { EngineError, type KeyValueEngine } from '../../ports/key-value.ts'
import { createEtcdClient, type EtcdClientOptions } from './create-etcd-client.ts'

let cluster: EtcdCluster

beforeEach(async () => {
  cluster = await startEtcd({ members: 3 })
})
afterEach(() => cluster.stop())

function clientOf(options: Partial<EtcdClientOptions> = {}): KeyValueEngine {
  const engine = createEtcdClient({ endpoints: cluster.endpoints, ...options })
  onTestFinished(() => engine.close())
  return engine
}

/** The client begins with the first. */
async function leaderFirst(): Promise<string[]> {
  const { endpoint } = await cluster.findLeader()
  return [endpoint, ...cluster.endpoints.filter((one) => one !== endpoint)]
}

type Verdict = 'acknowledged' | EngineError['applied']

/** Creates keys one after another until `done`; what became of each of them. */
async function createUntil(
  engine: KeyValueEngine,
  prefix: string,
  done: () => boolean,
): Promise<Map<string, Verdict>> {
  const verdicts = new Map<string, Verdict>()
  while (!done()) {
    const key = `${prefix}${verdicts.size}/`
    const request = { compares: [absent(key)], success: [put(key)], failure: [] }
    verdicts.set(
      key,
      await engine.transact(request, { deadlineMs: 3_000 }).then(
        ({ succeeded }): Verdict => (succeeded ? 'acknowledged' : 'no'),
        (error: EngineError) => error.applied,
      ),
    )
  }
  return verdicts
}

/** Acknowledged keys were written once, refused ones never; of the others it may be either. */
async function expectHonest(
  engine: KeyValueEngine,
  prefix: string,
  verdicts: Map<string, Verdict>,
): Promise<void> {
  const { kvs } = await engine.range(under(prefix), { deadlineMs: 10_000 })
  const stored = new Set(kvs.map((kv) => kv.key))
  for (const [key, verdict] of verdicts) {
    if (verdict === 'acknowledged') expect(stored).toContain(key)
    if (verdict === 'no') expect(stored).not.toContain(key)
  }
  expect(new Set(kvs.map((kv) => kv.version))).toEqual(new Set([1]))
}

describe('losing the leader', () => {
  test.each(['kill', 'pause'] as const)(
    '%s: no acknowledged write is lost, none is made twice',
    async (fault) => {
      const watchPulse = { quietMs: 1_000, patienceMs: 1_000 }
      const engine = clientOf({ endpoints: await leaderFirst(), watchPulse })
      const prefix = uniquePrefix()
      const watch = recordWatch(engine, under(prefix), await write(engine, `${prefix}first/`))
      let done = false
      const workers = Array.from({ length: 8 }, (_, nth) =>
        createUntil(engine, `${prefix}${nth}/`, () => done),
      )
      await waitUntil(() => watch.events().length > 20, { what: 'writes are under way' })
      await (await cluster.findLeader())[fault]()
      const before = watch.events().length
      await waitUntil(() => watch.events().length > before + 100, { what: 'writes go on' })
      done = true
      const verdicts = new Map((await Promise.all(workers)).flatMap((one) => [...one]))
      await expectHonest(engine, prefix, verdicts)
      const { kvs } = await engine.range(under(prefix))
      await waitUntil(() => watch.events().length >= kvs.length, { what: 'the watch has told all' })
      const told = watch.events().map((event) => event.kv.key)
      expect(told.sort()).toEqual(kvs.map((kv) => kv.key).sort())
    },
  )

  test('a paused member holds up only what was sent to it', async () => {
    const engine = clientOf({ endpoints: await leaderFirst() })
    await write(engine, uniquePrefix())
    const leader = await cluster.findLeader()
    leader.pause()
    const held = engine.transact(unconditionally(put(uniquePrefix())), { deadlineMs: 4_000 })
    const verdict = held.catch((error: EngineError) => [error.reason, error.applied])
    const [key, since] = [uniquePrefix(), performance.now()]
    await waitUntil(() => engine.transact(unconditionally(put(key)), { deadlineMs: 1_500 }), {
      what: 'another member takes a write',
    })
    // Never, if it waited for the paused one; an election on a busy machine takes its time.
    expect(performance.now() - since).toBeLessThan(20_000)
    expect(await verdict).toEqual(['deadline', 'unknown'])
  })

  test('a read goes on to another member within its deadline', async () => {
    const followerFirst = (await leaderFirst()).reverse()
    const engine = clientOf({ endpoints: followerFirst })
    const key = uniquePrefix()
    await write(engine, key, 'x')
    cluster.members.find((member) => member.endpoint === followerFirst[0])?.pause()
    expect(await engine.range({ key }, { deadlineMs: 10_000 })).toMatchObject({ count: 1 })
  })

  test('without a majority a write is refused, and is not made later', async () => {
    const [survivor, ...others] = cluster.members
    const engine = clientOf({ endpoints: [survivor?.endpoint ?? ''] })
    const prefix = uniquePrefix()
    await write(engine, `${prefix}before/`)
    for (const member of others) await member.kill()
    const refused = () => engine.transact(unconditionally(put(`${prefix}during/`)), { deadlineMs: 2_000 })
    // At first the member still believes in its leader, and nobody knows; then it refuses outright.
    const last = await waitUntil(
      async () => {
        const error = await refused().catch((reason: EngineError) => reason)
        return error instanceof EngineError && error.applied === 'no' ? error : undefined
      },
      { what: 'the member knows that it has no leader' },
    )
    expect(last).toMatchObject({ reason: 'unavailable', applied: 'no' })
  })
})

describe('reaching a member', () => {
  test('an endpoint where nobody listens is passed over, for writes too', async () => {
    const engine = clientOf({ endpoints: [`http://127.0.0.1:${await freePort()}`, ...cluster.endpoints] })
    expect(await engine.transact(unconditionally(put(uniquePrefix())))).toMatchObject({ succeeded: true })
  })

  test('with nobody anywhere a write is certainly not made', async () => {
    const engine = clientOf({ endpoints: [`http://127.0.0.1:${await freePort()}`], deadlineMs: 500 })
    const failure = { reason: 'unavailable', applied: 'no' }
    await expect(engine.transact(unconditionally(put(uniquePrefix())))).rejects.toMatchObject(failure)
    await expect(engine.range({ key: '/a/' })).rejects.toMatchObject(failure)
    expect(await engine.status()).toEqual([])
  })

  test('a connection that leads nowhere is replaced after one deadline', async () => {
    const { hostname, port } = new URL(cluster.endpoints[0] ?? '')
    const proxy = await startChaosProxy(hostname, Number(port))
    onTestFinished(() => proxy.stop())
    // As long as a slow disk may need for the writes that succeed.
    const engine = clientOf({ endpoints: [`http://${proxy.host}:${proxy.port}`], deadlineMs: 4_000 })
    await write(engine, uniquePrefix())
    proxy.halfOpen()
    await expect(write(engine, uniquePrefix())).rejects.toMatchObject({
      reason: 'deadline',
      applied: 'unknown',
    })
    expect(await write(engine, uniquePrefix())).toBeGreaterThan(0)
  })

  test('a write whose answer is cut off is never sent again, and nobody knows', async () => {
    const { hostname, port } = new URL(cluster.endpoints[0] ?? '')
    const proxy = await startChaosProxy(hostname, Number(port))
    onTestFinished(() => proxy.stop())
    const direct = clientOf()
    const verdicts: Verdict[] = []
    const key = uniquePrefix()
    for (let round = 0; round < 20; round += 1) {
      const through = clientOf({ endpoints: [`http://${proxy.host}:${proxy.port}`, ...cluster.endpoints] })
      await through.range({ key })
      proxy.cutAfterBytes(1 + Math.floor(Math.random() * 40), 'toClient')
      const sent = through.transact(unconditionally(put(key)))
      verdicts.push(
        await sent.then(
          (): Verdict => 'acknowledged',
          (error: EngineError) => error.applied,
        ),
      )
      proxy.resume()
    }
    const version = (await direct.range({ key })).kvs[0]?.version ?? 0
    const certain = verdicts.filter((one) => one === 'acknowledged').length
    const open = verdicts.filter((one) => one === 'unknown').length
    expect(open).toBeGreaterThan(0)
    expect(version).toBeGreaterThanOrEqual(certain)
    expect(version).toBeLessThanOrEqual(certain + open)
  })
})

test('status names each member that answers, its size and the leader', async () => {
  const engine = clientOf()
  const [down] = cluster.members
  const revision = await write(engine, uniquePrefix(), 'x'.repeat(1000))
  const all = await engine.status()
  expect(all.map((one) => one.endpoint)).toEqual(cluster.endpoints)
  expect(all.filter((one) => one.leader)).toHaveLength(1)
  expect(Math.max(...all.map((one) => one.revision))).toBe(revision)
  for (const one of all) expect(one).toMatchObject({ alarms: [], dbSizeBytes: expect.any(Number) })
  expect(all.every((one) => one.dbSizeBytes >= one.dbSizeInUseBytes && one.dbSizeInUseBytes > 0)).toBe(true)
  await down?.kill()
  expect((await engine.status()).map((one) => one.endpoint)).toEqual(cluster.endpoints.slice(1))
})
