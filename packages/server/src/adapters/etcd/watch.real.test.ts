// Tests an etcd watch under every kind of stream fault: large catch-ups, fragments, cuts, silence, compaction.

import {
  put,
  type RecordingWatch,
  recordWatch,
  unconditionally,
  under,
  write,
} from '@holdfast/simulation/conformance/fixtures'
import {
  type ChaosProxy,
  type EtcdCluster,
  startChaosProxy,
  startEtcd,
  uniquePrefix,
  waitUntil,
} from '@holdfast/testkit'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { KeyValueEngine } from '../../ports/key-value.ts'
import { createEtcdClient, type EtcdClientOptions } from './create-etcd-client.ts'

/** Timeouts that are long enough for an etcd member that gets no processor time on a busy machine for a while. */
const PULSE = { quietMs: 300, answerMs: 1_500 }

let cluster: EtcdCluster
let direct: KeyValueEngine

beforeAll(async () => {
  // The small request limit makes etcd split its watch messages into fragments of 64 KB.
  cluster = await startEtcd({ flags: ['--max-request-bytes=65536'] })
  direct = createEtcdClient({ endpoints: cluster.endpoints })
})
afterAll(async () => {
  direct.close()
  await cluster.stop()
})

async function proxied(): Promise<ChaosProxy> {
  const { hostname, port } = new URL(cluster.endpoints[0] ?? '')
  const proxy = await startChaosProxy(hostname, Number(port))
  onTestFinished(() => proxy.stop())
  return proxy
}

const addressOf = (proxy: ChaosProxy) => `http://${proxy.host}:${proxy.port}`

function clientOf(options: EtcdClientOptions): { engine: KeyValueEngine; resumes: string[] } {
  const resumes: string[] = []
  const log = { warn: (fields: object) => resumes.push(JSON.stringify(fields)) }
  const engine = createEtcdClient({ watchPulse: PULSE, ...options, log })
  onTestFinished(() => engine.close())
  return { engine, resumes }
}

const caughtUp = (watch: RecordingWatch, revision: number, timeoutMs = 30_000) =>
  waitUntil(() => watch.batches.at(-1)?.revision === revision, {
    what: `revision ${revision} has arrived`,
    timeoutMs,
  })

/** Writes revisions of `size` events each; the last event of each revision marks the revision as complete. */
async function writeRevisions(prefix: string, count: number, size: number, value: string): Promise<number> {
  let last = 0
  for (let index = 0; index < count; index += 1) {
    const writes = Array.from({ length: size }, (_, nth) => put(`${prefix}${nth}/`, value))
    last = (await direct.transact(unconditionally(...writes))).revision
  }
  return last
}

function expectWholeHistory(watch: RecordingWatch, first: number, last: number, size: number): void {
  const delivered = watch.events().map((event) => event.kv.modRevision)
  const expected = Array.from(
    { length: (last - first + 1) * size },
    (_, index) => first + Math.floor(index / size),
  )
  expect(delivered).toEqual(expected)
  for (const { events } of watch.batches) expect(events.length % size).toBe(0)
}

describe('a watch that catches up', () => {
  test('delivers a history of more than 4 MiB completely, in fragments that split revisions', async () => {
    const prefix = uniquePrefix()
    const first = (await write(direct, uniquePrefix())) + 1
    const last = await writeRevisions(prefix, 200, 7, 'x'.repeat(4_000))
    const { engine, resumes } = clientOf({ endpoints: cluster.endpoints })
    const watch = recordWatch(engine, under(prefix), first)
    await caughtUp(watch, last)
    expectWholeHistory(watch, first, last, 7)
    expect(resumes).toEqual([])
  })
})

describe('a watch over a broken stream', () => {
  test('delivers everything once when cut at arbitrary bytes again and again', async () => {
    const proxy = await proxied()
    const { engine, resumes } = clientOf({ endpoints: [addressOf(proxy)] })
    const prefix = uniquePrefix()
    const first = (await write(direct, uniquePrefix())) + 1
    const watch = recordWatch(engine, under(prefix), first)
    let last = await writeRevisions(prefix, 1, 5, 'x'.repeat(3_000))
    for (let round = 1; round <= 25; round += 1) {
      await caughtUp(watch, last)
      proxy.cutAfterBytes(1 + Math.floor(Math.random() * 80_000), 'toClient')
      while (resumes.length < round) last = await writeRevisions(prefix, 1, 5, 'x'.repeat(3_000))
    }
    proxy.resume()
    await caughtUp(watch, last)
    expectWholeHistory(watch, first, last, 5)
  })

  test.each(['stall', 'halfOpen'] as const)('notices a %s by its silence', async (fault) => {
    const [broken, sound] = [await proxied(), await proxied()]
    const { engine, resumes } = clientOf({ endpoints: [addressOf(broken), addressOf(sound)] })
    const prefix = uniquePrefix()
    const watch = recordWatch(engine, under(prefix), await write(direct, `${prefix}a/`))
    await waitUntil(() => watch.events().length === 1, { what: 'the watch runs' })
    broken[fault]()
    await caughtUp(watch, await write(direct, `${prefix}b/`))
    expect(watch.story()).toEqual([`put ${prefix}a/=`, `put ${prefix}b/=`])
    expect(resumes).toEqual([expect.stringContaining('no answer to a progress request')])
  })

  test('keeps a quiet stream open', async () => {
    const { engine, resumes } = clientOf({ endpoints: cluster.endpoints })
    const watch = recordWatch(engine, under(uniquePrefix()), await write(direct, uniquePrefix()))
    await waitUntil(() => watch.progress.length >= 3, { what: 'silence was broken three times' })
    expect(resumes).toEqual([])
  })

  test('notices silence equally soon after many reconnections', async () => {
    const proxy = await proxied()
    const { engine, resumes } = clientOf({ endpoints: [addressOf(proxy)] })
    const prefix = uniquePrefix()
    const watch = recordWatch(engine, under(prefix), await write(direct, `${prefix}a/`))
    await waitUntil(() => watch.events().length === 1, { what: 'the watch runs' })
    proxy.refuseNew()
    proxy.cutAll()
    await waitUntil(() => resumes.length >= 5, { what: 'it was tried a few times' })
    proxy.resume()
    await caughtUp(watch, await write(direct, `${prefix}b/`))
    const before = resumes.length
    proxy.stall()
    // The five failed connections must not lengthen the timeout for silence; otherwise 8 s would not be enough.
    await waitUntil(() => resumes.length > before, { what: 'the silence is noticed', timeoutMs: 8_000 })
    expect(resumes.at(-1)).toContain('no answer to a progress request')
  })

  test('does not wait longer for a stream that was cut often and delivered nothing', async () => {
    const proxy = await proxied()
    const { engine, resumes } = clientOf({ endpoints: [addressOf(proxy)] })
    proxy.refuseNew()
    recordWatch(engine, under(uniquePrefix()), await write(direct, uniquePrefix()))
    await waitUntil(() => resumes.length >= 5, { what: 'it was tried a few times' })
    proxy.resume()
    proxy.stall()
    const silent = () => resumes.some((reason) => reason.includes('no answer to a progress request'))
    await waitUntil(silent, { what: 'the silence is noticed', timeoutMs: 9_000 })
  })

  test('reconnects to a member that was away for long', async () => {
    const proxy = await proxied()
    const { engine, resumes } = clientOf({ endpoints: [addressOf(proxy)] })
    const prefix = uniquePrefix()
    const watch = recordWatch(engine, under(prefix), await write(direct, `${prefix}a/`))
    await waitUntil(() => watch.events().length === 1, { what: 'the watch runs' })
    proxy.refuseNew()
    proxy.cutAll()
    const last = await write(direct, `${prefix}b/`)
    await waitUntil(() => resumes.length >= 4, { what: 'it was tried a few times' })
    proxy.resume()
    await caughtUp(watch, last)
    expect(watch.events()).toHaveLength(2)
  })
})

describe('compaction while disconnected', () => {
  async function disconnected() {
    const proxy = await proxied()
    const { engine } = clientOf({ endpoints: [addressOf(proxy)] })
    const key = uniquePrefix()
    const watch = recordWatch(engine, { key }, await write(direct, key, '1'))
    await waitUntil(() => watch.events().length === 1, { what: 'the watch runs' })
    proxy.refuseNew()
    proxy.cutAll()
    return { proxy, key, watch }
  }

  test('reports that undelivered events are gone and ends the watch', async () => {
    const { proxy, key, watch } = await disconnected()
    await write(direct, key, '2')
    const compacted = await write(direct, key, '3')
    await direct.compact(compacted)
    proxy.resume()
    await waitUntil(() => watch.compacted.length > 0, { what: 'the watch reports the compaction' })
    expect([watch.compacted, watch.events().length]).toEqual([[compacted], 1])
  })

  test('loses nothing when history up to the next revision is compacted', async () => {
    const { proxy, key, watch } = await disconnected()
    const next = await write(direct, key, '2')
    await direct.compact(next)
    proxy.resume()
    await caughtUp(watch, next)
    expect([watch.compacted, watch.story()]).toEqual([[], [`put ${key}=1`, `put ${key}=2`]])
  })
})
