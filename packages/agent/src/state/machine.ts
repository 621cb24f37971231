// The facts about the node's machine that the agent reports: boot id, capacity and engine.

import { cpus, totalmem } from 'node:os'
import { AGENT_CAPABILITIES, type Capacity, defined, VERSION } from '@holdfast/contract'
import { readBootId } from '../fencer/boot-clock.ts'
import type { EngineVersion } from '../ports/engine.ts'
import type { MachineFacts, Storage } from '../ports/session.ts'

/** The version and capabilities that the agent states. Tests run agents that state others. */
export interface AgentBuild {
  readonly version: string
  readonly capabilities: readonly string[]
}

export const THIS_BUILD: AgentBuild = { version: VERSION, capabilities: AGENT_CAPABILITIES }

export const wholeMachine = (): Capacity => ({ cpuMillis: cpus().length * 1000, memoryBytes: totalmem() })

interface ConfiguredFacts {
  readonly labels: { readonly [key: string]: string }
  /** The part of the machine's capacity that the operator offers; absent: all of it. */
  readonly capacity?: Capacity
  readonly peerAddress?: string
  readonly securePeerAddress?: string
  readonly peerCertificate?: string
  readonly agentPeerAddress?: string
  readonly storage?: Storage
}

export function machineFacts(
  configured: ConfiguredFacts,
  engine: EngineVersion,
  { version, capabilities }: AgentBuild,
): MachineFacts {
  const { labels, capacity, storage, ...peers } = configured
  const { peerAddress, securePeerAddress, peerCertificate, agentPeerAddress } = peers
  return {
    bootId: readBootId(),
    version,
    capabilities,
    labels,
    engine,
    capacity: capacity ?? wholeMachine(),
    ...defined({ peerAddress, securePeerAddress, peerCertificate, agentPeerAddress, storage }),
  }
}
