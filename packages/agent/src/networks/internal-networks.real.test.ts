// Internal networks on both supported engines: containers reach each other and nothing outside, by any protocol.

import type { DesiredItem } from '@holdfast/contract'
import { engineNetworkName } from '@holdfast/core/node'
import { waitUntil } from '@holdfast/testkit'
import { inRun, LONG } from '@holdfast/testkit/long-run'
import Docker from 'dockerode'
import { expect, it } from 'vitest'
import { desiredItem, isUp } from '../fixtures/agent.fixture.ts'
import { onBothEnginesAtOnce } from '../fixtures/real-engine.fixture.ts'
import { desiredNetwork, reaches, runIn, withNameServer } from './networks.fixture.ts'
import { openWaysOut } from './ways-out.fixture.ts'

const ATTEMPTS = inRun(54, 1000)

onBothEnginesAtOnce('internal networks', (world, line) => {
  it(`let 0 of ${ATTEMPTS} attempts out, by six ways that lead beyond the machine`, {
    timeout: 600_000,
  }, async ({ onTestFinished }) => {
    const { docker, image } = world()
    const { node } = await world().newNode(withNameServer(docker.hostAddress))
    const networks = [desiredNetwork('closed', true), desiredNetwork('open')]
    const inside = desiredItem(image, { name: 'inside', networks: ['closed'] })
    const peer = desiredItem(image, { name: 'peer', networks: ['closed'] })
    const outside = desiredItem(image, { name: 'outside', networks: ['open'] })
    const all = [inside, peer, outside]
    node.send(all, { networks })
    await Promise.all(all.map((item) => node.until(item, 'running', isUp)))
    const out = await openWaysOut({
      machine: docker,
      engine: new Docker({ socketPath: docker.socketPath }),
      image,
      otherNetwork: engineNetworkName(node.tenant, 'open'),
    })
    onTestFinished(out.close)
    const attempt = (item: DesiredItem, network: string, rounds: number) =>
      out.attempt(
        rounds,
        engineNetworkName(node.tenant, network),
        async (script) => (await runIn(node, item, script)).text,
      )
    // Engines give their networks no IPv6 addresses, so this way leads out of no network. All others lead out of an open one.
    const { beyond, toMachine } = out
    const open = await attempt(outside, 'open', 1)
    expect([...open].toSorted()).toEqual([...beyond, ...toMachine].filter((way) => way !== 'ipv6').toSorted())

    const rounds = Math.ceil(ATTEMPTS / beyond.length)
    const closed = await attempt(inside, 'closed', rounds)
    const led = beyond.filter((way) => closed.has(way))
    console.info(
      `${line} engine: ${led.length} of ${beyond.length} ways led out of the internal network in ${rounds * beyond.length} attempts${LONG ? '' : '; 1,000 in the long run'}`,
    )
    expect(led).toEqual([])
    // The old engine gives internal networks a route to the machine itself (docs/design/networks.md#containers).
    expect(toMachine.filter((way) => closed.has(way))).toEqual(line === 'old' ? toMachine : [])
    await waitUntil(() => reaches(node, inside, 'peer'), { what: 'containers inside reach each other' })
    expect((await runIn(node, inside, 'nslookup outside')).exitCode).not.toBe(0)
    const { text } = await runIn(node, inside, 'cat /proc/net/if_inet6 2>/dev/null | grep -v " lo$" | wc -l')
    expect(text.trim()).toBe('0')
  })
})
