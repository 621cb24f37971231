// A scaling policy on real machines: requests that burn CPU raise the number of replicas, their end lowers it after the
// delay, and no request fails in between.

import { describeFailures, type Load, startLoad, waitUntil } from '@holdfast/testkit'
import { LONG } from '@holdfast/testkit/long-run'
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
/** The shipped times in the long run, short ones otherwise. */
const TIMES = LONG ? {} : { scaling: { roundSeconds: 3, meanSeconds: 20 } }
const DELAY_S = LONG ? 60 : 10
/** How long the test waits for a change of the number of replicas. */
const PATIENCE_MS = 300_000
const TEST_MS = 900_000

let cluster: LabPlatform
/** A few requests for a page at all times, so that a replica that serves too early or too late is noticed. */
let idle: Load

beforeAll(async () => {
  cluster = await startLabPlatform({ nodesPerTenant: { acme: 2, globex: 1 }, settings: TIMES })
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

test('a busy deployment gets replicas and loses them after the delay, without a failed request', {
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
    { what: 'the first rollout is over and the replica is measured', timeoutMs: PATIENCE_MS },
  )

  const load = startLoad({
    ...{ targets: targets(), host: HOST, path: '/cgi-bin/busy', perSecond: BUSY_PER_SECOND },
    timeoutMs: 30_000,
  })
  await waitUntil(async () => Number((await statusOf())['desired']) > 1, {
    what: 'more replicas are desired',
    timeoutMs: PATIENCE_MS,
  })
  await waitUntil(async () => (await readyReplicas()) > 1, { what: 'more replicas are ready' })
  const { failures, sent } = await load.stop()
  expect(failures, describeFailures(failures)).toEqual([])
  expect(sent).toBeGreaterThan(BUSY_PER_SECOND)

  await waitUntil(async () => (await statusOf())['desired'] === 1, {
    what: 'one replica is desired again',
    timeoutMs: PATIENCE_MS,
  })
  await waitUntil(async () => (await readyReplicas()) === 1, { what: 'one replica is ready' })
  const unnoticed = idle.result()
  expect(unnoticed.failures, describeFailures(unnoticed.failures)).toEqual([])

  const events = await api.get('/api/v1/events?subject=busy&type=deployment.scaled&limit=100')
  const scaled: { reason: string; time: string }[] = Object.values(Object(events.body['items']))
  const timesOf = (wanted: string) =>
    scaled.filter(({ reason }) => reason === wanted).map(({ time }) => Date.parse(time))
  expect(new Set(scaled.map(({ reason }) => reason))).toEqual(new Set(['scale_up', 'scale_down']))
  // While the number rises, no value agrees to a lower one, so the delay begins later.
  const waitedMs = Math.min(...timesOf('scale_down')) - Math.max(...timesOf('scale_up'))
  expect(waitedMs).toBeGreaterThan(DELAY_S * 1000)
  console.log(
    `scaling: lowered ${Math.round(waitedMs / 1000)} s after it was last raised, ${sent + unnoticed.sent} requests, 0 failed`,
  )
})
