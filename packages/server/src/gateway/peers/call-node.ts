// Calls a node from any server replica: directly if this server replica has the node's socket, otherwise through the
// server replica that has it. See docs/design/agent.md#session

import {
  type Answer,
  decodeOpen,
  defined,
  encodeOpen,
  type Infer,
  list,
  machineContainerShape,
  measurementShape,
  type NodeId,
  object,
  oneOf,
  optional,
  string,
  type TenantId,
} from '@holdfast/contract'
import type { GatewayContext, NodeAddress } from '../deps.ts'
import { type Session, send } from '../session/session.ts'
import { createProofCheck, proveRequest } from './cluster-proof.ts'
import { findHolder } from './find-holder.ts'
import { postJson } from './post-json.ts'

/** The methods that the server calls on agents. All other methods of the protocol are called by agents. */
export type NodeMethod = 'containers' | 'measure' | 'checkpoint'
const NODE_METHODS: readonly NodeMethod[] = ['containers', 'measure', 'checkpoint']

/** A checkpoint flushes the pool of the node, so its answer may take several times as long as others. */
const deadlineMs = ({ callMs }: GatewayContext['times'], method: NodeMethod): number =>
  method === 'checkpoint' ? 3 * callMs : callMs

/** A node's answer. `unreachable` (no socket, or no answer in time) does not mean that the node has no containers. */
const nodeAnswerShape = object({
  kind: oneOf(['answered', 'unreachable', 'failed']),
  containers: optional(list(machineContainerShape)),
  measurements: optional(list(measurementShape)),
  reason: optional(string()),
})
export type NodeAnswer = Infer<typeof nodeAnswerShape>

const UNREACHABLE: NodeAnswer = { kind: 'unreachable' }
const callBodyShape = object({ tenant: string(), method: string() })

export interface InternalRequest {
  readonly headers: { readonly authorization?: string | undefined }
  readonly path: string
  readonly body: string
}

export interface InternalAnswer {
  readonly status: number
  readonly body: string
}

export interface NodeCalls {
  callNode(tenant: TenantId, nodeId: NodeId, method: NodeMethod): Promise<NodeAnswer>
  /** Serves POST /internal/nodes/{id}/call: another server replica calls a node whose socket this server replica has. */
  internalCallHandler(request: InternalRequest): Promise<InternalAnswer>
  /** Resolves the call to which an agent's answer belongs. Answers without a pending call are dropped. */
  settle(session: Session, answer: Answer): void
  /** Resolves all calls of a session whose socket is closed, so that no caller waits for the timeout. */
  abandon(session: Session): void
}

interface PendingCall {
  readonly session: Session
  resolve(answer: NodeAnswer): void
}

const PATH = /^\/internal\/nodes\/([A-Za-z0-9_]{1,64})\/call$/
const pathOf = (nodeId: NodeId): string => `/internal/nodes/${nodeId}/call`

/** `held` returns the session of the tenant's node if this server replica has the node's socket. */
export function createNodeCalls(
  context: GatewayContext,
  held: (tenant: string, nodeId: string) => Session | undefined,
): NodeCalls {
  const pending = new Map<string, PendingCall>()
  const isProven = createProofCheck(context.clusterKey, context.clock)
  const callHere = (session: Session, method: NodeMethod) => callSession(context, pending, session, method)
  return {
    async callNode(tenant, nodeId, method) {
      const session = held(tenant, nodeId)
      return session === undefined ? forward(context, { tenant, nodeId }, method) : callHere(session, method)
    },
    async internalCallHandler({ headers, path, body }) {
      const [, nodeId = ''] = PATH.exec(path) ?? []
      if (!isProven(headers.authorization, { method: 'POST', path, body })) return { status: 401, body: '{}' }
      const call = readCall(body)
      if (nodeId === '' || call === undefined) return { status: 400, body: '{}' }
      // A forwarded call is not forwarded again, because outdated records could send the call in circles.
      const session = held(call.tenant, nodeId)
      const answer = session === undefined ? UNREACHABLE : await callHere(session, call.method)
      return { status: 200, body: encodeOpen(answer) }
    },
    settle(session, { id, containers, measurements, error }) {
      const call = pending.get(id)
      if (call === undefined || call.session !== session) return
      if (error !== undefined) call.resolve({ kind: 'failed', reason: error.slice(0, 256) })
      else if (containers !== undefined || measurements !== undefined)
        call.resolve({ kind: 'answered', ...defined({ containers, measurements }) })
      else call.resolve({ kind: 'failed', reason: 'the answer is empty' })
    },
    abandon(session) {
      for (const call of pending.values()) if (call.session === session) call.resolve(UNREACHABLE)
    },
  }
}

function readCall(body: string): { tenant: string; method: NodeMethod } | undefined {
  try {
    const { tenant, method: called } = decodeOpen(callBodyShape, JSON.parse(body))
    const method = NODE_METHODS.find((known) => known === called)
    return method && { tenant, method }
  } catch {
    return undefined
  }
}

function callSession(
  { ids, times }: GatewayContext,
  pending: Map<string, PendingCall>,
  session: Session,
  method: NodeMethod,
): Promise<NodeAnswer> {
  const id = ids.ulid()
  return new Promise((resolve) => {
    const settle = (answer: NodeAnswer): void => {
      clearTimeout(timer)
      pending.delete(id)
      resolve(answer)
    }
    const timer = setTimeout(() => settle(UNREACHABLE), deadlineMs(times, method))
    pending.set(id, { session, resolve: settle })
    if (!send(session.socket, { type: 'call', id, method })) settle(UNREACHABLE)
  })
}

async function forward(context: GatewayContext, node: NodeAddress, method: NodeMethod): Promise<NodeAnswer> {
  const { clusterKey, clusterCa, clock, times, log } = context
  const base = findHolder(context, node)
  if (base === undefined) return UNREACHABLE
  const url = new URL(pathOf(node.nodeId), base)
  const body = encodeOpen({ tenant: node.tenant, method })
  const authorization = proveRequest(clusterKey, clock, { method: 'POST', path: url.pathname, body })
  try {
    const answer = await postJson({
      url,
      body,
      authorization,
      deadlineMs: deadlineMs(times, method),
      ...defined({ ca: clusterCa }),
    })
    if (answer.status === 200) return decodeOpen(nodeAnswerShape, JSON.parse(answer.body))
    log.warn({ base, status: answer.status }, 'peer replica rejected a call to a node')
  } catch (error) {
    log.warn({ base, error: String(error) }, 'peer replica did not answer a call to a node')
  }
  return UNREACHABLE
}
