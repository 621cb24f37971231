// Frames between two agents: however the bytes are cut into chunks, the same frames are read, and memory that others use
// is never released.

import { PassThrough, Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { releaseMemory } from './chunk-queue.ts'
import { createFrameReader, writeFrame } from './frames.ts'

const TEXTS = ['one', '', 'x'.repeat(100_000), 'last']

async function written(): Promise<Buffer> {
  const output = new PassThrough({ highWaterMark: 1024 ** 2 })
  for (const text of TEXTS) await writeFrame(output, 'data', Buffer.from(text))
  await writeFrame(output, 'trailer', Buffer.from('end'))
  return output.read()
}

/** Chunks of the given size, each with memory of its own as those of a socket. */
function cut(bytes: Buffer, size: number): Buffer[] {
  const count = Math.ceil(bytes.length / size)
  return Array.from({ length: count }, (_, at) => {
    const chunk = Buffer.allocUnsafeSlow(Math.min(size, bytes.length - at * size))
    bytes.copy(chunk, 0, at * size)
    return chunk
  })
}

test.each([1000, 4096, 65_536, 1_000_000])('are read from chunks of %i bytes', async (size) => {
  const chunks = cut(await written(), size)
  const reader = createFrameReader(Readable.from(chunks, { objectMode: true }))
  const read: string[] = []
  for (let at = 0; at < TEXTS.length; at += 1) read.push((await reader.next('data')).payload.toString())
  expect(read).toEqual(TEXTS)
  expect((await reader.next('data', 'trailer')).payload.toString()).toBe('end')
  await expect(reader.next('data')).rejects.toThrow('The connection')
  expect(chunks.map(({ length }) => length)).toEqual(chunks.map(() => 0))
})

test('memory that several buffers share is kept', () => {
  const [one, other] = [Buffer.from('one'), Buffer.from('other')]
  expect(one.buffer).toBe(other.buffer)
  releaseMemory(one)
  expect(other.toString()).toBe('other')
})

test('a reader reads little ahead of its caller', async () => {
  let pulled = 0
  const endless = new Readable({
    highWaterMark: 65_536,
    read() {
      pulled += 65_536
      this.push(Buffer.allocUnsafeSlow(65_536).fill(2))
    },
  })
  const reader = createFrameReader(endless)
  await expect(reader.next('trailer')).rejects.toThrow('Unexpected frame')
  await new Promise((resolve) => setImmediate(resolve))
  expect(pulled).toBeLessThan(1024 ** 2)
  endless.destroy()
})

test('a connection that breaks rejects the read with its cause', async () => {
  const input = new PassThrough()
  const reader = createFrameReader(input)
  const reading = reader.next('header')
  input.destroy(new Error('reset'))
  await expect(reading).rejects.toThrow('reset')
})
