// Canaries under load on real machines: a canary that fails while it is observed, the stated share of requests, and rounds in
// which agents are killed and servers replaced. Requests go through the router of every node; none may fail.

import { type LabNode, waitUntil } from '@holdfast/testkit'
import { inRun } from '@holdfast/testkit/long-run'
import { placementsOf, untilPhase } from '@holdfast/testkit/scenarios/lab-reads'
import { hostOf, pushPage } from '@holdfast/testkit/scenarios/routed-page'
import type { LabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import type { Traffic } from '@holdfast/testkit/scenarios/traffic'
import { beforeAll, describe, expect, test } from 'vitest'

/** `npm run long` has the full size; CI runs the same code with fewer rounds and requests, and a canary that fails earlier. */
const ROUNDS = inRun(1, 20)
const REQUESTS = inRun(1_000, 20_000)
const [LOWEST, HIGHEST] = [inRun(6, 8) / 100, inRun(14, 12) / 100]
const FAILS_AFTER_MS = inRun(5_000, 30_000)
const PER_SECOND = inRun(60, 200)
const NAME = 'trial'
const TRIAL = `/api/v1/deployments/${NAME}`
const PATIENCE = { timeoutMs: 180_000 }

/** Passes for a while after the first check, and fails from then on. The container itself keeps serving. */
function failingCheck(): object {
  const since = '[ -e /since ] || date +%s > /since'
  const isYoung = `[ $(( $(date +%s) - $(cat /since) )) -lt ${FAILS_AFTER_MS / 1000} ]`
  return { type: 'exec', command: ['sh', '-c', `${since}; ${isYoung}`], interval: '5s', retries: 3 }
}

/** Deploys what the canaries are of. */
export async function deployTrial(cluster: LabPlatform): Promise<void> {
  const image = await pushPage(cluster, { tenant: 'acme', name: NAME }, 'one', 'one')
  const routes = [{ host: hostOf(NAME), path: '/', port: 8080 }]
  // Without a health check, the watch window after a rollout is a third as long; no canary starts before its end.
  const body = { kind: 'Deployment', name: NAME, image, replicas: 3, routes }
  const created = await cluster.api('acme').post('/api/v1/deployments', body)
  expect(created.status, created.text).toBe(201)
  await untilPhase(cluster.api('acme'), NAME, 'Running')
}

function actOn(cluster: () => LabPlatform) {
  const api = () => cluster().api('acme')
  const canary = async (): Promise<{ readonly [member: string]: unknown }> =>
    Object((await api().get(TRIAL)).body['canary'])
  const placed = () => placementsOf(api(), NAME)
  return {
    canary,
    placed,
    untilCanary: (phase: string) =>
      waitUntil(
        async () => {
          const found = await canary()
          return found['phase'] === phase && found
        },
        { what: `the canary is ${phase}`, ...PATIENCE },
      ),
    /** Starts a canary as soon as the rollout before it has passed its watch window. */
    async start(change: object, over: object = {}): Promise<void> {
      const sent = { change, replicas: 1, weight: 10, observe: '10s', ...over }
      await waitUntil(async () => (await api().post(`${TRIAL}/canary`, sent)).status === 201, {
        what: 'the deployment accepts a canary',
        ...PATIENCE,
      })
    },
    async end(step: 'abort' | 'promote'): Promise<void> {
      const ended = await api().post(`${TRIAL}/canary/${step}`, step === 'promote' ? {} : undefined)
      expect(ended.status, ended.text).toBe(200)
    },
    /** Waits until only replicas of the deployment are left, all of the same revision. */
    async untilOver(): Promise<void> {
      await waitUntil(
        async () => {
          const all = await placed()
          const isOne = new Set(all.map(({ revision }) => revision)).size === 1
          return all.length === 3 && isOne && all.every(({ state, canary: is }) => state === 'ready' && !is)
        },
        { what: 'three replicas of one revision are ready', ...PATIENCE },
      )
    },
  }
}

/** Runs beside other concurrent suites, because it disturbs none. */
export function testCanaries(cluster: () => LabPlatform, traffic: () => Traffic): void {
  const { canary, placed, untilCanary, start, end, untilOver } = actOn(cluster)
  const one = { concurrent: false, timeout: inRun(300_000, 3_600_000) }

  describe('a canary', { concurrent: true }, () => {
    beforeAll(() => traffic().begin(NAME, PER_SECOND))

    test(
      `is aborted if it fails after ${FAILS_AFTER_MS / 1000} s, and no other request fails`,
      one,
      async () => {
        await start(
          { environment: { PAGE: 'failing' }, healthCheck: failingCheck() },
          { weight: 20, observe: '10m' },
        )
        const observed = await untilCanary('observing')
        const aborted = await untilCanary('aborted')
        // Both are times of the record.
        const lastedMs = Date.parse(String(aborted['since'])) - Date.parse(String(observed['since']))
        expect(lastedMs).toBeGreaterThan(FAILS_AFTER_MS / 2)
        await untilOver()
        traffic().expectUnnoticed(NAME, 3)
        expect(await canary()).toMatchObject({ reason: 'unhealthy', failures: [{ replica: 1 }] })
      },
    )

    test(`receives a tenth of ${REQUESTS} requests, and a promotion keeps its replica`, one, async () => {
      const image = await pushPage(cluster(), { tenant: 'acme', name: NAME }, 'two', 'two')
      await start({ image }, { observe: '1s' })
      await untilCanary('ready')
      const tried = (await placed()).filter(({ canary: is }) => is === true)
      expect(tried).toHaveLength(1)
      const before = traffic().resultOf(NAME)
      const answered = () => traffic().resultOf(NAME).answered - before.answered
      await waitUntil(() => answered() >= REQUESTS, {
        what: 'all requests are answered',
        timeoutMs: (REQUESTS / PER_SECOND) * 10_000,
      })
      const [count, texts] = [answered(), traffic().resultOf(NAME).texts]
      const share = ((texts.get('two') ?? 0) - (before.texts.get('two') ?? 0)) / count
      console.log(`${(100 * share).toFixed(2)} % of ${count} requests reached the canary`)
      expect(share).toBeGreaterThan(LOWEST)
      expect(share).toBeLessThan(HIGHEST)
      await end('promote')
      await untilOver()
      traffic().expectUnnoticed(NAME, 3)
      expect((await placed()).map(({ containerId }) => containerId)).toContain(tried[0]?.containerId)
    })
  })
}

/** Kills agents and replaces servers, so nothing that has a deadline may run beside it. */
export function testDisturbedCanaries(cluster: () => LabPlatform, traffic: () => Traffic): void {
  const { canary, untilCanary, start, end, untilOver } = actOn(cluster)

  /** The agent of a node is killed, or the server with all sessions and shards is replaced. */
  async function disturb(round: number, node: LabNode): Promise<void> {
    if (Math.floor(round / 2) % 2 === 0) await cluster().lab.restartAgent(node, 'kill')
    else await cluster().replaceGateway()
  }

  const title = `a canary loses no request in ${ROUNDS} rounds with killed agents and replaced servers`
  test(title, { timeout: inRun(300_000, 3_600_000) }, async () => {
    const acme = cluster().lab.nodes.filter(({ tenant }) => tenant === 'acme')
    for (let round = 0; round < ROUNDS; round += 1) {
      const node = acme[round % acme.length]
      if (node === undefined) throw new Error('no node')
      const page = `round-${round}`
      const image = await pushPage(cluster(), { tenant: 'acme', name: NAME }, page, page)
      await start({ image }, { observe: '1s', weight: 30 })
      await cluster().lab.restartAgent(node, 'kill')
      await untilCanary('ready')
      const step = round % 2 === 0 ? 'abort' : 'promote'
      await disturb(round, node)
      await end(step)
      await untilOver()
      traffic().expectUnnoticed(NAME, 0)
      expect((await canary())['phase']).toBe(step === 'promote' ? undefined : 'aborted')
    }
  })
}
