// One tenant sends as much as it can: requests of many tokens, connections without requests, slow bodies. The requests of
// another tenant are all answered; how much slower they are is printed. See docs/design/api.md#shares-of-tenants.

import { connect, type Socket } from 'node:net'
import { sleep } from '@holdfast/server/lib/sleep'
import type { Health } from '@holdfast/testkit/hostile/server-protocol'
import { type ServerProcess, startServerProcess } from '@holdfast/testkit/hostile/start-server-process'
import { inRun } from '@holdfast/testkit/long-run'
import { makeToken } from '@holdfast/testkit/platform/set-up'
import { type Platform, startPlatform } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

const TOKENS = inRun(6, 90)
const HALF_OPEN = inRun(40, 2_000)
const SLOW_BODIES = inRun(20, 500)
const PROBES = inRun(60, 1_200)
/** Requests of the quiet tenant begin at this interval, well within the rate of its token. */
const PROBE_MS = 60
const MOST_GROWTH = 256 * 1024 ** 2

let platform: Platform
let server: ServerProcess
beforeAll(async () => {
  platform = await startPlatform({ settings: { rates: { requestsPerMinute: 1_200, burst: 300 } } })
  server = await startServerProcess(platform)
  const body = { kind: 'Deployment', name: 'web', image: platform.image }
  for (const { token } of [platform.acme, platform.globex])
    expect((await platform.api(token).post('/api/v1/deployments', body)).status).toBe(201)
})
afterAll(async () => {
  await server.stop()
  await platform.stop()
})

const get = (path: string, token: string) =>
  fetch(`${server.baseUrl}${path}`, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(20_000),
  })

interface Probes {
  readonly statuses: ReadonlySet<number>
  readonly p50: number
  readonly p99: number
}

/** The times of requests that are sent at an interval, whether or not earlier ones were answered. */
async function probe(token: string): Promise<Probes> {
  const sent: Promise<{ status: number; ms: number }>[] = []
  for (let count = 0; count < PROBES; count += 1) {
    sent.push(timed(token))
    await sleep(PROBE_MS)
  }
  const answers = await Promise.all(sent)
  const times = answers.map(({ ms }) => ms).toSorted((left, right) => left - right)
  const at = (share: number): number => Math.round(times[Math.floor((times.length - 1) * share)] ?? 0)
  return { statuses: new Set(answers.map(({ status }) => status)), p50: at(0.5), p99: at(0.99) }
}

async function timed(token: string): Promise<{ status: number; ms: number }> {
  const begun = performance.now()
  const response = await get('/api/v1/deployments/web/status', token)
  await response.arrayBuffer()
  return { status: response.status, ms: performance.now() - begun }
}

interface Attack {
  /** Ends the attack; the number of its responses by status. */
  stop(): Promise<ReadonlyMap<number, number>>
}

function startAttack(tokens: readonly string[]): Attack {
  const answers = new Map<number, number>()
  const sockets: Socket[] = []
  let isOver = false
  const open = (text: string): void => {
    const socket = connect(server.port, '127.0.0.1').on('error', () => {})
    if (text !== '') socket.write(text)
    sockets.push(socket)
  }
  for (let count = 0; count < HALF_OPEN; count += 1) open('')
  for (let count = 0; count < SLOW_BODIES; count += 1) open(slowBody(tokens[count % tokens.length] ?? ''))
  const loops = tokens.map(async (token) => {
    while (!isOver) {
      const status = await get('/api/v1/deployments/web/why', token).then(
        async (response) => {
          await response.arrayBuffer()
          return response.status
        },
        () => 0,
      )
      answers.set(status, (answers.get(status) ?? 0) + 1)
    }
  })
  return {
    async stop() {
      isOver = true
      await Promise.all(loops)
      for (const socket of sockets) socket.destroy()
      return answers
    },
  }
}

const slowBody = (token: string): string =>
  [
    'POST /api/v1/deployments HTTP/1.1',
    'host: 127.0.0.1',
    `authorization: Bearer ${token}`,
    'content-type: application/json',
    'content-length: 100000',
    '',
    '{',
  ].join('\r\n')

const report = (what: string, { p50, p99 }: Probes, { heapUsed, rss, worstStallMs }: Health): string =>
  `${what}: p50 ${p50} ms, p99 ${p99} ms, heap ${heapUsed >> 20} MiB, rss ${rss >> 20} MiB, worst stall ${Math.round(worstStallMs)} ms`

test('the requests of a quiet tenant are all answered while another tenant sends as much as it can', {
  timeout: inRun(120_000, 600_000),
}, async () => {
  const { acme, globex } = platform
  const tokens = await Promise.all(
    Array.from({ length: TOKENS }, () => makeToken(platform.api(), acme.id, 'developer')),
  )
  await probe(globex.token)
  const quiet = await probe(globex.token)
  const before = await server.health()
  const attack = startAttack(tokens)
  const loud = await probe(globex.token)
  const during = await server.health()
  const answers = Object.fromEntries(await attack.stop())
  console.log(report('quiet', quiet, before))
  console.log(report('under load', loud, during))
  console.log(
    `p99 ratio ${(loud.p99 / Math.max(1, quiet.p99)).toFixed(1)}; responses of the attacker`,
    answers,
  )
  expect([...quiet.statuses]).toEqual([200])
  expect([...loud.statuses]).toEqual([200])
  expect(during.heapUsed - before.heapUsed).toBeLessThan(MOST_GROWTH)
})
