// Conformance tests of requests that a key-value engine rejects with a reason and without a change.

import type { KeyValueEngine } from '@holdfast/server/ports/key-value'
import { uniquePrefix } from '@holdfast/testkit'
import { describe, expect, test } from 'vitest'
import { put, unconditionally, under, write } from './fixtures.ts'

export function describeRefusals(engine: () => KeyValueEngine): void {
  describe('refusals', () => {
    const refused = (reason: string) => ({ name: 'EngineError', reason, applied: 'no' })

    test('one key written twice in a transaction', async () => {
      const prefix = uniquePrefix()
      const twice = unconditionally(
        put(`${prefix}other/`),
        put(`${prefix}same/`, '1'),
        put(`${prefix}same/`, '2'),
      )
      await expect(engine().transact(twice)).rejects.toMatchObject(refused('invalid'))
      expect(await engine().range(under(prefix))).toMatchObject({ count: 0 })
    })

    test('one key written by two nested transactions', async () => {
      const key = uniquePrefix()
      const inner = { kind: 'transaction', transaction: unconditionally(put(key)) } as const
      await expect(engine().transact(unconditionally(inner, inner))).rejects.toMatchObject(refused('invalid'))
    })

    test('more operations than a transaction may have', async () => {
      const prefix = uniquePrefix()
      const many = (count: number) =>
        unconditionally(...Array.from({ length: count }, (_, i) => put(`${prefix}${i}/`)))
      await expect(engine().transact(many(129))).rejects.toMatchObject(refused('invalid'))
      expect(await engine().transact(many(128))).toMatchObject({ succeeded: true })
    })

    test('a transaction above the limit in bytes', async () => {
      const key = uniquePrefix()
      const large = unconditionally(put(key, new Uint8Array(1_600_000)))
      await expect(engine().transact(large)).rejects.toMatchObject(refused('too_large'))
      const larger = unconditionally(put(key, new Uint8Array(5_000_000)))
      await expect(engine().transact(larger)).rejects.toMatchObject(refused('too_large'))
      expect(await engine().range({ key })).toMatchObject({ count: 0 })
    })

    test('an empty key', async () => {
      await expect(engine().range({ key: '' })).rejects.toMatchObject(refused('invalid'))
      await expect(engine().transact(unconditionally(put('')))).rejects.toMatchObject(refused('invalid'))
    })

    test('a revision that is none', async () => {
      const key = uniquePrefix()
      await expect(engine().range({ key, revision: 0.5 })).rejects.toMatchObject(refused('invalid'))
      await expect(engine().range({ key, revision: 2 ** 53 })).rejects.toMatchObject(refused('invalid'))
    })

    test('a revision of the future', async () => {
      const revision = (await write(engine(), uniquePrefix())) + 1_000_000
      await expect(engine().range({ key: uniquePrefix(), revision })).rejects.toMatchObject(
        refused('invalid'),
      )
    })

    test('a revision whose history is gone', async () => {
      const key = uniquePrefix()
      const old = await write(engine(), key)
      const now = await write(engine(), key)
      await engine().compact(now)
      await expect(engine().range({ key, revision: old })).rejects.toMatchObject(refused('compacted'))
      const reads = unconditionally({ kind: 'range', key, revision: old }, put(`${key}never/`))
      await expect(engine().transact(reads)).rejects.toMatchObject(refused('compacted'))
      await expect(engine().compact(old)).rejects.toMatchObject(refused('compacted'))
      expect(await engine().range({ key, revision: now })).toMatchObject({ count: 1 })
    })

    test('a watch that could not be resumed or could never fire', () => {
      const callbacks = { onEvents: () => {}, onProgress: () => {}, onCompacted: () => {} }
      const watch = (range: { key: string; rangeEnd?: string }, startRevision: number) => () =>
        engine().watch({ ...range, startRevision, ...callbacks })
      expect(watch({ key: '/a/' }, 0)).toThrow(expect.objectContaining(refused('invalid')))
      expect(watch({ key: '/b/', rangeEnd: '/a/' }, 1)).toThrow(expect.objectContaining(refused('invalid')))
    })
  })
}
