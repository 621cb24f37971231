// One tenant sends as much as it can: requests of many tokens at their full rate, explanations in a loop, half-open connections,
// slow bodies. Every request of another tenant is answered; how much slower they are is compared with the same server before and
// after. See docs/design/api.md#shares-of-tenants.

import { execFileSync } from 'node:child_process'
import { sleep } from '@holdfast/server/lib/sleep'
import { type Probed, probe, type Times } from '@holdfast/testkit/hostile/noisy/probe'
import { startNoise } from '@holdfast/testkit/hostile/noisy/start-noise'
import type { Health } from '@holdfast/testkit/hostile/server-protocol'
import { type ServerProcess, startServerProcess } from '@holdfast/testkit/hostile/start-server-process'
import { inRun, LONG } from '@holdfast/testkit/long-run'
import { makeNode } from '@holdfast/testkit/nodes/enroll'
import { makeToken } from '@holdfast/testkit/platform/set-up'
import { type Platform, startPlatform } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

const RATES = { requestsPerMinute: 1_200, burst: 300 }
/** The quota of tokens is 100, and the tenant has one already. */
const TOKENS = inRun(6, 99)
const NODES = inRun(3, 50)
const NOISE = {
  perTokenMinute: RATES.requestsPerMinute,
  halfOpen: inRun(100, 10_000),
  slowBodies: inRun(20, 500),
  whyLoops: inRun(2, 8),
}
const QUIET_MS = inRun(4_000, 60_000)
const LOUD_MS = inRun(6_000, 300_000)
/** The attack needs this time until all its connections are open. */
const WARM_UP_MS = inRun(1_000, 15_000)
const MOST_GROWTH = 0.2
const FILES = 20_000

let platform: Platform
let server: ServerProcess
beforeAll(async () => {
  // Processes inherit the limit; the soft one of many systems is 1,024.
  if (LONG) execFileSync('prlimit', ['--pid', `${process.pid}`, `--nofile=${FILES}:`])
  platform = await startPlatform({ settings: { rates: RATES } })
  server = await startServerProcess(platform)
  for (const { token } of [platform.acme, platform.globex])
    expect((await platform.api(token).post('/api/v1/deployments', webOf(platform))).status).toBe(201)
}, 120_000)
afterAll(async () => {
  await server.stop()
  await platform.stop()
})

const webOf = ({ image }: Platform) => ({ kind: 'Deployment', name: 'web', image })

interface Measured {
  readonly probed: Probed
  readonly health: Health
}

async function measure(forMs: number): Promise<Measured> {
  await server.health()
  const probed = await probe({
    ...{ baseUrl: server.baseUrl, token: platform.globex.token, forMs, body: webOf(platform) },
  })
  return { probed, health: await server.health() }
}

const shown = ({ p50, p99, count }: Times): string => `p50 ${p50} ms, p99 ${p99} ms of ${count}`

function print(what: string, { probed, health }: Measured): void {
  const { heapUsed, rss, worstStallMs } = health
  console.log(
    `${what}: reads ${shown(probed.reads)}; writes ${shown(probed.writes)}; heap ${heapUsed >> 20} MiB, ` +
      `rss ${rss >> 20} MiB, worst stall ${Math.round(worstStallMs)} ms`,
  )
}

/** Creates what the attacking tenant may have: tokens, and nodes that make its explanations long. */
async function prepareAttacker(): Promise<readonly string[]> {
  const { acme, baseUrl } = platform
  const tokens: string[] = []
  for (let at = 0; at < TOKENS; at += 1) tokens.push(await makeToken(platform.api(), acme.id, 'developer'))
  for (let at = 0; at < NODES; at += 1) await makeNode(baseUrl, platform.api(acme.token), `acme-${at}`)
  return tokens
}

/** The attacked half is measured twice, to distinguish memory that grows with time from that of connections. */
async function measureUnderAttack(tokens: readonly string[]) {
  const noise = await startNoise({ ...NOISE, port: server.port, tokens })
  try {
    await sleep(WARM_UP_MS)
    const [first, second] = [await measure(LOUD_MS / 2), await measure(LOUD_MS / 2)]
    const report = await noise.report()
    console.log('attack:', report)
    expect(report.held).toBeGreaterThan(NOISE.halfOpen / 2)
    return { first, second }
  } finally {
    await noise.stop()
  }
}

test('the requests of a quiet tenant are all answered while another tenant sends as much as it can', {
  timeout: inRun(120_000, 1_200_000),
}, async () => {
  const tokens = await prepareAttacker()
  await measure(QUIET_MS / 4)
  const before = await measure(QUIET_MS)
  const { first, second } = await measureUnderAttack(tokens)
  await sleep(WARM_UP_MS)
  const after = await measure(QUIET_MS)
  const all = { before, 'attacked, first half': first, 'attacked, second half': second, after }
  for (const [what, measured] of Object.entries(all)) print(what, measured)
  const worst = (kind: 'reads' | 'writes') =>
    Math.max(first.probed[kind].p99, second.probed[kind].p99) / Math.max(1, before.probed[kind].p99)
  console.log(`p99 ratio: reads ${worst('reads').toFixed(1)}, writes ${worst('writes').toFixed(1)}`)
  for (const { probed } of Object.values(all)) expect(probed.statuses).toEqual([200])
  const grown = (from: Measured, to: Measured) => to.health.heapUsed / from.health.heapUsed - 1
  expect(grown(first, second)).toBeLessThan(MOST_GROWTH)
  expect(grown(before, after)).toBeLessThan(MOST_GROWTH)
})
