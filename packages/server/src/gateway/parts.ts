// What the parts of the gateway share: its sessions, its indexes, and the sockets that have not said hello yet.

import type { NodeCalls } from './call-node.ts'
import type { Running } from './deps.ts'
import type { DesiredIndex } from './desired-index.ts'
import type { HeldSessions } from './held-sessions.ts'
import type { NodeDirectory } from './node-directory.ts'
import type { AgentSocket, Session } from './session.ts'
import type { SessionRateLimit } from './session-rate-limit.ts'
import type { NodeStreams } from './streams/node-streams.ts'

export interface Connection {
  readonly socket: AgentSocket
  readonly nonce: string
  readonly helloUntil: number
  opening: boolean
  /** A farewell was said. */
  ended: boolean
  session: Session | undefined
}

export interface GatewayParts {
  readonly running: Running
  readonly directory: NodeDirectory
  readonly index: DesiredIndex
  readonly held: HeldSessions
  readonly calls: NodeCalls
  readonly streams: NodeStreams
  readonly openings: SessionRateLimit
  /** Sockets that have not said hello yet. */
  readonly waiting: Set<Connection>
}
