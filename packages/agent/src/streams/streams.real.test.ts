// Log and exec streams into real containers on both supported Docker versions: output, limits, and the end of the
// processes.

import {
  type AgentMessage,
  type DesiredItem,
  type End,
  type Open,
  STREAM_CHANNELS,
  STREAM_HEADER_BYTES,
  STREAM_PAYLOAD_BYTES,
  STREAMS_PER_NODE,
} from '@holdfast/contract'
import { waitUntil } from '@holdfast/testkit'
import { inRun } from '@holdfast/testkit/long-run'
import pino from 'pino'
import { expect, test } from 'vitest'
import { desiredItem, isUp, newTenant, type TestNode } from '../fixtures/agent.fixture.ts'
import { onEngines } from '../fixtures/real-engine.fixture.ts'
import { createKeptLogs } from './kept-logs.ts'
import { allocateFrame } from './link.ts'
import { createSessionStreams } from './node-streams.ts'

const MIB = 1024 * 1024
/** Lines of a large log. */
const LINES = inRun(50_000, 200_000)
/** How long an endless log is followed, at least. */
const FOLLOWED_MS = inRun(3_000, 8_000)
const { stdin, stdout, stderr, resize, skipped } = STREAM_CHANNELS

/** The server's end of a session: receives the agent's messages and grants the credit that the test chooses. */
function serverEnd({ engine, tenant, folder }: Pick<TestNode, 'engine' | 'tenant' | 'folder'>) {
  const frames: Buffer[] = []
  const messages: AgentMessage[] = []
  let received = 0
  const log = pino({ level: 'silent' })
  const keptLogs = createKeptLogs({ engine, folder, now: () => Date.now(), log })
  const streams = createSessionStreams({ engine, tenant, keptLogs, log })({
    bufferedAmount: 0,
    send(frame, taken) {
      received += frame.length
      expect(frame.length).toBeLessThanOrEqual(STREAM_HEADER_BYTES + STREAM_PAYLOAD_BYTES)
      frames.push(frame)
      setImmediate(taken)
    },
    sendMessage: (message) => messages.push(message),
  })
  let next = 0
  return {
    streams,
    messages,
    frames,
    received: () => received,
    open(item: DesiredItem, over: Partial<Open>, credit = MIB): number {
      next += 1
      const open = {
        type: 'open' as const,
        stream: next,
        kind: 'exec' as const,
        assignmentId: item.assignmentId,
      }
      streams.handle({ ...open, ...over })
      if (credit > 0) streams.handle({ type: 'credit', stream: next, bytes: credit })
      return next
    },
    credit: (stream: number, bytes: number) => streams.handle({ type: 'credit', stream, bytes }),
    write(stream: number, channel: number, bytes: Buffer | string) {
      const payload = Buffer.from(bytes)
      const frame = allocateFrame(channel, stream, payload.length)
      payload.copy(frame, STREAM_HEADER_BYTES)
      streams.frame(frame)
    },
    text: (stream: number, channel: number): string =>
      Buffer.concat(
        frames
          .filter((frame) => frame[0] === channel && frame.readUInt32BE(1) === stream)
          .map((frame) => frame.subarray(STREAM_HEADER_BYTES)),
      ).toString('utf8'),
    ended: (stream: number): Promise<End> =>
      waitUntil(
        () =>
          messages.find((one): one is End & { type: 'end' } => one.type === 'end' && one.stream === stream),
        { what: `stream ${stream} has ended` },
      ),
  }
}

onEngines('streams', (world) => {
  async function running(template: Parameters<typeof desiredItem>[1] = {}) {
    const { node } = await world().newNode()
    const item = desiredItem(world().image, template)
    node.send([item])
    const { containerId } = await node.until(item, 'running', ({ containerId }) => containerId !== null)
    await node.until(item, 'up', isUp)
    return { node, item, containerId: containerId ?? '', server: serverEnd(node) }
  }
  const sh = (script: string): Partial<Open> => ({ command: ['sh', '-c', script] })

  test('streams output, errors, exit code and input of a command', async () => {
    const { item, server } = await running()
    const plain = server.open(item, sh('echo out; echo err >&2; exit 3'))
    expect(await server.ended(plain)).toMatchObject({ exitCode: 3 })
    expect([server.text(plain, stdout), server.text(plain, stderr)]).toEqual(['out\n', 'err\n'])
    const counted = server.open(item, { command: ['wc', '-c'] })
    for (let part = 0; part < 7; part += 1) server.write(counted, stdin, Buffer.alloc(10_000, 'x'))
    server.write(counted, stdin, '')
    expect(await server.ended(counted)).toMatchObject({ exitCode: 0 })
    expect(server.text(counted, stdout).trim()).toBe('70000')
    const missing = server.open(item, { command: ['no-such-program'] })
    expect([126, 127]).toContain((await server.ended(missing)).exitCode)
  })

  test('a terminal is resized on request and echoes its input', async () => {
    const { item, server } = await running()
    const shell = server.open(item, { command: ['sh'], tty: true })
    server.write(shell, resize, JSON.stringify({ cols: 97, rows: 31 }))
    const size = async (expected: string) =>
      waitUntil(
        () => {
          server.write(shell, stdin, 'busybox stty size\n')
          return server.text(shell, stdout).includes(expected)
        },
        { what: `the terminal is ${expected}`, intervalMs: 200 },
      )
    await size('31 97')
    server.write(shell, resize, JSON.stringify({ cols: 120, rows: 40 }))
    await size('40 120')
    for (const nonsense of ['{', '{"cols":-1,"rows":5}', '[]']) server.write(shell, resize, nonsense)
    server.write(shell, stdin, 'exit 7\n')
    expect(await server.ended(shell)).toMatchObject({ exitCode: 7 })
  })

  test('a command with a slow reader waits, and memory does not grow', async () => {
    const { item, server } = await running()
    global.gc?.()
    const before = process.memoryUsage().rss
    const noisy = server.open(item, { command: ['busybox', 'yes'] }, 64 * 1024)
    await waitUntil(() => server.received() > 60 * 1024, { what: 'the credit is used up' })
    let peak = 0
    for (let more = 0; more < 40; more += 1) {
      server.credit(noisy, 8 * 1024)
      const sum = 64 * 1024 + (more + 1) * 8 * 1024
      await waitUntil(() => server.received() >= sum - STREAM_HEADER_BYTES, { what: 'the next part came' })
      expect(server.received()).toBeLessThanOrEqual(sum)
      peak = Math.max(peak, process.memoryUsage().rss)
      server.frames.length = 0
    }
    console.log(`yes against a slow reader: rss grew by ${((peak - before) / MIB).toFixed(1)} MiB`)
    expect(peak - before).toBeLessThan(32 * MIB)
    server.streams.handle({ type: 'end', stream: noisy })
  })

  test('a command whose stream the server ends is killed with its children', async () => {
    const { node, item } = await running()
    const watching = serverEnd(node)
    const alive = async (): Promise<number> => {
      const listing = watching.open(item, sh('ps | grep -c "[b]usybox sleep 4242"'))
      await watching.ended(listing)
      return Number(watching.text(listing, stdout).trim())
    }
    const gone = () => waitUntil(async () => (await alive()) === 0, { what: 'it is gone' })
    const server = serverEnd(node)
    const left = server.open(item, sh('busybox sleep 4242 & busybox sleep 4242'))
    await waitUntil(async () => (await alive()) >= 2, { what: 'both run' })
    server.streams.handle({ type: 'end', stream: left })
    await gone()
    server.open(item, { ...sh('busybox sleep 4242; true'), tty: true })
    await waitUntil(async () => (await alive()) >= 1, { what: 'it runs' })
    server.streams.close()
    await gone()
  })

  test('enters no container of another tenant, without an assignment, or that has ended', async () => {
    const { node, item, server, containerId } = await running()
    const stranger = serverEnd({ ...node, tenant: newTenant() })
    for (const kind of ['exec', 'logs'] as const) {
      const foreign = stranger.open(item, { kind, command: ['true'] })
      expect(await stranger.ended(foreign)).toMatchObject({ error: 'container_not_found' })
      const unknown = server.open(desiredItem(world().image), { kind, command: ['true'] })
      expect(await server.ended(unknown)).toMatchObject({ error: 'container_not_found' })
    }
    node.send([{ ...item, desired: 'stopped', generation: 2 }])
    await node.until(item, 'stopped', ({ state }) => state === 'stopped')
    expect(containerId).not.toBe('')
    const late = server.open(item, { command: ['true'] })
    expect(await server.ended(late)).toMatchObject({ error: 'container_not_running' })
    const logs = server.open(item, { kind: 'logs' })
    expect((await server.ended(logs)).error).toBeUndefined()
  })

  test('limits the streams of a node, and frees the slot of an ended one', async () => {
    const { item, server } = await running()
    const open = Array.from({ length: STREAMS_PER_NODE }, () =>
      server.open(item, { kind: 'logs', follow: true }),
    )
    const beyond = server.open(item, { kind: 'logs' })
    expect(await server.ended(beyond)).toMatchObject({ error: 'too_many_streams' })
    for (const stream of open) server.streams.handle({ type: 'end', stream })
    const after = server.open(item, { kind: 'logs' })
    expect((await server.ended(after)).error).toBeUndefined()
  })

  const TIMED = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z /
  const linesOf = (text: string) => text.split('\n').filter((line) => line !== '')

  test('reads stored logs: both outputs, the last lines, since a time, long lines, and large logs', {
    timeout: 120_000,
  }, async () => {
    const script = `echo one; echo two >&2; echo three; busybox head -c 40000 /dev/zero | busybox tr "\\0" z; echo; busybox seq 1 ${LINES} > /dev/stdout; echo last; exec sleep 1000`
    const { item, server } = await running({ command: ['sh', '-c', script] })
    await waitUntil(
      async () => {
        const tail = server.open(item, { kind: 'logs', tail: 1 })
        await server.ended(tail)
        return server.text(tail, stdout).endsWith(' last\n')
      },
      { what: 'all is written', timeoutMs: 60_000 },
    )
    const head = server.open(item, { kind: 'logs' }, 64 * 1024)
    await waitUntil(() => server.text(head, stdout).length > 60 * 1024, { what: 'the credit is used up' })
    for (let more = 0; more < 200; more += 1) server.credit(head, MIB)
    expect((await server.ended(head)).error).toBeUndefined()
    const lines = linesOf(server.text(head, stdout))
    expect(lines).toHaveLength(LINES + 6)
    expect(lines.every((line) => TIMED.test(line))).toBe(true)
    const texts = lines.slice(0, 6).map((line) => line.replace(TIMED, ''))
    expect(texts).toEqual(['one', 'three', ...[16_384, 16_384, 7_232].map((size) => 'z'.repeat(size)), '1'])
    expect(linesOf(server.text(head, stderr)).map((line) => line.replace(TIMED, ''))).toEqual(['two'])
    expect(server.text(head, skipped)).toBe('')
    const at = lines.at(-3)?.split(' ')[0] ?? ''
    const since = server.open(item, { kind: 'logs', since: at })
    await server.ended(since)
    expect(linesOf(server.text(since, stdout))).toEqual(lines.slice(lines.findIndex((line) => line >= at)))
  })

  test('keeps the last lines of a failed run without secrets, also after the container is removed', {
    timeout: 60_000,
  }, async () => {
    const { node } = await world().newNode()
    const value = 'canary-5d0c77a1'
    node.environment = async () => ({ kind: 'resolved', environment: { DB_key: value }, proof: 'p' })
    // Only the first run fails: the log of a container that fails again and again would change during the test. Docker
    // copies both outputs separately, so the error is written some time after the last line of the output.
    const script =
      '[ -e /ran ] && exec sleep 1000; touch /ran; u=$(cat /proc/sys/kernel/random/uuid); n=0; while [ $n -lt 300 ]; do n=$((n+1)); echo "$u $n"; done; sleep 2; echo "bye $DB_key" >&2; sleep 1; exit 7'
    const secrets = [{ name: 'DB', namespace: 'resources', label: 'db', version: 1 }]
    const item = desiredItem(world().image, { command: ['/bin/sh', '-c', script], secrets })
    const server = serverEnd(node)
    const read = async (over: Partial<Open> = {}): Promise<{ out: string[]; errors: string }> => {
      const stream = server.open(item, { kind: 'logs', previous: true, ...over })
      await server.ended(stream)
      const out = server.text(stream, stdout).split('\n').slice(0, -1)
      return { out: out.map((line) => line.slice(31)), errors: server.text(stream, stderr) }
    }
    expect(await read()).toEqual({ out: [], errors: '' })
    node.send([item])
    await node.until(item, 'restarted', ({ restarts }) => restarts > 0)
    await waitUntil(async () => (await read()).out.length > 0, { what: 'the log of the first run is kept' })
    const { out, errors } = await read()
    expect(errors).toMatch(/ bye \[redacted\]\n$/)
    expect(out).toEqual(Array.from({ length: 199 }, (_, index) => `${out[0]?.slice(0, 36)} ${index + 102}`))
    expect((await read({ tail: 3 })).out).toHaveLength(2)
    expect((await read({ since: new Date(Date.now() + 60_000).toISOString() })).out).toEqual([])
    node.send([{ ...item, desired: 'removed' }])
    await node.until(item, 'gone', ({ gone }) => gone)
    expect(await node.containersOf(item)).toEqual([])
    expect((await read()).out.length).toBeGreaterThan(100)
    expect(JSON.stringify(await read())).not.toContain(value)
  })

  test('following an endless log bounds memory and reports the skipped bytes', {
    timeout: 120_000,
  }, async () => {
    const line = 'x'.repeat(8_000)
    const { node, item, server } = await running({ command: ['busybox', 'yes', line] })
    const before = process.memoryUsage().rss
    const began = performance.now()
    const follow = server.open(item, { kind: 'logs', follow: true, tail: 10 }, 256 * 1024)
    const gapsOf = () =>
      [...server.text(follow, skipped).matchAll(/\{[^}]*\}/g)].map(([gap]) => JSON.parse(gap))
    const lostOf = () => gapsOf().reduce((sum, gap) => sum + gap.bytes, 0)
    let peak = 0
    let read = 0
    // Reads slowly until the container has written far more than the reader has received.
    while (performance.now() - began < FOLLOWED_MS || lostOf() <= 10 * MIB) {
      const seen = server.received()
      server.credit(follow, 25 * 1024)
      await new Promise((resolve) => setTimeout(resolve, 100))
      read += server.received() - seen
      peak = Math.max(peak, process.memoryUsage().rss)
    }
    const [gaps, lost] = [gapsOf(), lostOf()]
    const seconds = (performance.now() - began) / 1000
    console.log(
      `followed at ${((read + lost) / MIB / seconds).toFixed(1)} MiB/s: read ${(read / MIB).toFixed(1)} MiB,`,
      `${gaps.length} gaps of ${(lost / MIB).toFixed(1)} MiB, rss grew by ${((peak - before) / MIB).toFixed(1)} MiB`,
    )
    expect(peak - before).toBeLessThan(64 * MIB)
    const complete = linesOf(server.text(follow, stdout)).slice(0, -1)
    expect(complete.every((each) => TIMED.test(each) && each.endsWith(line))).toBe(true)
    server.streams.handle({ type: 'end', stream: follow })
    // The files of this project share the engine: an endless writer would slow down every later test.
    node.send([{ ...item, desired: 'removed' }])
    await node.until(item, 'gone', ({ gone }) => gone)
  })
})
