// A real Docker Engine in its own network namespace, for tests that need only one machine.

import { attachBounded } from '../lab/bounded-disk.ts'
import { layWire, plugIn, wireEnd } from '../lab/lab-network.ts'
import { caddyPlace } from '../lab/lab-node.ts'
import { placeAt } from '../lab/lab-place.ts'
import { claimSlot, releaseSlot } from '../lab/lab-slot.ts'
import {
  type DockerEngine,
  type DockerLine,
  type EngineSettings,
  launchDockerEngine,
} from './docker-engine.ts'
import { type CaddyService, launchCaddy } from './start-caddy.ts'

export interface DockerEngineOptions extends EngineSettings {
  readonly line: DockerLine
  /** The size of the engine's disk; by default it shares that of this machine. */
  readonly diskBytes?: number
}

export interface StandaloneDockerEngine extends DockerEngine {
  /** Address of this host as seen by the engine, which can pull from a registry that listens at this address. */
  readonly hostAddress: string
  /** Address of the engine's network namespace as seen by this host. */
  readonly address: string
  /** Name of that namespace. */
  readonly namespace: string
  /** Starts a router in the engine's network namespace, where it can reach the containers. It ends with the engine. */
  startCaddy(): Promise<CaddyService>
  /** Stops the engine. Removes its containers, shims, mounts, network and files before it returns. */
  stop(): Promise<void>
}

/**
 * Starts an engine in its own network namespace, because two engines would conflict over docker0 and the packet filter.
 */
export async function startDockerEngine(options: DockerEngineOptions): Promise<StandaloneDockerEngine> {
  const slot = await claimSlot()
  try {
    const wire = layWire(slot)
    plugIn(wire, 1)
    const place = placeAt(slot, 1, wireEnd(wire, 1))
    if (options.diskBytes !== undefined) await attachBounded(place, options.diskBytes)
    const engine = await launchDockerEngine(place, options.line, options)
    let caddy: CaddyService | undefined
    const startCaddy = async () => {
      caddy ??= await launchCaddy(caddyPlace(place))
      return caddy
    }
    const stop = async () => {
      await caddy?.stop()
      releaseSlot(slot)
    }
    return Object.assign(engine, {
      hostAddress: wire.hostAddress,
      address: place.address,
      namespace: place.namespace,
      startCaddy,
      stop,
    })
  } catch (error) {
    releaseSlot(slot)
    throw error
  }
}
