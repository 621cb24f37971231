// A real Docker Engine of our own on a wire of its own, for tests that need one machine.

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
  /** This host as the engine sees it: a registry that listens here can be pulled from. */
  readonly hostAddress: string
  /** The engine's machine as this host sees it. */
  readonly address: string
  /** A router beside the engine, which reaches its containers; it goes with the engine. */
  startCaddy(): Promise<CaddyService>
  /** Containers, shims, mounts, network and files are gone on return. */
  stop(): Promise<void>
}

/** Two engines in one network namespace would fight for docker0 and the packet filter: each has its own. */
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
