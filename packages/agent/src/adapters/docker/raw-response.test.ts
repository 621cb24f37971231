import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createDemultiplexer } from './demultiplex.ts'
import { createChunks } from './raw-response.ts'

const cutAt = (bytes: Buffer, sizes: readonly number[]): Buffer[] => {
  const parts: Buffer[] = []
  let from = 0
  for (const size of [...sizes, bytes.length]) {
    if (from < bytes.length) parts.push(bytes.subarray(from, from + size))
    from += size
  }
  return parts
}

const chunked = (bodies: readonly Uint8Array[]): Buffer =>
  Buffer.concat([
    ...bodies.flatMap((body) => [Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n')]),
    Buffer.from('0\r\n\r\n'),
  ])

test('decodes chunked responses and output frames regardless of where they are cut', () => {
  const frames = fc.array(
    fc.record({ error: fc.boolean(), bytes: fc.uint8Array({ minLength: 0, maxLength: 300 }) }),
    { maxLength: 12 },
  )
  const cuts = fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 40 })
  fc.assert(
    fc.property(frames, cuts, cuts, (sent, first, second) => {
      const stream = Buffer.concat(
        sent.map(({ error, bytes }) => {
          const header = Buffer.alloc(8)
          header[0] = error ? 2 : 1
          header.writeUInt32BE(bytes.length, 4)
          return Buffer.concat([header, bytes])
        }),
      )
      const seen: { error: boolean; bytes: Buffer }[] = []
      let held: Buffer[] = []
      let ended = 0
      const demultiplex = createDemultiplexer({
        part(channel, bytes, last) {
          held.push(Buffer.from(bytes))
          if (!last) return
          seen.push({ error: channel === 'stderr', bytes: Buffer.concat(held) })
          held = []
        },
      })
      const read = createChunks(demultiplex, () => {
        ended += 1
      })
      for (const part of cutAt(chunked(cutAt(stream, first)), second)) read(part)
      expect(ended).toBe(1)
      const expected = sent.filter(({ bytes }) => bytes.length > 0)
      expect(seen).toEqual(expected.map(({ error, bytes }) => ({ error, bytes: Buffer.from(bytes) })))
    }),
  )
})
