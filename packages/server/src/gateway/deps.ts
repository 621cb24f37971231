// The dependencies of the gateway, and the context that the parts of the gateway share.

import type { NodeId, ResidencyRules, TenantId } from '@holdfast/contract'
import type { FailureDetector } from '../liveness/failure-detector.ts'
import type { Broker } from '../ports/broker.ts'
import type { Clock, IdSource } from '../ports/clock.ts'
import type { Secret } from '../ports/secret.ts'
import type { Store } from '../store/store.ts'
import type { postJson } from './peers/post-json.ts'
import type { GatewayTimes } from './timings.ts'

export interface GatewayLog {
  info(facts: object, text: string): void
  warn(facts: object, text: string): void
}

export interface GatewayDeps {
  readonly store: Pick<
    Store,
    'get' | 'list' | 'listWithIds' | 'keysOf' | 'revision' | 'fresh' | 'transact' | 'subscribe' | 'fault'
  >
  readonly clock: Clock
  readonly ids: IdSource
  /** The id of this process as a server replica. */
  readonly replica: string
  /** The shared key with which server replicas authenticate to each other. */
  readonly clusterKey: Secret
  /** Certificate authority (PEM) of the server replicas' certificates; absent: the authorities of the system. */
  readonly clusterCa?: string
  readonly log: GatewayLog
  readonly times?: Partial<GatewayTimes>
  /** The failure detector of this process. The code that created the detector stops it; the gateway does not. */
  readonly detector: FailureDetector
  /** The broker, in this process or another one. The gateway relays sealed values, which it cannot read. */
  readonly broker: Pick<Broker, 'sealEnvironment' | 'sealCredential'>
  readonly residency: ResidencyRules
  /** Whether agents may connect to this process; absent: they may. */
  readonly acceptsAgents?: boolean
  /** PEM texts of the roots to which the listener will change; absent: none. */
  readonly nextAuthorities?: () => readonly string[]
  /** Sends a request to another server replica; absent: over HTTP. */
  readonly post?: typeof postJson
}

/** Counters of the gateway since the start of the process, for metrics. */
export interface GatewayCounts {
  sessionsOpened: number
  hellosRefused: number
  sessionsCut: number
  messages: number
  violations: number
  /** Number of messages whose type this server does not know, because the agent is newer. */
  unknownMessages: number
  completes: number
  deltas: number
  observations: number
  statusWrites: number
}

export const newCounts = (): GatewayCounts => ({
  sessionsOpened: 0,
  hellosRefused: 0,
  sessionsCut: 0,
  messages: 0,
  violations: 0,
  unknownMessages: 0,
  completes: 0,
  deltas: 0,
  observations: 0,
  statusWrites: 0,
})

export interface GatewayContext extends Omit<GatewayDeps, 'times'> {
  readonly times: GatewayTimes
  readonly counts: GatewayCounts
}

export interface NodeAddress {
  readonly tenant: TenantId
  readonly nodeId: NodeId
}
