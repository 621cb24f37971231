import { STREAM_HEADER_BYTES, STREAM_PAYLOAD_BYTES } from '@holdfast/contract'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createLink } from './link.ts'
import { createOutgoing } from './outgoing.ts'

interface Sent {
  readonly frames: Buffer[]
  readonly backlog: { bytes: number; taken: (() => void)[] }
}

function socket(): Sent & Parameters<typeof createLink>[0] {
  const frames: Buffer[] = []
  const backlog: Sent['backlog'] = { bytes: 0, taken: [] }
  return {
    frames,
    backlog,
    get bufferedAmount() {
      return backlog.bytes
    },
    send(frame, taken) {
      frames.push(Buffer.from(frame))
      backlog.taken.push(taken)
    },
  }
}

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

test('sends all bytes of a stream in order, never beyond the credit, in frames of limited length', async () => {
  const pushes = fc.array(
    fc.record({ channel: fc.constantFrom(1, 2), size: fc.integer({ min: 1, max: 40_000 }) }),
    { minLength: 1, maxLength: 8 },
  )
  const credits = fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 1, maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(pushes, credits, async (pushed, given) => {
      const wire = socket()
      const outgoing = createOutgoing(createLink(wire), 9, () => {})
      let finished = false
      const parts = pushed.map(({ channel, size }, index) => ({ channel, bytes: Buffer.alloc(size, index) }))
      for (const { channel, bytes } of parts) outgoing.push(channel, bytes)
      outgoing.finish(() => {
        finished = true
      })
      let allowed = 0
      for (const bytes of given) {
        allowed += bytes
        outgoing.credit(bytes)
        await turns(12)
        const sent = wire.frames.reduce((sum, frame) => sum + frame.length, 0)
        expect(sent).toBeLessThanOrEqual(allowed)
      }
      outgoing.credit(10_000_000)
      await turns(40)
      expect(finished).toBe(true)
      expect(outgoing.queuedBytes).toBe(0)
      for (const frame of wire.frames) {
        expect(frame.readUInt32BE(1)).toBe(9)
        expect(frame.length).toBeLessThanOrEqual(STREAM_HEADER_BYTES + STREAM_PAYLOAD_BYTES)
        expect(frame.length).toBeGreaterThan(STREAM_HEADER_BYTES)
      }
      const line = (each: readonly { channel: number | undefined; bytes: Buffer }[]) =>
        Buffer.concat(each.map(({ channel = 0, bytes }) => bytes.map((byte) => byte * 4 + channel)))
      const received = wire.frames.map((frame) => ({ channel: frame[0], bytes: frame.subarray(5) }))
      expect(line(received).equals(line(parts))).toBe(true)
    }),
    { numRuns: 30 },
  )
})

test('a busy stream does not delay others, and sending waits for a full socket', async () => {
  const wire = socket()
  const link = createLink(wire)
  const [large, small] = [createOutgoing(link, 1, () => {}), createOutgoing(link, 2, () => {})]
  large.push(1, Buffer.alloc(1_000_000))
  large.credit(2_000_000)
  small.push(1, Buffer.from('little'))
  small.credit(100)
  await turns(1)
  expect(wire.frames.map((frame) => frame.readUInt32BE(1)).slice(0, 2)).toEqual([1, 2])
  expect(wire.frames.length).toBeLessThanOrEqual(8)
  wire.backlog.bytes = 1_000_000
  await turns(5)
  const held = wire.frames.length
  await turns(5)
  expect(wire.frames).toHaveLength(held)
  wire.backlog.bytes = 0
  wire.backlog.taken.at(-1)?.()
  await turns(40)
  expect(large.queuedBytes).toBe(0)
})
