// Tests the codec with constructed bytes. The *.real.test.ts files use the codec with a real etcd.

import { BinaryWriter } from '@bufbuild/protobuf/wire'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cursorOver, readBytes, readInt64, skipField } from './cursor.ts'
import { decodeRangeResponse } from './decode-responses.ts'
import { decodeWatchMessage } from './decode-watch.ts'
import { encodeRangeRequest, encodeTransactionRequest } from './encode-requests.ts'

const int64 = (value: number | bigint) => Buffer.from(new BinaryWriter().int64(value).finish())

describe('the int64 codec', () => {
  test('decodes every safe integer to the value that was encoded', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        const cursor = cursorOver(int64(value))
        expect(readInt64(cursor)).toBe(value)
        expect(cursor.pos).toBe(cursor.end)
      }),
    )
  })

  test.each([0, 1, 127, 128, 2 ** 28 - 1, 2 ** 28, 2 ** 32, 2 ** 53 - 1, -1, -(2 ** 53) + 1])(
    '%i',
    (value) => {
      expect(readInt64(cursorOver(int64(value)))).toBe(value)
    },
  )

  test.each([2n ** 53n, 2n ** 56n - 1n, 2n ** 56n, 2n ** 63n - 1n, -(2n ** 53n), -(2n ** 63n)])(
    '%s is refused, never rounded',
    (value) => {
      expect(() => readInt64(cursorOver(int64(value)))).toThrow('beyond 2^53')
    },
  )

  test('rejects a number without an end', () => {
    expect(() => readInt64(cursorOver(Buffer.alloc(20, 0xff)))).toThrow(RangeError)
    expect(() => readInt64(cursorOver(Buffer.from([0x80])))).toThrow('truncated')
    expect(() => readInt64(cursorOver(Buffer.alloc(0)))).toThrow('truncated')
  })
})

describe('decoded values', () => {
  const messageOf = (...values: Uint8Array[]) => {
    const writer = new BinaryWriter()
    for (const value of values) writer.bytes(value)
    return Buffer.from(writer.finish())
  }

  test('copies a small value out of a large message', () => {
    const message = messageOf(Buffer.from('small'), Buffer.alloc(1_000_000))
    const value = readBytes(cursorOver(message))
    expect(Buffer.from(value).toString()).toBe('small')
    expect(value.buffer).not.toBe(message.buffer)
  })

  test('does not copy a value that is most of its message', () => {
    const message = messageOf(Buffer.alloc(100_000))
    expect(readBytes(cursorOver(message)).buffer).toBe(message.buffer)
  })

  test('rejects a field that is longer than its message', () => {
    expect(() => decodeRangeResponse(Buffer.from([0x12, 0x05, 0x0a, 0x01]))).toThrow(RangeError)
    expect(() =>
      decodeRangeResponse(Buffer.from([0x12, 0x02, 0x0a, 0x05, 0x61, 0x61, 0x61, 0x61, 0x61])),
    ).toThrow(RangeError)
  })
})

test('ignores unknown fields of a newer etcd', () => {
  const header = new BinaryWriter()
    .uint32(0x08)
    .uint64(2n ** 64n - 1n)
    .uint32(0x18)
    .int64(7)
    .finish()
  const writer = new BinaryWriter().uint32(0x0a).bytes(header)
  writer
    .tag(90, 0)
    .uint64(2n ** 64n - 1n)
    .tag(91, 1)
    .fixed64(1n)
    .tag(92, 5)
    .fixed32(1)
    .tag(93, 2)
    .string('new')
  writer.uint32(0x20).int64(3)
  expect(decodeRangeResponse(Buffer.from(writer.finish()))).toEqual({
    kvs: [],
    more: false,
    count: 3,
    revision: 7,
    clusterId: 'ffffffffffffffff',
  })
  expect(() => skipField(cursorOver(Buffer.alloc(4)), 0x0b)).toThrow('wire type')
})

test('decodes a negative watch id, a delete and a fragment', () => {
  const kv = new BinaryWriter().uint32(0x0a).string('/k/').uint32(0x18).int64(9).finish()
  const event = new BinaryWriter().uint32(0x08).int32(1).uint32(0x12).bytes(kv).finish()
  const writer = new BinaryWriter().uint32(0x10).int64(-1).uint32(0x38).bool(true).uint32(0x5a).bytes(event)
  expect(decodeWatchMessage(Buffer.from(writer.finish()))).toMatchObject({
    watchId: -1,
    fragment: true,
    events: [{ kind: 'delete', kv: { key: '/k/', modRevision: 9 } }],
  })
})

test('refuses to encode a value that is no safe integer', () => {
  expect(() => encodeRangeRequest({ key: '/k/', limit: 1.5 })).toThrow(RangeError)
  const compare = { key: '/k/', target: 'modRevision', is: 'equal', value: 2 ** 53 } as const
  expect(() => encodeTransactionRequest({ compares: [compare], success: [], failure: [] })).toThrow(
    RangeError,
  )
})

test('leaves nothing of a failed request in the next one', () => {
  const sound = { compares: [], success: [{ kind: 'delete', key: '/k/' } as const], failure: [] }
  const before = encodeTransactionRequest(sound)
  const broken = { ...sound, success: [...sound.success, { kind: 'range', key: '/k/', limit: 0.5 } as const] }
  expect(() => encodeTransactionRequest(broken)).toThrow(RangeError)
  expect(encodeTransactionRequest(sound)).toEqual(before)
})
