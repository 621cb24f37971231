// Tests that after the failure of one of three etcd members no acknowledged write is lost and calls succeed again. The wire
// and the elections of etcd decide it.

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

/** The endpoints of the cluster, leader first, so that the client sends its first call to the leader. */
async function leaderFirst(): Promise<string[]> {
  const { endpoint } = await cluster.findLeader()
  return [endpoint, ...cluster.endpoints.filter((one) => one !== endpoint)]
}

type Verdict = 'acknowledged' | EngineError['applied']

/** Creates keys one after another until `done` and returns the outcome of each write. */
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

/** Checks that acknowledged keys were written once and refused keys never; keys with an unknown outcome may be either. */
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

describe('an etcd cluster that loses its leader', () => {
  test.each(['kill', 'pause'] as const)(
    '%s: no acknowledged write is lost, none is applied twice',
    async (fault) => {
      const watchPulse = { quietMs: 1_000, answerMs: 1_000 }
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
      await waitUntil(() => watch.events().length > before + 100, { what: 'writes continue' })
      done = true
      const verdicts = new Map((await Promise.all(workers)).flatMap((one) => [...one]))
      await expectHonest(engine, prefix, verdicts)
      const { kvs } = await engine.range(under(prefix))
      await waitUntil(() => watch.events().length >= kvs.length, { what: 'the watch has delivered all' })
      const delivered = watch.events().map((event) => event.kv.key)
      expect(delivered.sort()).toEqual(kvs.map((kv) => kv.key).sort())
    },
  )

  test('delays only the calls that were sent to a paused member', async () => {
    const engine = clientOf({ endpoints: await leaderFirst() })
    await write(engine, uniquePrefix())
    const leader = await cluster.findLeader()
    leader.pause()
    const held = engine.transact(unconditionally(put(uniquePrefix())), { deadlineMs: 4_000 })
    const verdict = held.catch((error: EngineError) => [error.reason, error.applied])
    const key = uniquePrefix()
    await waitUntil(() => engine.transact(unconditionally(put(key)), { deadlineMs: 1_500 }), {
      what: 'another member takes a write',
    })
    // The leader stays paused until then, so a write that waited for it would never end.
    expect(await verdict).toEqual(['deadline', 'unknown'])
  })

  test('retries a read on another member within its deadline', async () => {
    const followerFirst = (await leaderFirst()).reverse()
    const engine = clientOf({ endpoints: followerFirst })
    const key = uniquePrefix()
    await write(engine, key, 'x')
    cluster.members.find((member) => member.endpoint === followerFirst[0])?.pause()
    expect(await engine.range({ key }, { deadlineMs: 10_000 })).toMatchObject({ count: 1 })
  })

  test('rejects a write without a majority and never applies it later', async () => {
    const [survivor, ...others] = cluster.members
    const engine = clientOf({ endpoints: [survivor?.endpoint ?? ''] })
    const prefix = uniquePrefix()
    await write(engine, `${prefix}before/`)
    for (const member of others) await member.kill()
    const refused = () => engine.transact(unconditionally(put(`${prefix}during/`)), { deadlineMs: 2_000 })
    // The isolated member first assumes that it has a leader, so a write has an unknown outcome. Later it refuses writes.
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

describe('reaching an etcd member', () => {
  test('skips an endpoint that refuses connections, for writes too', async () => {
    const engine = clientOf({ endpoints: [`http://127.0.0.1:${await freePort()}`, ...cluster.endpoints] })
    expect(await engine.transact(unconditionally(put(uniquePrefix())))).toMatchObject({ succeeded: true })
  })

  test('reports a write as not applied when no member can be reached', async () => {
    const engine = clientOf({ endpoints: [`http://127.0.0.1:${await freePort()}`], deadlineMs: 500 })
    const failure = { reason: 'unavailable', applied: 'no' }
    await expect(engine.transact(unconditionally(put(uniquePrefix())))).rejects.toMatchObject(failure)
    await expect(engine.range({ key: '/a/' })).rejects.toMatchObject(failure)
    expect(await engine.status()).toEqual([])
  })

  test('replaces a dead connection after one deadline', async () => {
    const { hostname, port } = new URL(cluster.endpoints[0] ?? '')
    const proxy = await startChaosProxy(hostname, Number(port))
    onTestFinished(() => proxy.stop())
    // The deadline is long enough for successful writes on a slow disk.
    const engine = clientOf({ endpoints: [`http://${proxy.host}:${proxy.port}`], deadlineMs: 4_000 })
    await write(engine, uniquePrefix())
    proxy.halfOpen()
    await expect(write(engine, uniquePrefix())).rejects.toMatchObject({
      reason: 'deadline',
      applied: 'unknown',
    })
    expect(await write(engine, uniquePrefix())).toBeGreaterThan(0)
  })

  test('never resends a write whose response was cut off and reports its outcome as unknown', async () => {
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

test('lists each member that answers with its size and role', async () => {
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
