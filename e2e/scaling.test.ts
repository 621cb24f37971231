// A scaling policy on real machines: requests that burn CPU raise the number of replicas, their end lowers it after the
// delay, and no request fails in between.

import { describeFailures, type Load, startLoad, waitUntil } from '@holdfast/testkit'
import { untilPhase } from '@holdfast/testkit/scenarios/lab-reads'
import { type LabPlatform, startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

const HOST = 'busy.example'
const BUSY = '/api/v1/deployments/busy'
/** Burns some milliseconds of CPU for each request. */
const SCRIPT =
  "#!/bin/sh\ni=0\nwhile [ $i -lt 20000 ]; do i=$((i+1)); done\nprintf 'Content-Type: text/plain\\r\\n\\r\\nbusy\\n'\n"
const BUSY_PER_SECOND = 12
const IDLE_PER_SECOND = 2
const DELAY_S = 60
/** The goal: more replicas are desired this long after the load began. */
const RAISED_WITHIN_MS = 90_000
/** The delay, the minute that is still part of the mean, two rounds, and some time for a slow machine. */
const LOWERED_WITHIN_MS = (DELAY_S + 60 + 60 + 60) * 1000
const TEST_MS = 480_000

let cluster: LabPlatform
/** A few requests for a page at all times, so that a replica that serves too early or too late is noticed. */
let idle: Load

beforeAll(async () => {
  cluster = await startLabPlatform({ nodesPerTenant: { acme: 2, globex: 1 } })
  const files = [{ name: 'www/cgi-bin/busy', content: Buffer.from(SCRIPT), executable: true }]
  const { reference } = await cluster.lab.registry.pushBusyboxImage('acme/busy', 'one', { page: 'ok', files })
  const created = await cluster.api('acme').post('/api/v1/deployments', {
    kind: 'Deployment',
    name: 'busy',
    image: reference,
    replicas: 1,
    resources: { cpuMillis: 50 },
    routes: [{ host: HOST, path: '/', port: 8080 }],
  })
  expect(created.status, created.text).toBe(201)
  await untilPhase(cluster.api('acme'), 'busy', 'Running')
  await waitUntil(async () => (await Promise.all(targets().map(answers))).every(Boolean), {
    what: 'every router serves the page',
  })
  idle = startLoad({ targets: targets(), host: HOST, perSecond: IDLE_PER_SECOND })
})
afterAll(async () => {
  await idle?.stop()
  await cluster?.stop()
})

const targets = (): string[] =>
  cluster.lab.nodes.filter(({ tenant }) => tenant === 'acme').map(({ address }) => `http://${address}:80`)

async function answers(target: string): Promise<boolean> {
  const probe = startLoad({ targets: [target], host: HOST, perSecond: 20 })
  await waitUntil(() => probe.result().answered + probe.result().failures.length > 0, { what: 'an answer' })
  return (await probe.stop()).failures.length === 0
}

async function statusOf(): Promise<{ readonly [name: string]: unknown }> {
  const { body } = await cluster.api('acme').get(`${BUSY}/scaling`)
  return Object(body['status'])
}

async function readyReplicas(): Promise<number> {
  const { body } = await cluster.api('acme').get(BUSY)
  return Number(Object(Object(body['status']).replicas).ready)
}

test('a busy deployment gets replicas within 90 s and loses them after the delay, without a failed request', {
  timeout: TEST_MS,
}, async () => {
  const api = cluster.api('acme')
  const policy = { min: 1, max: 4, metric: 'cpu', targetPercent: 60, scaleDownDelay: `${DELAY_S}s` }
  const set = await api.put(`${BUSY}/scaling`, policy)
  expect(set.status, set.text).toBe(200)
  await waitUntil(
    async () => {
      const { reason, measured } = await statusOf()
      return measured === 1 && reason !== 'rollout'
    },
    { what: 'the first rollout is over and the replica is measured', timeoutMs: 90_000 },
  )

  const began = performance.now()
  const load = startLoad({
    ...{ targets: targets(), host: HOST, path: '/cgi-bin/busy', perSecond: BUSY_PER_SECOND },
    timeoutMs: 30_000,
  })
  await waitUntil(async () => Number((await statusOf())['desired']) > 1, {
    what: 'more replicas are desired',
    timeoutMs: RAISED_WITHIN_MS,
  })
  const raisedMs = performance.now() - began
  await waitUntil(async () => (await readyReplicas()) > 1, { what: 'more replicas are ready' })
  const { failures, sent } = await load.stop()
  expect(failures, describeFailures(failures)).toEqual([])
  expect(sent).toBeGreaterThan(BUSY_PER_SECOND)

  const ended = performance.now()
  await waitUntil(async () => (await statusOf())['desired'] === 1, {
    what: 'one replica is desired again',
    timeoutMs: LOWERED_WITHIN_MS,
  })
  const loweredMs = performance.now() - ended
  await waitUntil(async () => (await readyReplicas()) === 1, { what: 'one replica is ready' })
  expect(raisedMs).toBeLessThanOrEqual(RAISED_WITHIN_MS)
  // The load of the last minute is part of the mean, so the delay cannot begin before the load ended.
  expect(loweredMs).toBeGreaterThan(DELAY_S * 1000)
  const unnoticed = idle.result()
  expect(unnoticed.failures, describeFailures(unnoticed.failures)).toEqual([])

  const events = await api.get('/api/v1/events?subject=busy&type=deployment.scaled&limit=100')
  const reasons = Object.values(Object(events.body['items'])).map((event) => Object(event).reason)
  expect(new Set(reasons)).toEqual(new Set(['scale_up', 'scale_down']))
  process.stdout.write(
    `scaling: raised after ${Math.round(raisedMs / 1000)} s, lowered ${Math.round(loweredMs / 1000)} s after the load, ${sent + unnoticed.sent} requests, 0 failed\n`,
  )
})
