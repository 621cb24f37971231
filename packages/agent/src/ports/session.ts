// The agent's session with the server as the rest of the agent sees it: a source of desired sets and a sink for reports.
// Dialing, authentication, reconnects and heartbeats are hidden. See docs/design/agent.md#session.

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
import type { ReportedRole } from '../state/node-role.ts'
import type { NodeState } from '../state/node-state.ts'
import type { OpenSessionStreams } from './streams.ts'

/** The facts about the machine in a session's hello; collected again for each session. */
export interface MachineFacts {
  /** Changes with every boot of the machine. */
  readonly bootId: string
  /** The agent's version. */
  readonly version: string
  readonly labels: { readonly [key: string]: string }
  readonly engine: { readonly version: string; readonly apiVersion: string }
  readonly capacity: Capacity
  /** Where the tenant's other nodes forward requests to; absent: this node routes nothing. */
  readonly peerAddress?: string
}

/** A complete set contains every desired item; otherwise `items` and `gone` are the changes. */
export interface DesiredChange {
  /** The store's revision. */
  readonly revision: number
  readonly complete: boolean
  readonly items: readonly DesiredItem[]
  readonly gone: readonly string[]
  /** In a complete set, all routed deployments. Absent: the message does not concern routes. */
  readonly routes?: readonly RoutedDeployment[]
  /** Deployments that are no longer routed. */
  readonly unrouted?: readonly string[]
}

export interface RegistryCredential {
  readonly username: string
  readonly password: string
}

/** The environment of one container, or which secret is unavailable and why. */
export type EnvironmentAnswer =
  | ({ readonly kind: 'resolved' } & ResolvedEnvironment)
  | { readonly kind: 'unresolved'; readonly about: string }

export interface SessionOptions {
  readonly state: NodeState
  machine(): MachineFacts
  /** Called at the beginning of each session, before its first desired set. */
  onWelcome?(reported: ReportedRole): void
  onDesired(change: DesiredChange): void
  containers(): Promise<MachineContainer[]>
  /** Absent: this node offers no logs and no exec. */
  readonly streams?: OpenSessionStreams
  readonly log: Logger
}

export interface Session {
  /** May be called without an open session: observations are sent again after the next complete set. */
  report(observations: readonly Observation[]): void
  /** Names of orphans that were too many to remove; sent again after each complete set until there are none. */
  reportOrphans(names: readonly string[]): void
  /** Undefined if the tenant has no credential for the host. */
  registryCredential(host: string): Promise<RegistryCredential | undefined>
  /** The environment for one attempt to create a container; rejects with NoSessionError without a session. */
  containerEnvironment(id: AssignmentId): Promise<EnvironmentAnswer>
  close(): void
}

/** The server could not be asked, so the question is still open. */
export class NoSessionError extends Error {
  constructor() {
    super('There is no session with the server, or it ended before the answer arrived.')
    this.name = 'NoSessionError'
  }
}

export type StartSession = (options: SessionOptions) => Session
