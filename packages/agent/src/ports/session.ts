// What the rest of the agent asks of its session with the server. The session dials, signs, reconnects and beats by
// itself; here it is a source of desired sets and a place to report to. SAFETY 4e.

import type {
  AssignmentId,
  Capacity,
  DesiredItem,
  MachineContainer,
  Observation,
  RoutedDeployment,
} from '@holdfast/contract'
import type { ResolvedEnvironment } from '@holdfast/core/node'
import type { Logger } from 'pino'
import type { SaidRole } from '../state/node-role.ts'
import type { NodeState } from '../state/node-state.ts'
import type { OpenSessionStreams } from './streams.ts'

/** What a session's hello says of the machine; asked anew for each. */
export interface MachineFacts {
  /** Another one after each boot of the machine. */
  readonly bootId: string
  /** Of the agent. */
  readonly version: string
  readonly labels: { readonly [key: string]: string }
  readonly engine: { readonly version: string; readonly apiVersion: string }
  readonly capacity: Capacity
  /** Where this node takes what other nodes of the tenant forward; absent: it routes nothing. */
  readonly peerAddress?: string
}

/** A Complete set holds all that is wished; otherwise the items and the gone are what changed. */
export interface DesiredChange {
  /** Of the store. */
  readonly revision: number
  readonly complete: boolean
  readonly items: readonly DesiredItem[]
  readonly gone: readonly string[]
  /** Of a Complete set all that are routed. Absent: nothing was said of routes. */
  readonly routes?: readonly RoutedDeployment[]
  /** Deployments that are no longer routed. */
  readonly unrouted?: readonly string[]
}

export interface RegistryCredential {
  readonly username: string
  readonly password: string
}

/** What a container is to be made with; or which secret is not to be had and why, in words of the server or of ours. */
export type EnvironmentAnswer =
  | ({ readonly kind: 'given' } & ResolvedEnvironment)
  | { readonly kind: 'unresolved'; readonly about: string }

export interface SessionOptions {
  readonly state: NodeState
  machine(): MachineFacts
  /** At the beginning of each session, before its first set. */
  onWelcome?(said: SaidRole): void
  onDesired(change: DesiredChange): void
  containers(): Promise<MachineContainer[]>
  /** Absent: nobody looks inside the containers of this node. */
  readonly streams?: OpenSessionStreams
  readonly log: Logger
}

export interface Session {
  /** May be called while no session is open: what is then lost is said again after the next Complete set. */
  report(observations: readonly Observation[]): void
  /** Names of containers that nobody wishes and that are left; said again after each Complete set until there are none. */
  reportOrphans(names: readonly string[]): void
  /** Undefined: the tenant keeps none. */
  registryCredential(host: string): Promise<RegistryCredential | undefined>
  /** Of one that is about to be made, and for this attempt alone; rejects with NoSessionError. */
  containerEnvironment(id: AssignmentId): Promise<EnvironmentAnswer>
  close(): void
}

/** Nobody was there to be asked: that says nothing of what was asked. */
export class NoSessionError extends Error {
  constructor() {
    super('There is no session with the server, or it ended before the answer came.')
    this.name = 'NoSessionError'
  }
}

export type StartSession = (options: SessionOptions) => Session
