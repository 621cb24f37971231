// What the gateway is given.

import type { NodeId, TenantId } from '@holdfast/contract'
import type { Broker } from '../ports/broker.ts'
import type { Clock, IdSource } from '../ports/clock.ts'
import type { Secret } from '../ports/secret.ts'
import type { Store } from '../store/store.ts'
import type { GatewayTimes } from './timings.ts'

export interface GatewayLog {
  info(facts: object, text: string): void
  warn(facts: object, text: string): void
}

export interface GatewayDeps {
  readonly store: Pick<Store, 'get' | 'list' | 'keysOf' | 'revision' | 'fresh' | 'transact' | 'subscribe'>
  readonly clock: Clock
  readonly ids: IdSource
  /** The id of this process among the server replicas. */
  readonly replica: string
  /** What server replicas prove to each other that they belong together. */
  readonly clusterKey: Secret
  /** PEM of the authority that signs the replicas' certificates; absent: the system's. */
  readonly clusterCa?: string
  readonly log: GatewayLog
  readonly times?: Partial<GatewayTimes>
  /** In this process or in another one: what it seals is only relayed here. */
  readonly broker: Pick<Broker, 'sealEnvironment' | 'sealCredential'>
}

/** What happened since the start; numbers only, for metrics. */
export interface GatewayCounts {
  sessionsOpened: number
  hellosRefused: number
  sessionsCut: number
  messages: number
  violations: number
  /** Messages of a type that only a newer agent knows. */
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

export interface Running extends Omit<GatewayDeps, 'times'> {
  readonly times: GatewayTimes
  readonly counts: GatewayCounts
}

export interface NodeAddress {
  readonly tenant: TenantId
  readonly nodeId: NodeId
}
