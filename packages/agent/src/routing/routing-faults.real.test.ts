// The agent is killed at any point of the replacement of a replica. No request fails under load, and the next agent
// finishes the replacement. The engine and the kernel decide it: a starved machine would let requests time out.

import type { DesiredItem } from '@holdfast/contract'
import { startLoad, waitUntil } from '@holdfast/testkit'
import { LONG } from '@holdfast/testkit/long-run'
import { expect, it } from 'vitest'
import { desiredItem } from '../fixtures/agent.fixture.ts'
import { startAgentProcess } from '../fixtures/agent-process.fixture.ts'
import { dyingAfter } from '../fixtures/dying.fixture.ts'
import { onEngines } from '../fixtures/real-engine.fixture.ts'
import {
  CHECK,
  gone,
  type RoutedNode,
  ready,
  routedImage,
  routedNode,
  routesTo,
} from './routed-node.fixture.ts'

/**
 * Requests per second. The container starts a process for each request and lets at most nine connections wait. A short run
 * shares the machine with other suites, so it has a lower rate.
 */
const RATE = LONG ? 100 : 20
/** Settings of the routed deployment. The grace period limits the drain; requests that take longer are cut off. */
const ROUTED = { healthCheck: CHECK, stopGracePeriod: '10s' }
/** Step between the calls at which the agent is made to die: every call in a long run, every twelfth in a short run. */
const STEP = LONG ? 1 : 12

const startLoads = (edge: string) => [
  startLoad({ targets: [edge], host: 'web.test', perSecond: RATE }),
  startLoad({ targets: [edge], host: 'web.test', path: '/cgi-bin/slow', perSecond: 5, timeoutMs: 20_000 }),
]
async function endLoads(loads: ReturnType<typeof startLoads>, what: string): Promise<void> {
  const results = await Promise.all(loads.map((load) => load.stop()))
  const [sent, failed] = [
    results.reduce((sum, one) => sum + one.sent, 0),
    results.flatMap(({ failures }) => failures),
  ]
  process.stdout.write(`${what}: ${sent} sent, ${failed.length} failed\n`)
  expect(failed).toEqual([])
}

onEngines('routes while the agent dies', (world, line) => {
  const successor = (image: string, { owner }: DesiredItem): DesiredItem =>
    desiredItem(image, ROUTED, { owner })
  const addressOf = async ({ node }: RoutedNode, item: DesiredItem): Promise<string> => {
    const [id = ''] = await node.containersOf(item)
    return (await node.engine.inspectContainer(id)).address ?? ''
  }
  const expectOnly = async (place: RoutedNode, item: DesiredItem): Promise<void> => {
    const address = await addressOf(place, item)
    await waitUntil(async () => (await place.admin.readUpstreams()).get('web')?.join() === address, {
      what: 'only this replica is routed to',
    })
  }

  it('no request fails if the agent dies after any call', {
    timeout: LONG ? 3_600_000 : 300_000,
  }, async () => {
    const place = await routedNode(world())
    const { node, admin, edge } = place
    const images = [await routedImage(world(), '1'), await routedImage(world(), '2')]
    let current = desiredItem(images[0] ?? '', ROUTED)
    const maker = await node.start()
    node.send([current], { routes: routesTo(current) })
    await ready(node, current)
    await maker.close()
    const loads = startLoads(edge)
    let deaths = 0
    const last: string[] = []
    for (let n = line === 'old' ? 1 : 2, survived = false; !survived; n += STEP) {
      const next = successor(images[n % 2] ?? '', current)
      const dying = dyingAfter(node.engine, n)
      const mortal = await node.start(dying.engine, dying.router(admin))
      await replace(node, current, next, dying.died)
      survived = !dying.died()
      await mortal.close()
      deaths += survived ? 0 : 1
      last.push(dying.calls.at(-1) ?? '')
      const successorAgent = await node.start()
      await replace(node, current, next, () => false)
      expect([(await node.containersOf(current)).length, (await node.containersOf(next)).length]).toEqual([
        0, 1,
      ])
      await expectOnly(place, next)
      await successorAgent.close()
      current = next
    }
    await endLoads(loads, `${deaths} deaths (${last.join(' ')})`)
    expect(deaths).toBeGreaterThan(LONG ? 15 : 2)
    await node.clear()
  })

  it('no request fails if the agent gets SIGKILL while the new replica starts and while the old one drains', {
    timeout: 180_000,
  }, async () => {
    const place = await routedNode(world())
    const { node, edge, settings, caddy, admin } = place
    const { socketPath } = world().docker
    const start = () =>
      startAgentProcess({
        tenant: node.tenant,
        folder: node.folder,
        socketPath,
        router: { caddy: settings, configFile: caddy.configFile },
      })
    const images = [await routedImage(world(), '1'), await routedImage(world(), '2')]
    let current = desiredItem(images[0] ?? '', ROUTED)
    let agent = await start()
    let revision = 1000
    const restart = async () => {
      await agent.kill()
      agent = await start()
    }
    const send = (...items: DesiredItem[]): void => {
      revision += 1
      agent.send(items, { routes: routesTo(current), revision })
    }
    send(current)
    await ready(agent, current)
    const loads = startLoads(edge)
    for (let turn = 1; turn <= (LONG ? 20 : 1); turn += 1) {
      const [old, next] = [current, successor(images[turn % 2] ?? '', current)]
      send(old, next)
      await waitUntil(async () => (await node.containersOf(next)).length === 1, { what: 'it is created' })
      await restart()
      send(old, next)
      await ready(agent, next)
      const address = await addressOf(place, old)
      send({ ...old, desired: 'removed' }, next)
      // The drain has only begun, because requests that take two seconds are in flight.
      await waitUntil(async () => !(await admin.readUpstreams()).get('web')?.includes(address), {
        what: 'it is withdrawn',
        intervalMs: 2,
      })
      expect((await node.containersOf(old)).length).toBe(1)
      await restart()
      send({ ...old, desired: 'removed' }, next)
      await gone(agent, old)
      await expectOnly(place, next)
      current = next
    }
    await endLoads(loads, 'agents killed')
    await agent.kill()
    await node.clear()
  })
})

/** Replaces a replica start-first: removes the old replica once the new one is ready. Returns early if the agent died. */
async function replace(
  node: RoutedNode['node'],
  old: DesiredItem,
  next: DesiredItem,
  died: () => boolean,
): Promise<void> {
  const seen = node.reports.length
  const since = (item: DesiredItem) =>
    node.reports.slice(seen).findLast(({ assignmentId }) => assignmentId === item.assignmentId)
  const until = (what: string, holds: () => boolean) => waitUntil(() => died() || holds(), { what })
  node.send([old, next], { routes: routesTo(next) })
  await until('it is ready', () => since(next)?.state === 'ready' && since(next)?.reason === '')
  if (died()) return
  node.send([{ ...old, desired: 'removed' }, next], { routes: routesTo(next) })
  await until('the old one is gone', () => since(old)?.gone === true)
}
