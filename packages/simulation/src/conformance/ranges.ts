// Conformance tests of reads: keys and values of a range, the revision of the answer, and pages.

import type { KeyValue, KeyValueEngine } from '@holdfast/server/ports/key-value'
import { listPages } from '@holdfast/server/store/cache/list-pages'
import { uniquePrefix } from '@holdfast/testkit'
import { describe, expect, test } from 'vitest'
import { bytesOf, put, textOf, unconditionally, under, write } from './fixtures.ts'

const keysOf = (kvs: readonly KeyValue[]) => kvs.map((kv) => kv.key)

async function writeLetters(engine: KeyValueEngine, prefix: string): Promise<number> {
  const letters = ['a', 'b', 'c', 'd', 'e']
  return (await engine.transact(unconditionally(...letters.map((one) => put(`${prefix}${one}/`, one)))))
    .revision
}

export function describeRanges(engine: () => KeyValueEngine): void {
  describe('range', () => {
    test('finds nothing under an unused prefix, at a revision', async () => {
      const found = await engine().range(under(uniquePrefix()))
      expect(found).toMatchObject({ kvs: [], more: false, count: 0, revision: expect.any(Number) })
      expect(found.revision).toBeGreaterThan(0)
    })

    test('shows when a key was created, when it changed and how often', async () => {
      const key = uniquePrefix()
      const created = await write(engine(), key, 'one')
      const changed = await write(engine(), key, 'two')
      const { kvs, count } = await engine().range({ key })
      expect(count).toBe(1)
      expect(kvs).toEqual([
        { key, value: expect.anything(), createRevision: created, modRevision: changed, version: 2 },
      ])
      expect(kvs.map((kv) => textOf(kv.value))).toEqual(['two'])
    })

    test('keeps every byte of a value and every character of a key', async () => {
      const key = `${uniquePrefix()}schlüssel-鍵-🔑/`
      const value = Uint8Array.from({ length: 70_000 }, (_, index) => index % 256)
      await engine().transact(unconditionally(put(key, value), put(`${key}empty/`)))
      const { kvs } = await engine().range(under(key))
      expect(keysOf(kvs)).toEqual([key, `${key}empty/`])
      expect(Buffer.compare(kvs[0]?.value ?? bytesOf('missing'), value)).toBe(0)
      expect(kvs[1]?.value).toHaveLength(0)
    })

    test('returns keys in order, up to a limit, and reports how many there are', async () => {
      const prefix = uniquePrefix()
      await writeLetters(engine(), prefix)
      const found = await engine().range({ ...under(prefix), limit: 2 })
      expect(keysOf(found.kvs)).toEqual([`${prefix}a/`, `${prefix}b/`])
      expect(found).toMatchObject({ more: true, count: 5 })
    })

    test('excludes the end of the range', async () => {
      const prefix = uniquePrefix()
      await writeLetters(engine(), prefix)
      const { kvs } = await engine().range({ key: `${prefix}b/`, rangeEnd: `${prefix}d/` })
      expect(keysOf(kvs)).toEqual([`${prefix}b/`, `${prefix}c/`])
    })

    test('returns keys alone or the count alone when asked to', async () => {
      const prefix = uniquePrefix()
      await writeLetters(engine(), prefix)
      const keys = await engine().range({ ...under(prefix), keysOnly: true })
      expect(keys.kvs.map((kv) => kv.value.length)).toEqual([0, 0, 0, 0, 0])
      expect(await engine().range({ ...under(prefix), countOnly: true })).toMatchObject({ kvs: [], count: 5 })
    })

    test('reads the past at a revision, and reports which revision the store has reached', async () => {
      const key = uniquePrefix()
      const then = await write(engine(), key, 'then')
      const now = await write(engine(), key, 'now')
      const past = await engine().range({ key, revision: then })
      expect(past.kvs.map((kv) => textOf(kv.value))).toEqual(['then'])
      expect(past.revision).toBeGreaterThanOrEqual(now)
    })

    test('answers a serializable read', async () => {
      const key = uniquePrefix()
      await write(engine(), key, 'here')
      expect(await engine().range({ key, serializable: true })).toMatchObject({ count: 1 })
    })

    describePages(engine)
  })
}

function describePages(engine: () => KeyValueEngine): void {
  test('returns one state over all pages although keys are written and deleted between them', async () => {
    const prefix = uniquePrefix()
    const names = Array.from({ length: 25 }, (_, index) => `${prefix}${String(index).padStart(3, '0')}/`)
    for (const name of names) await write(engine(), name, 'before')
    const seen: KeyValue[] = []
    const revisions = new Set<number>()
    for await (const page of listPages(engine(), under(prefix), 4)) {
      seen.push(...page.kvs)
      revisions.add(page.revision)
      await engine().transact(
        unconditionally(
          { kind: 'delete', ...under(`${prefix}020/`) },
          put(`${prefix}024/`, 'after'),
          put(`${prefix}${String(seen.length).padStart(3, '0')}-new/`, 'after'),
        ),
      )
    }
    expect(keysOf(seen)).toEqual(names)
    expect(new Set(seen.map((kv) => textOf(kv.value)))).toEqual(new Set(['before']))
    expect(revisions.size).toBe(1)
  })

  test('returns one empty page for an empty range', async () => {
    const pages = []
    for await (const page of listPages(engine(), under(uniquePrefix()))) pages.push(page)
    expect(pages).toMatchObject([{ kvs: [], more: false }])
  })
}
