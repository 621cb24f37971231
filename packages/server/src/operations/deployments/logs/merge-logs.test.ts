import { STREAM_CHANNELS, STREAM_HEADER_BYTES, type TenantId } from '@holdfast/contract'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { StreamReader } from '../../../ports/node-streams.ts'
import { openLogSource } from './log-source.ts'
import type { LogTarget } from './log-targets.ts'
import { createLastLines, createWakeup, mergeKept, shownLine } from './merge-logs.ts'

const { stdout, stderr, skipped } = STREAM_CHANNELS
const target = (replica: number, canary?: true): LogTarget => ({
  tenant: 'tenant' as TenantId,
  assignmentId: `rep_${replica}` as LogTarget['assignmentId'],
  nodeId: 'node_1' as LogTarget['nodeId'],
  node: `n${replica}`,
  replica,
  ...(canary && { canary }),
  run: null,
})
const time = (nanos: number): string => `2026-01-01T00:00:00.${String(nanos).padStart(9, '0')}Z`

/** A log source whose node is simulated by the test, with the credit that the source granted. */
function source(replica: number, notify = () => {}, canary?: true) {
  const given: { reader?: StreamReader; credit: number } = { credit: 0 }
  const opened = openLogSource(
    (_tenant, _node, _request, reader) => {
      given.reader = reader
      return {
        credit(bytes) {
          given.credit += bytes
        },
        room: 0,
        send() {},
        close() {},
      }
    },
    target(replica, canary),
    {},
    notify,
  )
  const send = (channel: number, bytes: string | Buffer) => given.reader?.data(channel, Buffer.from(bytes))
  return { opened, given, send, end: () => given.reader?.end({}) }
}

async function merged(sources: ReturnType<typeof source>[]): Promise<string[]> {
  const texts: string[] = []
  const wakeup = createWakeup(new AbortController().signal)
  for await (const { source: from, line } of mergeKept(
    sources.map(({ opened }) => opened),
    wakeup,
  )) {
    const shown = shownLine(from, line)
    texts.push('text' in shown ? shown.text : JSON.stringify(shown))
  }
  return texts
}

test('merges lines of several containers in the order of time, however their frames are cut', async () => {
  const logs = fc.array(fc.uniqueArray(fc.nat(999), { maxLength: 30 }), { minLength: 1, maxLength: 4 })
  const cut = fc.integer({ min: 1, max: 50 })
  await fc.assert(
    fc.asyncProperty(logs, cut, async (each, size) => {
      const sources = each.map((nanos, index) => {
        const one = source(index + 1)
        const text = nanos
          .toSorted((left, right) => left - right)
          .map((at) => `${time(at)} ${at}\n`)
          .join('')
        for (let from = 0; from < text.length; from += size) one.send(stdout, text.slice(from, from + size))
        one.end()
        return one
      })
      const numbers = (await merged(sources)).map(Number)
      expect(numbers).toEqual(each.flat().sort((left, right) => left - right))
    }),
  )
})

test('waits for a source that may still have an earlier line', async () => {
  const wakeup = createWakeup(new AbortController().signal)
  const [quick, slow] = [source(1, wakeup.notify), source(2, wakeup.notify)]
  quick.send(stdout, `${time(5)} later\n`)
  quick.end()
  const lines = mergeKept([quick.opened, slow.opened], wakeup)
  const first = lines.next()
  slow.send(stderr, `${time(3)} earlier\n`)
  slow.end()
  expect((await first).value?.line.what).toEqual({ stream: 'stderr', text: 'earlier' })
  expect((await lines.next()).value?.line.what).toEqual({ stream: 'stdout', text: 'later' })
  expect((await lines.next()).done).toBe(true)
})

test('assembles stdout and stderr separately and reports lines without time or end, and skipped ones', async () => {
  const one = source(1)
  one.send(stdout, `${time(1)} he`)
  one.send(stderr, `${time(2)} error\r\n`)
  one.send(stdout, 'llo\nno time\n')
  one.send(skipped, '{"lines":3,"bytes":70}')
  one.send(stdout, 'x'.repeat(70_000))
  one.end()
  const texts = await merged([one])
  expect(texts.slice(0, 4)).toEqual([
    'error',
    'hello',
    'no time',
    '{"skipped":{"replica":1,"lines":3,"bytes":70}}',
  ])
  expect(texts[4]).toHaveLength(70_000)
})

test('buffers no more than the credit and returns it as lines are read', () => {
  const { opened, given, send } = source(1)
  const window = given.credit
  let sent = 0
  const line = `${time(1)} ${'x'.repeat(1000)}\n`
  while (sent + line.length + STREAM_HEADER_BYTES <= given.credit) {
    send(stdout, line)
    sent += line.length + STREAM_HEADER_BYTES
  }
  expect(given.credit).toBe(window)
  while (opened.take() !== undefined);
  expect(given.credit).toBeGreaterThan(window + window / 2 - 1)
  expect(given.credit).toBeLessThanOrEqual(window + sent)
})

test('keeps the requested last lines as far as they fit and reports the others as skipped', () => {
  const { opened, send } = source(2)
  const last = createLastLines(3)
  const big = createLastLines(1000)
  for (let at = 0; at < 200; at += 1) {
    send(stdout, `${time(at)} ${at} ${'x'.repeat(60_000)}\n`)
    const line = opened.take()
    if (line === undefined) throw new Error('a line was sent')
    last.push({ source: opened, line })
    big.push({ source: opened, line })
  }
  const shown = last.lines()
  expect(shown.map((line) => ('text' in line ? line.text.slice(0, 3) : line))).toEqual(['197', '198', '199'])
  const [gap, ...rest] = big.lines()
  expect(gap).toEqual({ skipped: { replica: 2, lines: 200 - rest.length, bytes: expect.any(Number) } })
  expect(rest.length).toBeGreaterThan(130)
  expect(createLastLines(0).lines()).toEqual([])
})

test('lines of a canary are marked, and are not counted as lines of the replica with the same number', () => {
  const both = [source(1), source(1, undefined, true)]
  const last = createLastLines(1000)
  for (let at = 0; at < 200; at += 1)
    for (const { opened, send } of both) {
      send(stdout, `${time(at)} ${'x'.repeat(60_000)}\n`)
      const line = opened.take()
      if (line === undefined) throw new Error('a line was sent')
      last.push({ source: opened, line })
    }
  const [own, canary, ...lines] = last.lines()
  expect([own, canary]).toMatchObject([
    { skipped: { replica: 1 } },
    { skipped: { replica: 1, canary: true } },
  ])
  expect(own).not.toHaveProperty('skipped.canary')
  expect(new Set(lines.map((line) => 'text' in line && line.canary))).toEqual(new Set([undefined, true]))
})

test('leaves the node credit to continue after unfinished lines in both streams', () => {
  const { opened, given, send } = source(1)
  let used = 0
  const write = (channel: number, bytes: number) => {
    used += STREAM_HEADER_BYTES + bytes
    send(channel, Buffer.alloc(bytes, 'x'))
  }
  const line = `${time(1)} ${'y'.repeat(1_000)}\n`
  // Up to one piece of credit may not be returned to the node yet, because credit is returned in whole pieces.
  for (let at = 0; at < 15; at += 1) {
    used += STREAM_HEADER_BYTES + line.length
    send(stdout, line)
    opened.take()
  }
  for (const channel of [stdout, stderr]) for (let at = 0; at < 31; at += 1) write(channel, 1_024)
  for (let at = 0; at < 200; at += 1) {
    const room = given.credit - used
    expect(room, `after ${used} bytes`).toBeGreaterThan(STREAM_HEADER_BYTES)
    write(at % 2 === 0 ? stdout : stderr, Math.min(1_024, room - STREAM_HEADER_BYTES))
    opened.take()
  }
})
