// Networks for tests on real engines, as a server sends them, and commands inside containers that join them.

import { asNetworkId, type DesiredItem, type DesiredNetwork, ulid } from '@holdfast/contract'
import type { TestNode } from '../fixtures/agent.fixture.ts'
import type { Engine } from '../ports/engine.ts'

let count = 0

export function desiredNetwork(name: string, internal = false): DesiredNetwork {
  count += 1
  const random = Buffer.alloc(10)
  random.writeUInt32BE(count, 6)
  const id = asNetworkId(`net_${ulid(Date.now(), random)}`)
  return { id, desired: 'present', options: { name, driver: 'bridge', labels: { team: 'shop' }, internal } }
}

/** Runs a shell script in the container of the item. */
export async function runIn(node: TestNode, item: DesiredItem, script: string) {
  const [id = ''] = await node.containersOf(item)
  const { exitCode, output } = await node.engine.runProbe(id, ['/bin/sh', '-c', script], 300_000)
  return { exitCode, text: output.text }
}

export const reaches = async (node: TestNode, item: DesiredItem, name: string): Promise<boolean> =>
  (await runIn(node, item, `nslookup ${name} && echo x | nc -w 2 ${name} 8080`)).exitCode === 0

/**
 * Containers ask the name server at this address for the names that the engine does not know. Without one, they wait for the
 * name server of the machine, which the engines of tests cannot reach.
 */
export const withNameServer =
  (address: string) =>
  (engine: Engine): Engine => ({
    ...engine,
    createContainer(name, body) {
      const changed = structuredClone(body)
      Object.assign(changed.HostConfig, { Dns: [address] })
      return engine.createContainer(name, changed)
    },
  })

/** Refuses each question at once: nothing listens there in a container. */
export const NO_NAME_SERVER = '127.0.0.1'
