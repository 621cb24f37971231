// A real Docker Engine in its own network namespace, for tests that need one machine.

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
}

export interface StandaloneDockerEngine extends DockerEngine {
  /** This host as seen by the engine: it can pull from a registry that listens here. */
  readonly hostAddress: string
  /** The engine's machine as seen by this host. */
  readonly address: string
  /** A router on the same machine, which can reach the containers; it ends with the engine. */
  startCaddy(): Promise<CaddyService>
  /** Removes containers, shims, mounts, network and files before it returns. */
  stop(): Promise<void>
}

/** Each engine has its own network namespace, because two would conflict over docker0 and the packet filter. */
export async function startDockerEngine(options: DockerEngineOptions): Promise<StandaloneDockerEngine> {
  const slot = await claimSlot()
  try {
    const wire = layWire(slot)
    plugIn(wire, 1)
    const place = placeAt(slot, 1, wireEnd(wire, 1))
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
      startCaddy,
      stop,
    })
  } catch (error) {
    releaseSlot(slot)
    throw error
  }
}
