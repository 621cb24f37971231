// The agent, an engine and a Caddy on both supported Docker versions: ready replicas are served, removed replicas are
// drained, and killing the agent or Caddy breaks no request. The test acts as server and client. The engine and the kernel
// decide it: a starved machine would let requests time out.

import type { DesiredItem } from '@holdfast/contract'
import { tenantNetwork } from '@holdfast/core/node'
import { describeFailures, type LoadOptions, startLoad, waitUntil } from '@holdfast/testkit'
import { LONG } from '@holdfast/testkit/long-run'
import { expect, it } from 'vitest'
import { createTestNode, desiredItem } from '../fixtures/agent.fixture.ts'
import { onEngines } from '../fixtures/real-engine.fixture.ts'
import { RouterError } from '../ports/router.ts'
import { CHECK, gone, ready, routedImage, routedNode, routesTo } from './routed-node.fixture.ts'

const TURNS = LONG ? 6 : 2
/** Requests per second. A request starts a process in the container, so a short run saves CPU time with a lower rate. */
const RATE = LONG ? 200 : 20
/** Time within which a killed Caddy serves again. */
const BACK_MS = 10_000
/** Settings of the routed deployment. The grace period limits the drain; requests that take longer are cut off. */
const ROUTED = { healthCheck: CHECK, stopGracePeriod: '10s' }

onEngines('routes', (world) => {
  const image = (tag: string): Promise<string> => routedImage(world(), tag)
  const ask = async (edge: string, host: string, path = '/'): Promise<string> => {
    const load = startLoad({ targets: [edge], host, path, perSecond: 50, accept: () => true })
    await waitUntil(() => load.result().sent > 0, { what: 'a request was sent' })
    const { texts, failures } = await load.stop()
    return [...texts.keys(), ...failures.map(({ cause }) => cause)].join('|')
  }
  const loadOn = (edge: string, over: Partial<LoadOptions> = {}) =>
    startLoad({ targets: [edge], host: 'web.test', perSecond: RATE, ...over })

  it('serves a ready replica and replaces it without a failed request', {
    timeout: 180_000,
  }, async () => {
    const { node, edge, admin } = await routedNode(world())
    const agent = await node.start()
    const versions = [await image('1'), await image('2')]
    let current = desiredItem(versions[0] ?? '', ROUTED)
    node.send([current], { routes: routesTo(current) })
    expect(await ask(edge, 'web.test').catch(() => '')).not.toContain('1\n')
    await ready(node, current)
    const readyMs = performance.now()
    expect(await ask(edge, 'web.test')).toBe('1\n')
    process.stdout.write(`first byte ${Math.round(performance.now() - readyMs)} ms after ready\n`)
    const load = loadOn(edge)
    const slow = loadOn(edge, { path: '/cgi-bin/slow', perSecond: 5, timeoutMs: 20_000 })
    for (let turn = 1; turn <= TURNS; turn += 1) {
      const { owner } = current
      const next = desiredItem(versions[turn % 2] ?? '', ROUTED, { owner })
      node.send([current, next], { complete: false })
      await ready(node, next)
      const before = current
      node.send([{ ...before, desired: 'removed' }], { complete: false })
      await gone(node, before)
      node.send([next], { routes: routesTo(next) })
      current = next
    }
    const { sent, failures, reconnects, texts } = await load.stop()
    const slowOnes = await slow.stop()
    process.stdout.write(
      `${TURNS} replacements at ${RATE}/s: ${sent} sent, ${failures.length} failed, ${reconnects} reconnects; ${slowOnes.sent} of 2 s, ${slowOnes.failures.length} failed\n`,
    )
    expect(failures, describeFailures(failures)).toEqual([])
    expect(slowOnes.failures, describeFailures(slowOnes.failures)).toEqual([])
    expect([...texts.keys()].toSorted()).toEqual(['1\n', '2\n'])
    expect((await admin.readUpstreams()).get('web')).toHaveLength(1)
    await agent.close()
    await node.clear()
  })

  it('keeps a container address for life, and does not reuse it while it is routed to', {
    timeout: 120_000,
  }, async () => {
    const { node } = await routedNode(world())
    const agent = await node.start()
    const [web, other] = [
      desiredItem(world().image, { healthCheck: CHECK }),
      desiredItem(world().image, { name: 'other', healthCheck: CHECK }),
    ]
    node.send([web, other], { routes: routesTo(web, other) })
    await ready(node, web)
    await ready(node, other)
    const addressOf = async (item: DesiredItem): Promise<string | null> =>
      (await node.engine.inspectContainer(node.newest(item)?.containerId ?? '')).address
    const before = [await addressOf(web), await addressOf(other)]
    const { subnets } = (await node.engine.inspectNetwork(tenantNetwork(node.tenant))) ?? { subnets: [] }
    expect(subnets).toEqual([expect.stringMatching(/^10\.2[01]\d\.\d+\.0\/22$/)])
    expect(before.toSorted()).toEqual(before.map((_, at) => subnets[0]?.replace('.0/22', `.${at + 2}`)))
    const id = node.newest(web)?.containerId ?? ''
    const started = node.newest(web)?.startedAt
    await node.engine.stopContainer(id, 1)
    await waitUntil(() => node.newest(web)?.startedAt !== started && node.newest(web)?.reason === '', {
      what: 'it runs again',
    })
    expect([await addressOf(web), await addressOf(other)]).toEqual(before)
    await agent.close()
    await node.clear()
  })

  it('killing the agent breaks no request, and its successor resumes the drain', {
    timeout: 120_000,
  }, async () => {
    const { node, edge } = await routedNode(world())
    let agent = await node.start()
    const [first, version] = [await image('1'), await image('2')]
    const web = desiredItem(first, ROUTED)
    node.send([web], { routes: routesTo(web) })
    await ready(node, web)
    const load = loadOn(edge)
    await agent.close()
    agent = await node.start()
    await waitUntil(() => load.result().sent > 3 * RATE, { what: 'time passes' })
    const next = desiredItem(version, { healthCheck: CHECK }, { owner: web.owner })
    node.send([web, next], { routes: routesTo(web) })
    await ready(node, next)
    node.send([{ ...web, desired: 'removed' }], { complete: false })
    // The agent stops while it drains a container.
    await agent.close()
    agent = await node.start()
    node.send([{ ...web, desired: 'removed' }, next], { routes: routesTo(web) })
    await gone(node, web)
    const { failures, reconnects, sent } = await load.stop()
    process.stdout.write(
      `agent restarts: ${sent} sent, ${failures.length} failed, ${reconnects} reconnects\n`,
    )
    expect(failures, describeFailures(failures)).toEqual([])
    await agent.close()
    await node.clear()
  })

  it('a killed Caddy restarts with its routes without the agent', { timeout: 120_000 }, async () => {
    const { node, edge, caddy } = await routedNode(world())
    const agent = await node.start()
    const web = desiredItem(await image('1'), { healthCheck: CHECK })
    node.send([web], { routes: routesTo(web) })
    await ready(node, web)
    await agent.close()
    const load = loadOn(edge)
    await waitUntil(() => load.result().answered > RATE, { what: 'it is served' })
    const killedMs = performance.now()
    await caddy.kill()
    const answered = load.result().answered
    await waitUntil(() => load.result().answered > answered + 5, { what: 'it is served again' })
    const backMs = Math.round(performance.now() - killedMs)
    await waitUntil(() => load.result().answered > answered + RATE, { what: 'it keeps serving' })
    const { failures } = await load.stop()
    const sent = failures.map(({ sentMs }) => sentMs)
    const span = Math.max(...sent) - Math.min(...sent)
    process.stdout.write(
      `Caddy killed: served again after ${backMs} ms, ${failures.length} failed within ${span} ms\n`,
    )
    // Caddy exits, starts again, reads its file, and gets a request.
    expect(Math.max(backMs, span)).toBeLessThan(BACK_MS)
    await node.clear()
  })

  it('runs containers without a Caddy and logs that it is missing', { timeout: 60_000 }, async () => {
    const { admin } = await routedNode(world())
    const away = { ...admin, load: () => Promise.reject(new RouterError('unavailable', 'no answer')) }
    const node = createTestNode(world().docker.socketPath, away)
    const agent = await node.start()
    const web = desiredItem(world().image, { healthCheck: CHECK })
    node.send([web], { routes: routesTo(web) })
    await ready(node, web)
    expect(node.logged.join('')).toContain('router does not answer')
    node.send([{ ...web, desired: 'removed' }], { complete: false })
    await gone(node, web)
    await agent.close()
  })
})
