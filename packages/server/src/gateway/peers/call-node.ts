// One question to a node, from whichever replica, to whichever holds the node's socket. SPEC 2.8, DESIGN 3.

import {
  type Answer,
  decode,
  type Infer,
  list,
  machineContainerShape,
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

/** What is asked of agents; the other method of the protocol is asked of the server. */
export type NodeMethod = 'containers'

/** `unreachable`: nobody holds the node's socket, or no answer came in time. Never an empty list. */
const nodeAnswerShape = object({
  kind: oneOf(['answered', 'unreachable', 'failed']),
  containers: optional(list(machineContainerShape)),
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
  /** For POST /internal/nodes/{id}/call of this replica. */
  internalCallHandler(request: InternalRequest): Promise<InternalAnswer>
  /** An agent's answer; one that nobody waits for is dropped. */
  settle(session: Session, answer: Answer): void
  /** The socket is gone: nobody needs to wait until the deadline. */
  abandon(session: Session): void
}

interface Waiting {
  readonly session: Session
  resolve(answer: NodeAnswer): void
}

const PATH = /^\/internal\/nodes\/([A-Za-z0-9_]{1,64})\/call$/
const pathOf = (nodeId: NodeId): string => `/internal/nodes/${nodeId}/call`

/** `held`: the session of that tenant's node, where its socket is here. */
export function createNodeCalls(
  context: GatewayContext,
  held: (tenant: string, nodeId: string) => Session | undefined,
): NodeCalls {
  const waiting = new Map<string, Waiting>()
  const isProven = createProofCheck(context.clusterKey, context.clock)
  const ask = (session: Session, method: NodeMethod) => askSession(context, waiting, session, method)
  return {
    async callNode(tenant, nodeId, method) {
      const session = held(tenant, nodeId)
      return session === undefined ? forward(context, { tenant, nodeId }, method) : ask(session, method)
    },
    async internalCallHandler({ headers, path, body }) {
      const [, nodeId = ''] = PATH.exec(path) ?? []
      if (!isProven(headers.authorization, { method: 'POST', path, body })) return { status: 401, body: '{}' }
      const wanted = readCall(body)
      if (nodeId === '' || wanted === undefined) return { status: 400, body: '{}' }
      // Not forwarded again: a record that is behind must not send a call round in circles.
      const session = held(wanted.tenant, nodeId)
      const answer = session === undefined ? UNREACHABLE : await ask(session, wanted.method)
      return { status: 200, body: JSON.stringify(answer) }
    },
    settle(session, { id, containers, error }) {
      const one = waiting.get(id)
      if (one === undefined || one.session !== session) return
      if (error !== undefined) one.resolve({ kind: 'failed', reason: error.slice(0, 256) })
      else if (containers !== undefined) one.resolve({ kind: 'answered', containers })
      else one.resolve({ kind: 'failed', reason: 'the answer holds nothing' })
    },
    abandon(session) {
      for (const one of waiting.values()) if (one.session === session) one.resolve(UNREACHABLE)
    },
  }
}

function readCall(body: string): { tenant: string; method: NodeMethod } | undefined {
  try {
    const { tenant, method } = decode(callBodyShape, JSON.parse(body))
    return method === 'containers' ? { tenant, method } : undefined
  } catch {
    return undefined
  }
}

function askSession(
  { ids, times }: GatewayContext,
  waiting: Map<string, Waiting>,
  session: Session,
  method: NodeMethod,
): Promise<NodeAnswer> {
  const id = ids.ulid()
  return new Promise((resolve) => {
    const settle = (answer: NodeAnswer): void => {
      clearTimeout(timer)
      waiting.delete(id)
      resolve(answer)
    }
    const timer = setTimeout(() => settle(UNREACHABLE), times.callMs)
    waiting.set(id, { session, resolve: settle })
    if (!send(session.socket, { type: 'call', id, method })) settle(UNREACHABLE)
  })
}

async function forward(context: GatewayContext, node: NodeAddress, method: NodeMethod): Promise<NodeAnswer> {
  const { clusterKey, clusterCa, clock, times, log } = context
  const base = findHolder(context, node)
  if (base === undefined) return UNREACHABLE
  const url = new URL(pathOf(node.nodeId), base)
  const body = JSON.stringify({ tenant: node.tenant, method })
  const authorization = proveRequest(clusterKey, clock, { method: 'POST', path: url.pathname, body })
  const ca = clusterCa === undefined ? {} : { ca: clusterCa }
  try {
    const answer = await postJson({ url, body, authorization, deadlineMs: times.callMs, ...ca })
    if (answer.status === 200) return decode(nodeAnswerShape, JSON.parse(answer.body))
    log.warn({ base, status: answer.status }, 'another server replica refused a call to a node')
  } catch (error) {
    log.warn({ base, error: String(error) }, 'another server replica did not answer a call to a node')
  }
  return UNREACHABLE
}
