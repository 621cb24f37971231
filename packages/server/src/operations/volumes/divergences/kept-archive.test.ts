// Tests the archive stream of a node against a scripted node: credit, complete and cut ends, and both kinds of stalls.

import { STREAM_CHANNELS, STREAM_HEADER_BYTES, STREAM_PAYLOAD_BYTES } from '@holdfast/contract'
import { afterEach, expect, test, vi } from 'vitest'
import type { StreamReader } from '../../../ports/node-streams.ts'
import { ArchiveCutError, openArchive, WINDOW_BYTES } from './kept-archive.ts'

afterEach(() => void vi.useRealTimers())

const NEVER_MS = 600_000
const { stdout, skipped } = STREAM_CHANNELS

function start(stallMs = NEVER_MS) {
  const node: { reader?: StreamReader; credit: number; closed: number } = { credit: 0, closed: 0 }
  const archive = openArchive((reader) => {
    node.reader = reader
    return {
      credit(bytes) {
        node.credit += bytes
      },
      room: 0,
      send() {},
      close() {
        node.closed += 1
      },
    }
  }, stallMs)
  /** Sends as the agent does: never more than its credit. Returns whether it was allowed to. */
  const send = (payload: Buffer, channel: number = stdout): boolean => {
    const bytes = STREAM_HEADER_BYTES + payload.length
    if (bytes > node.credit) return false
    node.credit -= bytes
    node.reader?.data(channel, payload)
    return true
  }
  return { ...archive, node, send, end: (end: Parameters<StreamReader['end']>[0]) => node.reader?.end(end) }
}

const errorOf = (stream: NodeJS.EventEmitter): Promise<Error> =>
  new Promise((resolve) => stream.once('error', resolve))

test('ends like a complete archive only after exit code 0', async () => {
  const { stream, begun, send, end } = start()
  send(Buffer.from('one '))
  send(Buffer.from('not of the archive'), skipped)
  send(Buffer.from('two'))
  expect(await begun).toBeUndefined()
  end({ exitCode: 0 })
  const read: Buffer[] = []
  for await (const chunk of stream) read.push(chunk)
  expect(Buffer.concat(read).toString()).toBe('one two')
})

const CUTS = [
  { error: 'node_unreachable' },
  { error: 'data_unreadable' },
  { exitCode: 2 },
  { exitCode: 0, error: 'closed' },
  {},
] as const

test.each(CUTS)('is destroyed with an error after the end %j', async (how) => {
  const { stream, node, send, end } = start()
  send(Buffer.from('one'))
  const failed = errorOf(stream)
  end(how)
  expect(await failed).toBeInstanceOf(ArchiveCutError)
  expect(stream.readableEnded).toBe(false)
  expect(node.closed).toBe(1)
})

test('reports why an archive does not begin', async () => {
  const { begun, end } = start()
  end({ error: 'data_not_found' })
  expect(await begun).toBe('data_not_found')
})

test('lets the node send no more than the window without a reader, and everything to a reader', async () => {
  const { stream, send, end } = start()
  const frame = Buffer.alloc(STREAM_PAYLOAD_BYTES, 'x')
  let sent = 0
  while (send(frame)) sent += frame.length
  expect(sent).toBeLessThanOrEqual(WINDOW_BYTES)
  expect(stream.readableLength).toBe(sent)
  let read = 0
  stream.on('data', (chunk: Buffer) => {
    read += chunk.length
  })
  const total = 20 * WINDOW_BYTES
  while (sent < total) {
    while (sent < total && send(frame)) sent += frame.length
    await new Promise((resolve) => setImmediate(resolve))
  }
  end({ exitCode: 0 })
  await new Promise((resolve) => stream.once('end', resolve))
  expect(read).toBe(sent)
})

test('ends an archive whose node has credit and sends nothing', async () => {
  vi.useFakeTimers()
  const { stream, begun, node } = start(1_000)
  const failed = errorOf(stream)
  await vi.advanceTimersByTimeAsync(1_500)
  expect((await failed).message).toBe('the node sends nothing')
  expect(await begun).toBe('closed')
  expect(node.closed).toBe(1)
})

test('ends an archive whose reader has stopped reading', async () => {
  vi.useFakeTimers()
  const { stream, send } = start(1_000)
  send(Buffer.from('waiting'))
  const failed = errorOf(stream)
  await vi.advanceTimersByTimeAsync(1_500)
  expect((await failed).message).toBe('the reader is too slow')
})

test('does not end an archive that moves slowly', async () => {
  vi.useFakeTimers()
  const { stream, send } = start(1_000)
  let read = 0
  stream.on('data', (chunk: Buffer) => {
    read += chunk.length
  })
  for (let count = 0; count < 20; count += 1) {
    await vi.advanceTimersByTimeAsync(700)
    send(Buffer.from('x'))
  }
  await vi.advanceTimersByTimeAsync(0)
  expect([read, stream.destroyed]).toEqual([20, false])
  stream.destroy()
})
