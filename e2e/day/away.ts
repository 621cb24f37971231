// All servers and the key-value store are down while clients use the running containers. No request fails, no container
// restarts, and no replica moves after the servers return. An agent, an engine and a router fail during the outage.

import { setTimeout as pause } from 'node:timers/promises'
import { describeFailures, type Load, startLoad, waitUntil } from '@holdfast/testkit'
import { inRun } from '@holdfast/testkit/long-run'
import { eventsOf, placementsOf, startsOn } from '@holdfast/testkit/scenarios/lab-reads'
import { TIMES } from '@holdfast/testkit/scenarios/liveness-times'
import { deployRouted, edgeOf, hostOf, nodesOf, untilServed } from '@holdfast/testkit/scenarios/routed-page'
import type { LabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const PER_SECOND = inRun(60, 200)
const AWAY_MS = inRun(15_000, 180_000)
/**
 * Number of requests after a router's death of which those that other routers forward to it may fail, because a retry could
 * run them twice: those of a quarter of a second.
 */
const IN_FLIGHT = PER_SECOND / 4
/**
 * Times without a heartbeat after which a node is unreachable or failed. An agent may wait 8 s between two connection
 * attempts after an outage, so unreachableSeconds must be longer than 8 s.
 */
const LIVENESS = {
  ...TIMES,
  unreachableSeconds: inRun(10, TIMES.unreachableSeconds),
  engineSilentSeconds: 30,
}

export function testAway(cluster: () => LabPlatform): void {
  describe('without a control plane', () => {
    let load: Load

    beforeAll(async () => {
      // Two replicas on three nodes: the router of the third node has no local replica and forwards requests to the others.
      await deployRouted(cluster(), { tenant: 'acme', name: 'shop', replicas: 2 })
      const targets = nodesOf(cluster(), 'acme').map((node) => edgeOf(cluster(), node))
      load = startLoad({ targets, host: hostOf('shop'), perSecond: PER_SECOND })
    })
    afterAll(async () => {
      await load?.stop()
      await cluster().api('acme').delete('/api/v1/deployments/shop')
    })

    test('machines keep serving while all servers and the store are down', async () => {
      const { lab, api } = cluster()
      const placed = await placementsOf(api('acme'), 'shop')
      const [started, silent] = [await everyStart(cluster()), await silenceEvents(cluster())]
      const [first = '', second = ''] = placed.map(({ nodeName }) => nodeName)
      // Numbers of requests: sent when the router was dead, and when it served again.
      let [dead, served] = [0, 0]
      await cluster().withoutControlPlane(
        async () => {
          await lab.killAgent(cluster().node(first))
          expect(load.result().failures).toEqual([])
          // The killed router must restart from the configuration on its own disk, without an agent.
          await lab.killCaddy(cluster().node(first))
          dead = load.result().sent
          await untilServed(cluster(), first, 'shop')
          served = load.result().sent
          await lab.killEngine(cluster().node(second))
          await lab.restartEngine(cluster().node(second))
          await pause(AWAY_MS)
          await lab.restartAgent(cluster().node(first))
        },
        { liveness: LIVENESS },
      )
      // Wait longer than the failure timeout: if the outage made the servers declare a node failed, they would do so by then.
      await pause((LIVENESS.failedSeconds + 2) * 1000)
      expect(await silenceEvents(cluster())).toEqual(silent)
      expect(await placementsOf(api('acme'), 'shop')).toEqual(placed)
      expect(await everyStart(cluster())).toEqual(started)

      const { sent, failures } = load.result()
      const atRouter = failures.filter(({ target }) => target === edgeOf(cluster(), first))
      const elsewhere = failures.filter((one) => !atRouter.includes(one))
      console.log(
        `${sent} requests, control plane down for ${AWAY_MS / 1000} s: ${atRouter.length} failed at the killed router, ${elsewhere.length} in flight through it`,
      )
      const wrong = [
        ...atRouter.filter(({ number }) => number >= served),
        ...elsewhere.filter(({ number }) => number >= dead + IN_FLIGHT),
      ]
      expect(wrong, describeFailures(wrong)).toEqual([])
    })

    test('a scale-up is accepted and applied after the outage', async () => {
      const started = await everyStart(cluster())
      const scaled = await cluster().api('acme').put('/api/v1/deployments/shop', { replicas: 3 })
      expect(scaled.status, scaled.text).toBe(200)
      await waitUntil(async () => (await everyStart(cluster())).length === started.length + 1, {
        what: 'a third replica runs',
        timeoutMs: 60_000,
      })
      expect(await everyStart(cluster())).toEqual(expect.arrayContaining(started))
    })
  })
}

const everyStart = async (cluster: LabPlatform): Promise<string[]> =>
  (await Promise.all(nodesOf(cluster, 'acme').map((name) => startsOn(cluster, name)))).flat().sort()

async function silenceEvents(cluster: LabPlatform): Promise<unknown[]> {
  const types = ['node.unreachable', 'node.failed', 'deployment.displaced']
  return (await Promise.all(types.map((type) => eventsOf(cluster.api('acme'), type)))).flat()
}
