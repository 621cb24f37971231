// The state that the parts of the gateway share: sessions, indexes, and the sockets that have not sent a hello yet.

import type { GatewayContext } from './deps.ts'
import type { DesiredIndex } from './desired/desired-index.ts'
import type { NodeCalls } from './peers/call-node.ts'
import type { NodeDirectory } from './peers/node-directory.ts'
import type { ReplicaAddresses } from './peers/replica-addresses.ts'
import type { ViewCalls } from './peers/view-calls.ts'
import type { HeldSessions } from './session/held-sessions.ts'
import type { AgentSocket, Session } from './session/session.ts'
import type { SessionRateLimit } from './session/session-rate-limit.ts'
import type { StoreAccess } from './store-access.ts'
import type { NodeStreams } from './streams/node-streams.ts'
import type { UsageMemory } from './usage/usage-memory.ts'

export interface Connection {
  readonly socket: AgentSocket
  readonly nonce: string
  readonly helloUntil: number
  opening: boolean
  /** True after the server sent a close message; messages that the agent sends later are ignored. */
  ended: boolean
  session: Session | undefined
}

export interface GatewayParts {
  readonly context: GatewayContext
  readonly directory: NodeDirectory
  readonly index: DesiredIndex
  readonly held: HeldSessions
  readonly calls: NodeCalls
  readonly addresses: ReplicaAddresses
  readonly views: ViewCalls
  readonly access: StoreAccess
  readonly streams: NodeStreams
  readonly usage: UsageMemory
  readonly sessionLimit: SessionRateLimit
  /** Sockets that have not sent a hello yet. */
  readonly waiting: Set<Connection>
  /** Aborted when the server stops; an agent that connects later would keep it from stopping. */
  readonly closing: AbortSignal
}
