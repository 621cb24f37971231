// Tests the stream of quarantined data against a scripted source: back-pressure, complete and failed ends, and its limits.

import { PassThrough } from 'node:stream'
import { type AgentMessage, asTenantId, asVolumeId, type End, STREAM_HEADER_BYTES } from '@holdfast/contract'
import pino from 'pino'
import { expect, test, vi } from 'vitest'
import { PoolError } from '../ports/volume-pool.ts'
import type { Divergences } from '../storage/divergences.ts'
import { createSessionStreams } from './node-streams.ts'

const KEPT = { volume: asVolumeId('vol_1'), epoch: 1 }
const unused = (): never => {
  throw new Error('not used here')
}

function serverEnd(read: Divergences['read'] | undefined) {
  const messages: AgentMessage[] = []
  let received = 0
  const streams = createSessionStreams({
    engine: { listContainers: unused, readLogs: unused, startExec: unused },
    tenant: asTenantId('tenant'),
    keptLogs: { read: unused },
    ...(read && { divergences: { read } }),
    log: pino({ level: 'silent' }),
  })({
    bufferedAmount: 0,
    send(frame, onWritten) {
      received += frame.length - STREAM_HEADER_BYTES
      setImmediate(onWritten)
    },
    sendMessage: (message) => messages.push(message),
  })
  return {
    streams,
    received: () => received,
    open: (stream = 1) => streams.handle({ type: 'open', stream, kind: 'divergence', divergence: KEPT }),
    credit: (bytes: number) => streams.handle({ type: 'credit', stream: 1, bytes }),
    ends: () => messages.filter(({ type }) => type === 'end'),
    ended: (stream = 1): Promise<End> =>
      vi.waitFor(() => {
        const found = messages.find(
          (one): one is End & { type: 'end' } => one.type === 'end' && one.stream === stream,
        )
        if (found === undefined) throw new Error(`stream ${stream} has not ended`)
        return found
      }),
  }
}

/** A source of any length that counts what was read of it. */
function aSource(chunks: number) {
  const stream = new PassThrough({ highWaterMark: 64 * 1024 })
  let written = 0
  const write = (): void => {
    while (written < chunks) {
      written += 1
      if (!stream.write(Buffer.alloc(64 * 1024, 'x'))) {
        stream.once('drain', write)
        return
      }
    }
    if (chunks !== Number.POSITIVE_INFINITY) stream.end()
  }
  write()
  return { stream, written: () => written }
}
const DIGEST = { bytes: 0, sha256: '' }

test('sends the whole archive and ends with exit code 0', async () => {
  const { stream } = aSource(40)
  const server = serverEnd(async () => ({ stream, digest: Promise.resolve(DIGEST) }))
  server.open()
  server.credit(10 * 1024 ** 2)
  expect(await server.ended()).toEqual({ type: 'end', stream: 1, exitCode: 0 })
  expect(server.received()).toBe(40 * 64 * 1024)
})

test('reads no more than its buffer from an endless source for a reader that grants nothing', async () => {
  const { stream, written } = aSource(Number.POSITIVE_INFINITY)
  const server = serverEnd(async () => ({ stream, digest: new Promise(() => {}) }))
  server.open()
  await vi.waitFor(() => expect(stream.isPaused()).toBe(true))
  const before = written()
  expect(before).toBeLessThan(20)
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  expect(written()).toBe(before)
  expect(server.received()).toBe(0)
  server.streams.handle({ type: 'end', stream: 1 })
  expect(stream.destroyed).toBe(true)
})

test('ends with an error if the source fails after all its bytes were sent', async () => {
  const { stream } = aSource(1)
  const server = serverEnd(async () => ({
    stream,
    digest: Promise.reject(new PoolError('failed', 'exit 2')),
  }))
  server.open()
  server.credit(1024 ** 2)
  expect(await server.ended()).toEqual({ type: 'end', stream: 1, error: 'data_unreadable' })
})

test('ends with an error, and with nothing before it, if the digest rejects long after the last byte', async () => {
  const { stream } = aSource(3)
  const { promise: digest, reject } = Promise.withResolvers<typeof DIGEST>()
  const server = serverEnd(async () => ({ stream, digest }))
  server.open()
  server.credit(1024 ** 2)
  await vi.waitFor(() => expect([server.received(), stream.readableEnded]).toEqual([3 * 64 * 1024, true]))
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  expect(server.ends()).toEqual([])
  reject(new PoolError('failed', 'exit 2'))
  await server.ended()
  expect(server.ends()).toEqual([{ type: 'end', stream: 1, error: 'data_unreadable' }])
})

const unreadable: Divergences['read'] = async () => {
  throw new PoolError('unreadable', 'The pool cannot be read.')
}
const nothing: Divergences['read'] = async () => undefined

test.each([
  ['no pool', undefined, 'data_not_found'],
  ['no such data', nothing, 'data_not_found'],
  ['a pool that cannot be read', unreadable, 'data_unreadable'],
] as const)('tells a node with %s from the others', async (_name, read, error) => {
  const server = serverEnd(read)
  server.open()
  expect(await server.ended()).toMatchObject({ error })
})

test('opens two archives at the same time and refuses a third', async () => {
  const server = serverEnd(async () => ({
    stream: aSource(Number.POSITIVE_INFINITY).stream,
    digest: new Promise(() => {}),
  }))
  for (const stream of [1, 2, 3]) server.open(stream)
  expect(await server.ended(3)).toMatchObject({ error: 'too_many_streams' })
  server.streams.handle({ type: 'end', stream: 1 })
  server.open(4)
  server.streams.close()
})
