// The agent's session with the server as the other parts of the agent use it: a source of desired sets and a sink for
// reports. Dialing, authentication, reconnects and heartbeats are hidden. See docs/design/agent.md#session.

import type {
  AskedVolume,
  AssignmentId,
  Capacity,
  Configuration,
  ConfigureRequest,
  DesiredCopy,
  DesiredItem,
  DesiredNetwork,
  EngineHealth,
  Hello,
  KeptEpoch,
  MachineContainer,
  Measurement,
  NodeDisks,
  Observation,
  ObservedCopy,
  ObservedNetwork,
  OfferDecision,
  Peer,
  PoolReport,
  PoolWipe,
  PromiseAnswer,
  RoutedDeployment,
  TenantRouters,
} from '@holdfast/contract'
import type { ResolvedEnvironment } from '@holdfast/core/node'
import type { Logger } from 'pino'
import type { Authorities } from '../state/authorities.ts'
import type { ReportedRole } from '../state/node-role.ts'
import type { NodeState } from '../state/node-state.ts'
import type { NodeSampler } from '../usage/sample-node.ts'
import type { OpenSessionStreams } from './streams.ts'

export type Storage = NonNullable<Hello['storage']>

/** Facts about the machine in the first message (hello) of a session; collected again for each session. */
export interface MachineFacts {
  /** Id of the machine's current boot; changes with every boot. */
  readonly bootId: string
  /** The agent's version. */
  readonly version: string
  readonly capabilities: readonly string[]
  readonly labels: { readonly [key: string]: string }
  readonly engine: { readonly version: string; readonly apiVersion: string }
  readonly capacity: Capacity
  /** The address to which the tenant's other nodes forward requests; absent: this node routes nothing. */
  readonly peerAddress?: string
  /** The address for the same requests by mutual TLS, and the certificate of this node's router in base64 of DER. */
  readonly securePeerAddress?: string
  readonly peerCertificate?: string
  /** The address at which other nodes exchange copies of volumes; absent: this node exchanges none. */
  readonly agentPeerAddress?: string
  /** The node's pool, or its fault; absent: the node has none. */
  readonly storage?: Storage
}

/**
 * A desired set from the server: a complete desired set has every desired item; otherwise `items` and `gone` are the
 * changes.
 */
export interface DesiredChange {
  /** The store revision of the desired set. */
  readonly revision: number
  /** The store of the server; absent in a change, and from an older server. */
  readonly store?: { readonly epoch: string; readonly unconfirmed?: boolean | undefined }
  readonly complete: boolean
  readonly items: readonly DesiredItem[]
  readonly gone: readonly string[]
  /** Deployments with routes: in a complete desired set all of them, else the changed ones. Absent: no route changed. */
  readonly routes?: readonly RoutedDeployment[]
  /** Uids of deployments that no longer have routes. */
  readonly unrouted?: readonly string[]
  /** Copies of volumes: in a complete desired set all of them, else the changed ones. Absent: no copy changed. */
  readonly copies?: readonly DesiredCopy[]
  /** Ids of volumes of which the node holds no copy, and whose removal the server knows. */
  readonly goneCopies?: readonly string[]
  /** All peers of the node. Absent: no peer changed. */
  readonly peers?: readonly Peer[]
  /** All decisions about offered copies. Absent: none changed. */
  readonly offers?: readonly OfferDecision[]
  readonly wipePool?: PoolWipe
  /** Networks: in a complete desired set all of them, else the changed ones. Absent: no network changed. */
  readonly networks?: readonly DesiredNetwork[]
  /** The attempts of jobs whose logs this node keeps; absent: it keeps all. Only in a complete set. */
  readonly jobLogs?: readonly AssignmentId[]
  /** Ids of networks that the node no longer has, as the server knows. */
  readonly goneNetworks?: readonly string[]
  /** The other routers of the tenant. Absent in a complete set: the server does not know of certificates. */
  readonly routers?: TenantRouters
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
  onWelcome?(reported: ReportedRole & { readonly session: number }): void
  onDesired(change: DesiredChange): void
  containers(): Promise<MachineContainer[]>
  /** All copies of volumes as last observed; reported after each complete desired set of a server that sends copies. */
  copies?(): readonly ObservedCopy[]
  /** The node's pool and what it holds; reported like the copies. */
  pool?(): PoolReport | undefined
  /** All networks as last observed; reported after each complete desired set of a server that sends networks. */
  networks?(): readonly ObservedNetwork[]
  /** The disks as last measured; reported after each complete desired set. Absent: this agent measures none. */
  disks?(): NodeDisks | undefined
  /** The bytes in use of all copies, as last measured. */
  measure?(): Measurement[]
  /** The same after a round of checkpoints that began with this call. Never rejects. */
  checkpoint?(): Promise<Measurement[]>
  /** Answers about promises; `prepare` asks for votes. Rejects if the node cannot answer. Absent: this node makes none. */
  promises?(method: 'promises' | 'prepare', asked: readonly AskedVolume[]): Promise<PromiseAnswer[]>
  /** Deletes quarantined data: true if there was any. Rejects if the outcome is unknown. Absent: this node has no pool. */
  deleteDivergence?(kept: KeptEpoch): Promise<boolean>
  /** Whether the engine answers, for each heartbeat. Absent: this agent does not watch it. */
  engineHealth?(): EngineHealth
  /** Why this node removes nothing, for each heartbeat; undefined while it may remove. */
  hold?(): string | undefined
  /** Takes the samples that heartbeats carry. Absent: this node sends none. */
  readonly sampler?: Pick<NodeSampler, 'history' | 'sample' | 'now'>
  /** The roots that this node trusts. Absent: the pinned one alone, for ever. */
  readonly authorities?: Pick<Authorities, 'trusted' | 'pins' | 'learn'>
  /** Opens streams. Absent: this node offers none. */
  readonly streams?: OpenSessionStreams
  readonly log: Logger
}

export interface Session {
  /** Reports observations. Without an open session they are kept and sent after the next complete desired set. */
  report(observations: readonly Observation[]): void
  /**
   * Reports the names of orphans that were too many to remove; repeated after each complete desired set until the list is
   * empty.
   */
  reportOrphans(names: readonly string[]): void
  /** Reports copies of volumes that have changed. Without an open session nothing is sent: see SessionOptions.copies. */
  reportCopies(copies: readonly ObservedCopy[]): void
  /** Reports the node's pool. Without an open session nothing is sent: see SessionOptions.pool. */
  reportPool(pool: PoolReport): void
  /** Reports networks that have changed. Without an open session nothing is sent: see SessionOptions.networks. */
  reportNetworks(networks: readonly ObservedNetwork[]): void
  /** Reports how full the disks are. Without an open session nothing is sent: see SessionOptions.disks. */
  reportDisks(disks: NodeDisks): void
  /** Reports the fingerprints of the trusted roots. Without an open session nothing is sent: hello states them. */
  reportAuthorities(pins: readonly string[]): void
  /** The tenant's credential for a registry host; undefined if the tenant has none. */
  registryCredential(host: string): Promise<RegistryCredential | undefined>
  /** Requests the environment for one attempt to create a container. Rejects with NoSessionError without a session. */
  containerEnvironment(id: AssignmentId): Promise<EnvironmentAnswer>
  /**
   * Reads or changes the promotable nodes of at most CALL_VOLUMES volumes, and returns their committed configurations.
   * Rejects if the outcome is unknown.
   */
  configure(requests: readonly ConfigureRequest[]): Promise<readonly Configuration[]>
  close(): void
}

/** Thrown by a call to the server if no session is open, or if the session ends before the answer. */
export class NoSessionError extends Error {
  constructor() {
    super('There is no session with the server, or it ended before the answer arrived.')
    this.name = 'NoSessionError'
  }
}

export type StartSession = (options: SessionOptions) => Session
