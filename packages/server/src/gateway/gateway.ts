// The gateway accepts the connections of agents. It authenticates each node, sends the node its desired set, stores the
// node's reports and tracks which nodes are connected. See docs/design/agent.md#session

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { AGENT_PATH, AGENT_SUBPROTOCOL, type NodeId } from '@holdfast/contract'
import { WebSocketServer } from 'ws'
import { answerUpgrade, type HandleUpgrade } from '../net/upgrade.ts'
import type { OpenNodeStream } from '../ports/node-streams.ts'
import type { PromiseCalls } from '../ports/promise-calls.ts'
import type { ReadUsage, ReadUsageOfAll } from '../ports/usage.ts'
import { nodes, tenants } from '../store/records.ts'
import { inTenant } from '../store/transaction.ts'
import {
  type GatewayContext,
  type GatewayCounts,
  type GatewayDeps,
  type NodeAddress,
  newCounts,
} from './deps.ts'
import { createDesiredIndex } from './desired/desired-index.ts'
import { createDeltas } from './desired/send-desired.ts'
import type { GatewayParts } from './parts.ts'
import { createNodeCalls, type NodeCalls } from './peers/call-node.ts'
import { createNodeDirectory } from './peers/node-directory.ts'
import { createPromiseCalls } from './peers/promise-calls.ts'
import { createReplicaAddresses } from './peers/replica-addresses.ts'
import { createViewCalls, VIEW_PATH } from './peers/view-calls.ts'
import { acceptConnection } from './session/connection.ts'
import { endSessions } from './session/end-sessions.ts'
import { createHeldSessions } from './session/held-sessions.ts'
import type { AgentSocket, Session } from './session/session.ts'
import { createSessionRateLimit } from './session/session-rate-limit.ts'
import { createStoreAccess } from './store-access.ts'
import { createNodeStreams } from './streams/node-streams.ts'
import { endStreams } from './streams/session-streams.ts'
import { startSweeps } from './sweep.ts'
import { DEFAULT_TIMES } from './timings.ts'
import { createReadUsage, createReadUsageOfAll } from './usage/ask-usage.ts'
import { createUsageMemory } from './usage/usage-memory.ts'

export interface Gateway extends Pick<NodeCalls, 'callNode' | 'internalCallHandler'>, PromiseCalls {
  readonly openStream: OpenNodeStream
  /** Reads the usage of nodes, whichever server replica holds their sessions. */
  readonly readUsage: ReadUsage
  readonly readUsageOfAll: ReadUsageOfAll
  /** Handles a WebSocket upgrade from an agent or another server replica. Returns false for any other upgrade. */
  handleUpgrade: HandleUpgrade
  /** Accepts an agent's socket that is already open. */
  accept(socket: AgentSocket): void
  /** When the session of a node was last heard, by the monotonic clock; undefined if another server holds it. */
  heardAt(nodeId: NodeId): number | undefined
  readonly counts: Readonly<GatewayCounts>
  /** Whether this gateway does not reach the store while others do, and therefore accepts no agents. */
  readonly isCutOff: boolean
  /** The number of sessions with an open socket. */
  readonly sessions: number
  /**
   * Closes all sessions, each at a random time within `spreadMs`, so that the agents do not connect to another server
   * replica all at once. Resolves when they are closed; without `spreadMs` they are closed on return.
   */
  close(spreadMs?: number): Promise<void>
}

/** Maximum size of a message: enough for a report of some hundred containers, or the list of a machine's containers. */
const MAX_MESSAGE_BYTES = 512 * 1024
/** Maximum number of sockets that have not sent a hello; each such socket may buffer one message. */
const MAX_WAITING = 1_000

export function createGateway(deps: GatewayDeps): Gateway {
  const context: GatewayContext = { ...deps, times: { ...DEFAULT_TIMES, ...deps.times }, counts: newCounts() }
  const closing = new AbortController()
  const parts = createParts(context, closing.signal)
  const { held, index, directory } = parts
  const deltas = createDeltas(parts)
  const unsubscribe = deps.store.subscribe((changes) => {
    for (const node of directory.apply(changes)) {
      held.review(node)
      if (!isHeldHere(context, node)) parts.usage.drop(node)
    }
    index.apply(changes, deltas.note)
    parts.addresses.apply(changes, performance.now())
  })
  restoreOwnSessions(parts)
  const stopSweeps = startSweeps(parts)
  const upgrades = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    // The WebSocket library sends no pongs. `answerPing` sends them, except to an agent that does not read its socket.
    autoPong: false,
    maxPayload: MAX_MESSAGE_BYTES,
    handleProtocols: () => AGENT_SUBPROTOCOL,
  })
  const handleUpgrade: HandleUpgrade = (request, socket, head) =>
    upgrade(parts, upgrades, request, socket, head) || parts.streams.handleUpgrade(request, socket, head)
  return {
    openStream: parts.streams.open,
    handleUpgrade,
    accept: (socket) => acceptConnection(parts, socket),
    callNode: parts.calls.callNode,
    internalCallHandler: (request) =>
      request.path === VIEW_PATH ? parts.views.handler(request) : parts.calls.internalCallHandler(request),
    readUsage: createReadUsage(context, parts.usage, parts.calls.askUsage),
    readUsageOfAll: createReadUsageOfAll(context, parts.usage, parts.calls.askUsage),
    ...createPromiseCalls(context, parts.calls),
    heardAt: (nodeId) => held.all.get(nodeId)?.heardAt,
    counts: context.counts,
    get isCutOff() {
      return parts.access.isCutOff
    },
    get sessions() {
      return [...held.all.values()].filter(({ socket }) => socket !== undefined).length
    },
    async close(spreadMs = 0) {
      closing.abort()
      if (spreadMs > 0) await endSessions(parts, spreadMs)
      unsubscribe()
      stopSweeps()
      deltas.close()
      await endSessions(parts, 0)
    },
  }
}

function createParts(context: GatewayContext, closing: AbortSignal): GatewayParts {
  const held = createHeldSessions(context, (session) => {
    calls.abandon(session)
    endStreams(session)
  })
  const find = (tenant: string, nodeId: string): Session | undefined => {
    const session = held.all.get(nodeId)
    return session?.tenant === tenant ? session : undefined
  }
  const here = (tenant: string, nodeId: string): Session | undefined => {
    const session = find(tenant, nodeId)
    return session?.socket === undefined ? undefined : session
  }
  const { usageStepMs: stepMs, usageMeanMs: meanMs } = context.times
  const usage = createUsageMemory({ stepMs, meanMs, now: () => performance.now() })
  const calls = createNodeCalls(context, find, usage)
  const addresses = createReplicaAddresses(context, performance.now())
  const views = createViewCalls(context, addresses, closing)
  return {
    context,
    held,
    calls,
    addresses,
    views,
    access: createStoreAccess(context, views.askOthers),
    streams: createNodeStreams(context, here),
    directory: createNodeDirectory(context.store),
    index: createDesiredIndex(context.store),
    usage,
    sessionLimit: createSessionRateLimit(context.times.reopenMs),
    waiting: new Set(),
    closing,
  }
}

/** Whether the node's record names this server replica, also after the node fell silent. */
const isHeldHere = ({ store, replica }: GatewayContext, { tenant, nodeId }: NodeAddress): boolean =>
  store.get(inTenant(tenant, nodes, nodeId))?.record.session.replica === replica

/** Restores the sessions of an earlier process with the same id, so that this process can detect silent nodes. */
function restoreOwnSessions({ context: { store }, held }: GatewayParts): void {
  for (const { record: tenant } of store.list(tenants))
    for (const { record: node } of store.list(nodes, tenant.id))
      held.review({ tenant: tenant.id, nodeId: node.id })
}

function upgrade(
  parts: GatewayParts,
  sockets: WebSocketServer,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): boolean {
  if (request.url !== AGENT_PATH) return false
  const fault = upgradeFault(parts, request)
  if (fault === undefined)
    sockets.handleUpgrade(request, socket, head, (accepted) => acceptConnection(parts, accepted))
  else answerUpgrade(socket, fault)
  return true
}

function upgradeFault(
  { waiting, closing, access }: GatewayParts,
  { headers }: IncomingMessage,
): number | undefined {
  if (closing.aborted || access.isCutOff) return 503
  const offered = String(headers['sec-websocket-protocol'] ?? '').split(',')
  if (!offered.some((name) => name.trim() === AGENT_SUBPROTOCOL)) return 400
  // At the limit, the oldest socket without a hello is closed, so that idle sockets cannot lock out new agents.
  const [oldest] = waiting
  if (waiting.size >= MAX_WAITING && oldest !== undefined) {
    waiting.delete(oldest)
    oldest.socket.terminate()
  }
  return undefined
}
