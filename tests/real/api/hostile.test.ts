// Thousands of hostile requests against a server in its own process. No request is answered 5xx or hangs, rejected
// requests store nothing, the event loop stays responsive and memory does not grow. The wire decides it: a starved machine
// would let requests time out.

import { env } from 'node:process'
import { waitUntil } from '@holdfast/testkit'
import { attack } from '@holdfast/testkit/hostile/attack'
import type { Targets } from '@holdfast/testkit/hostile/hostile-requests'
import { changedKeys, readKeyRevisions, unexplainedChange } from '@holdfast/testkit/hostile/key-revisions'
import type { Health } from '@holdfast/testkit/hostile/server-protocol'
import { type ServerProcess, startServerProcess } from '@holdfast/testkit/hostile/start-server-process'
import { LONG } from '@holdfast/testkit/long-run'
import { makeToken } from '@holdfast/testkit/platform/set-up'
import { type Platform, startPlatform } from '@holdfast/testkit/platform/start-platform'
import { ROTATIONS, sliceOf } from '@holdfast/testkit/rotation'
import { afterAll, beforeAll, expect, test } from 'vitest'

const USUAL = 6_000
const SLICE = sliceOf('hostile-requests')
/** A CI run sends a third of the requests, the next run the next third. */
const TOTAL = LONG ? 100_000 : SLICE === undefined ? USUAL : USUAL / ROTATIONS['hostile-requests']
const FIRST = (SLICE ?? 0) * TOTAL
const BLOCK = SLICE === undefined ? 500 : 250
const SEED = Number(env.HOLDFAST_SEED ?? (LONG ? Date.now() % 1_000_000_000 : 20_260_101))
const MAX_STALL_MS = 100
const MAX_GROWTH = 0.1
/** Timeout of the test: thousands of requests take half a minute on a busy machine. */
const RUN_MS = LONG ? 3_600_000 : 240_000

let platform: Platform
let server: ServerProcess
let targets: Targets

beforeAll(async () => {
  platform = await startPlatform()
  server = await startServerProcess(platform)
  const { acme, platformToken, image, registryHost } = platform
  const victim = await platform.api().post('/api/v1/tenants', { name: 'victim' })
  const token = await makeToken(platform.api(), acme.id, 'tenant-admin')
  const deployment = 'standing'
  await platform.api(token).post('/api/v1/deployments', { kind: 'Deployment', name: deployment, image })
  targets = {
    token,
    tenant: acme.id,
    platformToken,
    victim: String(victim.body['id']),
    image,
    deployment,
    registryHost,
  }
})
afterAll(async () => {
  await server.stop()
  await platform.stop()
})

const revisions = () => readKeyRevisions(platform.config.etcd.endpoints[0] ?? '', `${platform.root}/t/`)

/** Deletes the deployments that were accepted, so that neither the quota nor the server's cache fills up. */
async function removeAccepted(names: ReadonlySet<string>): Promise<void> {
  const api = platform.api(targets.token)
  for (const name of names) {
    if (name === targets.deployment) continue
    await api.delete(`/api/v1/deployments/${name}`)
    await waitUntil(async () => (await api.get(`/api/v1/deployments/${name}`)).status === 404, {
      what: `${name} is gone`,
    })
  }
}

test('hostile requests cause no 5xx, no hang, no stored byte when rejected, no stall and no memory growth', {
  timeout: RUN_MS,
}, async () => {
  console.log(`hostile requests: ${TOTAL}, seed ${SEED} (HOLDFAST_SEED=${SEED} repeats this run)`)
  const outcomes = new Map<string, number>()
  const healths: Health[] = []
  const faults: string[] = []
  let accepted = 0
  for (let from = 0; from < TOTAL; from += BLOCK) {
    const warm = from < TOTAL / 4
    const before = await revisions()
    const report = await attack(targets, {
      port: server.port,
      baseUrl: server.baseUrl,
      seed: SEED,
      from: FIRST + from,
      count: BLOCK,
      refused: warm ? 0.3 : 1,
      huge: 0.01,
    })
    const changed = changedKeys(before, await revisions())
    const stored = unexplainedChange(changed, report.accepted)
    faults.push(...report.faults, ...(stored === undefined ? [] : [`block from ${from}: ${stored}`]))
    if (faults.length > 20) break
    for (const [outcome, times] of report.outcomes)
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + times)
    accepted += report.accepted.length
    await removeAccepted(new Set(report.accepted.flatMap(({ deployment }) => deployment ?? [])))
    healths.push(await server.health())
  }
  expect(faults).toEqual([])
  judgeHealth(healths, outcomes, accepted)
})

function judgeHealth(
  healths: readonly Health[],
  outcomes: ReadonlyMap<string, number>,
  accepted: number,
): void {
  const worstStall = Math.max(...healths.map(({ worstStallMs }) => worstStallMs))
  const worstDelay = Math.max(...healths.map(({ worstDelayMs }) => worstDelayMs))
  const steady = healths.slice(Math.floor(healths.length / 4))
  const half = Math.floor(steady.length / 2)
  const least = (of: readonly Health[]) => Math.min(...of.map(({ heapUsed }) => heapUsed))
  const growth = least(steady.slice(half)) / least(steady.slice(0, half)) - 1
  const counts = [...outcomes].sort(([, left], [, right]) => right - left)
  console.log(
    `hostile requests: ${counts.map(([outcome, times]) => `${outcome} ${times}`).join(', ')}\n` +
      `${accepted} accepted; worst stall ${worstStall.toFixed(1)} ms (${worstDelay.toFixed(1)} ms by the wall clock); ` +
      `memory growth ${(growth * 100).toFixed(1)} %, heap ${(least(steady) / 1e6).toFixed(1)} MB`,
  )
  expect(healths.flatMap(({ errors }) => errors).slice(0, 3)).toEqual([])
  expect(worstStall).toBeLessThan(MAX_STALL_MS)
  expect(growth).toBeLessThan(MAX_GROWTH)
  // The hostile requests are varied: most were rejected, for many different reasons, and some were accepted.
  expect(outcomes.size).toBeGreaterThan(25)
  expect(accepted).toBeGreaterThan(TOTAL / 500)
}
