// Calls a node from any server replica: directly if this server replica has the node's socket, otherwise through the
// server replica that has it. See docs/design/agent.md#session

import {
  type Answer,
  type AskedVolume,
  askedVolumeShape,
  boolean,
  branded,
  decodeOpen,
  defined,
  encodeOpen,
  type Infer,
  integer,
  type KeptEpoch,
  keptEpochShape,
  list,
  machineContainerShape,
  measurementShape,
  type NodeId,
  object,
  oneOf,
  optional,
  promiseShape,
  string,
  type TenantId,
} from '@holdfast/contract'
import { silentMs } from '../../liveness/record-session-status.ts'
import type { NodeUsage } from '../../ports/usage.ts'
import type { GatewayContext, NodeAddress } from '../deps.ts'
import { type Session, send } from '../session/session.ts'
import { answerUsage, nodeUsageShape, type UsageQuestion, usageQuestionShape } from '../usage/ask-usage.ts'
import type { UsageMemory } from '../usage/usage-memory.ts'
import { noteRefusal, refuseEpoch, withEpoch } from './calling-epoch.ts'
import { createProofCheck, proveHead, proveRequest } from './cluster-proof.ts'
import { findHolder } from './find-holder.ts'
import { postJson } from './post-json.ts'

/** The methods that the server calls on agents. All other methods of the protocol are called by agents. */
const NODE_METHODS = [
  'containers',
  'measure',
  'checkpoint',
  'promises',
  'prepare',
  'delete_divergence',
] as const
export type NodeMethod = (typeof NODE_METHODS)[number]

/** A question to the server replica that holds the session, which no agent receives: how long the node has been silent. */
const SILENCE = 'silence'
/** Another one: which usage of the node and of others it keeps. */
const USAGE = 'usage'

/** The subject of a call. */
interface CallSubject {
  /** For the methods `promises` and `prepare`. */
  readonly volumes?: readonly AskedVolume[]
  /** For the method `delete_divergence`. */
  readonly divergence?: KeptEpoch
}

interface NodeRequest extends CallSubject {
  readonly method: NodeMethod | typeof SILENCE | typeof USAGE
  /** For the question after usage. */
  readonly usage?: UsageQuestion
}

const QUESTIONS: readonly NodeRequest['method'][] = [SILENCE, USAGE, ...NODE_METHODS]
/** These methods flush the pool of the node, so their answers may take several times as long as others. */
const FLUSHING: readonly string[] = ['checkpoint', 'delete_divergence']

function deadlineMs({ callMs, promiseCallMs }: GatewayContext['times'], { method }: NodeRequest): number {
  if (FLUSHING.includes(method)) return 3 * callMs
  return method === 'containers' || method === 'measure' || method === USAGE ? callMs : promiseCallMs
}

/** A node's answer. `unreachable` (no socket, or no answer in time) does not mean that the node has no containers. */
const nodeAnswerShape = object({
  kind: oneOf(['answered', 'unreachable', 'failed']),
  containers: optional(list(machineContainerShape)),
  measurements: optional(list(measurementShape)),
  promises: optional(list(promiseShape)),
  deleted: optional(boolean()),
  /** For the question after the silence of a node, in milliseconds. */
  silentMs: optional(integer()),
  /** For the question after usage. */
  usage: optional(list(nodeUsageShape)),
  reason: optional(string()),
})
export type NodeAnswer = Infer<typeof nodeAnswerShape>

const UNREACHABLE: NodeAnswer = { kind: 'unreachable' }
const callBodyShape = object({
  tenant: branded<TenantId>(),
  method: string(),
  volumes: optional(list(askedVolumeShape)),
  divergence: optional(keptEpochShape),
  usage: optional(usageQuestionShape),
})

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
  callNode(tenant: TenantId, nodeId: NodeId, method: NodeMethod, subject?: CallSubject): Promise<NodeAnswer>
  /** How long the node has been silent, in milliseconds; undefined if no server replica can tell. */
  silenceOf(tenant: TenantId, nodeId: NodeId): Promise<number | undefined>
  /** Asks the server replica that holds the node for the usage of nodes; undefined if it does not answer. */
  askUsage(node: NodeAddress, question: UsageQuestion): Promise<readonly NodeUsage[] | undefined>
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

/** Finds the session of the tenant's node that this server replica holds, with or without a socket. */
type FindSession = (tenant: string, nodeId: string) => Session | undefined

export function createNodeCalls(context: GatewayContext, find: FindSession, memory: UsageMemory): NodeCalls {
  const pending = new Map<string, PendingCall>()
  const isProven = createProofCheck(context.clusterKey, context.clock)
  const held: FindSession = (tenant, nodeId) => {
    const session = find(tenant, nodeId)
    return session?.socket === undefined ? undefined : session
  }
  const answerHere = async (
    tenant: TenantId,
    nodeId: string,
    { method, usage, ...subject }: NodeRequest,
  ): Promise<NodeAnswer> => {
    if (method === USAGE) return usageAnswer(memory, tenant, usage)
    if (method === SILENCE) return silenceAnswer(context, find(tenant, nodeId))
    const session = held(tenant, nodeId)
    if (session === undefined) return UNREACHABLE
    return callSession(context, pending, session, { ...subject, method })
  }
  return {
    async callNode(tenant, nodeId, method, subject = {}) {
      const request: NodeRequest = { ...subject, method }
      if (held(tenant, nodeId) === undefined) return forward(context, { tenant, nodeId }, request)
      return answerHere(tenant, nodeId, request)
    },
    async silenceOf(tenant, nodeId) {
      const request: NodeRequest = { method: SILENCE }
      if (find(tenant, nodeId) === undefined)
        return (await forward(context, { tenant, nodeId }, request)).silentMs
      return (await answerHere(tenant, nodeId, request)).silentMs
    },
    askUsage: async (node, usage) => (await forward(context, node, { method: USAGE, usage })).usage,
    async internalCallHandler({ headers, path, body }) {
      const [, nodeId = ''] = PATH.exec(path) ?? []
      if (!isProven(headers.authorization, { method: 'POST', path, body })) return { status: 401, body: '{}' }
      const refused = refuseEpoch(context.store, body)
      if (refused !== undefined) return { status: refused, body: '{}' }
      const call = readCall(body)
      if (nodeId === '' || call === undefined) return { status: 400, body: '{}' }
      // A forwarded call is not forwarded again, because outdated records could send the call in circles.
      return { status: 200, body: encodeOpen(await answerHere(call.tenant, nodeId, call)) }
    },
    settle(session, { id, containers, measurements, promises, deleted, error }) {
      const call = pending.get(id)
      if (call === undefined || call.session !== session) return
      const answer = defined({ containers, measurements, promises, deleted })
      if (error !== undefined) call.resolve({ kind: 'failed', reason: error.slice(0, 256) })
      else if (Object.keys(answer).length > 0) call.resolve({ kind: 'answered', ...answer })
      else call.resolve({ kind: 'failed', reason: 'the answer is empty' })
    },
    abandon(session) {
      for (const call of pending.values()) if (call.session === session) call.resolve(UNREACHABLE)
    },
  }
}

function readCall(body: string): (NodeRequest & { readonly tenant: TenantId }) | undefined {
  try {
    const { tenant, method: called, ...asked } = decodeOpen(callBodyShape, JSON.parse(body))
    const { volumes, divergence, usage } = asked
    const method = QUESTIONS.find((known) => known === called)
    return method && { tenant, method, ...defined({ volumes, divergence, usage }) }
  } catch {
    return undefined
  }
}

const usageAnswer = (
  memory: UsageMemory,
  tenant: TenantId,
  usage: UsageQuestion | undefined,
): NodeAnswer => ({
  kind: 'answered',
  usage: usage === undefined ? [] : answerUsage(memory, tenant, usage),
})

/** The session outlives its socket, so the silence after a lost connection counts from the last frame. */
function silenceAnswer({ detector }: GatewayContext, session: Session | undefined): NodeAnswer {
  if (session === undefined) return UNREACHABLE
  const silence = silentMs(session, performance.now(), detector)
  return { kind: 'answered', silentMs: Math.max(0, Math.round(silence)) }
}

interface AgentCall extends NodeRequest {
  readonly method: NodeMethod
}

function callSession(
  { ids, times }: GatewayContext,
  pending: Map<string, PendingCall>,
  session: Session,
  call: AgentCall,
): Promise<NodeAnswer> {
  const { method, volumes, divergence } = call
  const id = ids.ulid()
  return new Promise((resolve) => {
    const settle = (answer: NodeAnswer): void => {
      clearTimeout(timer)
      pending.delete(id)
      resolve(answer)
    }
    const timer = setTimeout(() => settle(UNREACHABLE), deadlineMs(times, call))
    pending.set(id, { session, resolve: settle })
    const asked = defined({ volumes: volumes && [...volumes], divergence })
    if (!send(session.socket, { type: 'call', id, method, ...asked })) settle(UNREACHABLE)
  })
}

async function forward(
  context: GatewayContext,
  node: NodeAddress,
  request: NodeRequest,
): Promise<NodeAnswer> {
  const { store, clusterKey, clusterCa, clock, times, log, post = postJson } = context
  const base = findHolder(context, node)
  if (base === undefined) return UNREACHABLE
  const url = new URL(pathOf(node.nodeId), base)
  const body = encodeOpen(withEpoch(store, { tenant: node.tenant, ...request }))
  const [method, path] = ['POST', url.pathname]
  const authorization = proveRequest(clusterKey, clock, { method, path, body })
  const bytes = Buffer.byteLength(body)
  try {
    const answer = await post({
      url,
      body,
      authorization,
      headProof: proveHead(clusterKey, { method, path, authorization, bytes }),
      deadlineMs: deadlineMs(times, request),
      ...defined({ ca: clusterCa }),
    })
    if (answer.status === 200) return decodeOpen(nodeAnswerShape, JSON.parse(answer.body))
    noteRefusal(store, answer.status)
    log.warn({ base, status: answer.status }, 'peer replica rejected a call to a node')
    // A server replica of an older version does not know the question, but it may hear the node.
    if (request.method === SILENCE) return { kind: 'answered', silentMs: 0 }
  } catch (error) {
    log.warn({ base, error: String(error) }, 'peer replica did not answer a call to a node')
  }
  return UNREACHABLE
}
