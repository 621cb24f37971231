// Conformance tests of watches: each event of the range once, in order, in whole revisions; bookmarks; compacted history.

import type { KeyRange, KeyValueEngine } from '@holdfast/server/ports/key-value'
import { uniquePrefix, waitUntil } from '@holdfast/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { put, type RecordingWatch, recordWatch, unconditionally, under, write } from './fixtures.ts'

export function describeWatches(engine: () => KeyValueEngine): void {
  const start = (range: KeyRange, startRevision: number): RecordingWatch => {
    const watch = recordWatch(engine(), range, startRevision)
    onTestFinished(() => watch.close())
    return watch
  }

  describe('watch', () => {
    test('delivers the past from the start revision, then the present, in order', async () => {
      const prefix = uniquePrefix()
      await write(engine(), `${prefix}a/`, 'too early')
      const from = await write(engine(), `${prefix}a/`, '1')
      await write(engine(), `${prefix}b/`, '2')
      const watch = start(under(prefix), from)
      await waitUntil(() => watch.events().length === 2, { what: 'the past has arrived' })
      await engine().transact(unconditionally({ kind: 'delete', key: `${prefix}a/` }))
      const last = await write(engine(), `${prefix}b/`, '3')
      await waitUntil(() => watch.batches.at(-1)?.revision === last, { what: 'the present has arrived' })
      expect(watch.story()).toEqual([
        `put ${prefix}a/=1`,
        `put ${prefix}b/=2`,
        `delete ${prefix}a/`,
        `put ${prefix}b/=3`,
      ])
    })

    test('a delete carries its key and its revision', async () => {
      const key = uniquePrefix()
      const created = await write(engine(), key, 'x')
      const watch = start({ key }, created + 1)
      const { revision } = await engine().transact(unconditionally({ kind: 'delete', key }))
      await waitUntil(() => watch.events().length === 1, { what: 'the delete has arrived' })
      expect(watch.batches).toMatchObject([
        { revision, events: [{ kind: 'delete', kv: { key, modRevision: revision } }] },
      ])
    })

    test('delivers nothing of keys outside the range', async () => {
      const prefix = uniquePrefix()
      const from = await write(engine(), `${prefix}a/outside/`)
      const watch = start(under(`${prefix}b/`), from)
      await write(engine(), `${prefix}c/outside/`)
      const last = await write(engine(), `${prefix}b/inside/`, '!')
      await waitUntil(() => watch.batches.at(-1)?.revision === last, { what: 'the event has arrived' })
      expect(watch.story()).toEqual([`put ${prefix}b/inside/=!`])
    })

    test('the events of one revision arrive together', async () => {
      const prefix = uniquePrefix()
      const from = (await write(engine(), `${prefix}first/`)) + 1
      const watch = start(under(prefix), from)
      const names = Array.from({ length: 100 }, (_, index) => `${prefix}${index}/`)
      const { revision } = await engine().transact(unconditionally(...names.map((name) => put(name))))
      await waitUntil(() => watch.batches.length > 0, { what: 'the batch has arrived' })
      expect(watch.batches.map((batch) => [batch.revision, batch.events.length])).toEqual([[revision, 100]])
    })

    test('two watches are independent; a closed one receives nothing more', async () => {
      const prefix = uniquePrefix()
      const from = (await write(engine(), prefix)) + 1
      const [open, shut] = [start(under(prefix), from), start(under(prefix), from)]
      await write(engine(), `${prefix}a/`)
      await waitUntil(() => open.events().length === 1 && shut.events().length === 1, {
        what: 'both received the event',
      })
      shut.close()
      await write(engine(), `${prefix}b/`)
      await waitUntil(() => open.events().length === 2, { what: 'the open one received the event' })
      expect(shut.events()).toHaveLength(1)
    })

    describeBookmarks(engine, start)
    describeCompaction(engine, start)
  })
}

type Start = (range: KeyRange, startRevision: number) => RecordingWatch

function describeBookmarks(engine: () => KeyValueEngine, start: Start): void {
  test('a bookmark reports how far a watch is, also when nothing has happened in its range', async () => {
    const elsewhere = await write(engine(), uniquePrefix())
    const watch = start(under(uniquePrefix()), elsewhere)
    watch.requestProgress()
    await waitUntil(() => watch.progress.length > 0, { what: 'the bookmark has arrived' })
    expect(watch.progress.at(-1)).toBeGreaterThanOrEqual(elsewhere)
    expect(watch.batches).toEqual([])
  })

  test('a bookmark arrives on an idle store, from a watch that starts after its last revision', async () => {
    const revision = await write(engine(), uniquePrefix())
    const watch = start(under(uniquePrefix()), revision + 1)
    watch.requestProgress()
    await waitUntil(() => watch.progress.includes(revision), { what: 'the bookmark has arrived' })
  })

  test('a bookmark never runs ahead of the events before it', async () => {
    const prefix = uniquePrefix()
    const from = await write(engine(), `${prefix}0/`)
    const writes = (async () => {
      for (let index = 1; index <= 200; index += 1) await write(engine(), `${prefix}${index}/`)
    })()
    for (let round = 0; round < 20; round += 1) {
      const received: number[] = []
      const watch = engine().watch({
        ...under(prefix),
        startRevision: from,
        onEvents: (events) => received.push(...events.map((event) => event.kv.modRevision)),
        onProgress: (revision) => received.push(revision + 0.5),
        onCompacted: () => {},
      })
      watch.requestProgress()
      await waitUntil(() => received.some((one) => one % 1 !== 0), {
        what: 'a bookmark has arrived',
        intervalMs: 2,
      })
      watch.close()
      expect(received).toEqual([...received].sort((a, b) => a - b))
    }
    await writes
  })
}

function describeCompaction(engine: () => KeyValueEngine, start: Start): void {
  test('a watch from before a compaction reports it once and ends', async () => {
    const key = uniquePrefix()
    const old = await write(engine(), key)
    const now = await write(engine(), key)
    await engine().compact(now)
    const watch = start({ key }, old)
    await waitUntil(() => watch.compacted.length > 0, { what: 'the watch reports the compaction' })
    await write(engine(), key)
    expect([watch.compacted, watch.batches]).toEqual([[now], []])
  })

  test('a watch that starts at the compacted revision still has its history', async () => {
    const key = uniquePrefix()
    await write(engine(), key, 'gone')
    const now = await write(engine(), key, 'kept')
    await engine().compact(now)
    const watch = start({ key }, now)
    await waitUntil(() => watch.events().length === 1, { what: 'the event has arrived' })
    expect([watch.compacted, watch.story()]).toEqual([[], [`put ${key}=kept`]])
  })

  test('a watch that has caught up survives a compaction', async () => {
    const key = uniquePrefix()
    const watch = start({ key }, await write(engine(), key, '1'))
    await waitUntil(() => watch.events().length === 1, { what: 'the first event has arrived' })
    await engine().compact(await write(engine(), uniquePrefix()))
    await write(engine(), key, '2')
    await waitUntil(() => watch.events().length === 2, { what: 'the second event has arrived' })
    expect(watch.compacted).toEqual([])
  })
}
