// Messages between agent and server, over the WebSocket that the agent opens.
//
//   server  challenge                                        a fresh nonce
//   agent   hello            signs nonce, node and generation
//   server  welcome          the session's epoch; or refused, and the end
//   server  complete, then delta ...; complete again each minute
//   agent   heartbeat each 10 s; status when something changed
// call and answer  one question to the other side => call and answer  one request to the other side
//   server  open; both credit, end; binary frames between     a stream of bytes: logs, exec

import { capacityShape, engineShape, machineContainerShape } from '../api/node.ts'
import {
  type ContainerTemplate,
  containerTemplateShape,
  type DesiredItem,
  observationShape,
  routedDeploymentShape,
  type SentItem,
  sentItemShape,
} from '../api/placement.ts'
import type { AssignmentId, NodeId, TenantId } from '../ids.ts'
import {
  boolean,
  branded,
  type Infer,
  integer,
  list,
  map,
  object,
  oneOf,
  optional,
  type Shape,
  string,
} from '../shapes/shape.ts'

export const AGENT_PATH = '/api/v1/agent/session'
export const AGENT_SUBPROTOCOL = 'holdfast.agent.v1'

/** The text that a node signs with its Ed25519 key. */
export const helloText = (nonce: string, nodeId: string, generation: number, bootId: string): string =>
  ['holdfast-hello-v1', nonce, nodeId, generation, bootId].join('\n')

export const challengeShape = object({ type: oneOf(['challenge']), nonce: string() })

export const helloShape = object({
  type: oneOf(['hello']),
  nodeId: branded<NodeId>(),
  generation: integer(),
  bootId: string(),
  signature: string(),
  version: string(),
  labels: map(string()),
  engine: engineShape,
  capacity: capacityShape,
  /**
   * Address of this node's router for requests that other nodes of the tenant forward, as `host:port`. If absent, the
   * node routes nothing.
   */
  peerAddress: optional(string()),
})
export type Hello = Infer<typeof helloShape>

export const welcomeShape = object({
  type: oneOf(['welcome']),
  session: integer(),
  tenant: branded<TenantId>(),
  heartbeatMs: integer(),
  /** The control plane runs on this node. The agent then creates new containers only for the platform's own tenant. */
  controlPlane: optional(boolean()),
  /** The node belongs to the platform's own tenant. */
  platform: optional(boolean()),
})

/** The session is not opened, or ends. `code` is a code of the catalogue or a close reason of this protocol. */
export const closeShape = object({ type: oneOf(['close']), code: string(), message: string() })

/**
 * By deployment and templateHash. The hash alone is not enough: it leaves out the name and the stop grace period, so
 * two deployments may share a hash and still need different containers.
 */
const templatesShape = map(map(containerTemplateShape))
type Templates = Infer<typeof templatesShape>

/** The whole desired set of the node as of a store revision. Containers that are not in it are not desired. */
export const completeShape = object({
  type: oneOf(['complete']),
  session: integer(),
  revision: integer(),
  items: list(sentItemShape),
  templates: templatesShape,
  /** Every routed deployment of the tenant. */
  routes: optional(list(routedDeploymentShape)),
})
export type Complete = Infer<typeof completeShape>

/** Changes since the last complete or delta. */
export const deltaShape = object({
  type: oneOf(['delta']),
  session: integer(),
  revision: integer(),
  items: list(sentItemShape),
  templates: templatesShape,
  gone: list(string()),
  /** Routed deployments that are new or have changed. */
  routes: optional(list(routedDeploymentShape)),
  /** Uids of deployments that are no longer routed. */
  unrouted: optional(list(string())),
})
export type Delta = Infer<typeof deltaShape>

/** Adds its template to each item. Throws if one is missing, because such a set cannot be applied. */
export function joinTemplates({ items, templates }: Pick<Complete, 'items' | 'templates'>): DesiredItem[] {
  const found = new Map<string, Map<string, ContainerTemplate>>()
  for (const [deployment, byHash] of Object.entries(templates))
    found.set(deployment, new Map(Object.entries(byHash)))
  return items.map((item) => {
    const template = found.get(item.deployment)?.get(item.templateHash)
    if (template === undefined) throw new TypeError(`the template of ${item.assignmentId} is not there`)
    return { ...item, template }
  })
}

/** The reverse: each template once, even if many items share it. */
export function splitTemplates(desired: readonly DesiredItem[]): Pick<Complete, 'items' | 'templates'> {
  const templates: Templates = {}
  const items = desired.map(({ template, ...item }): SentItem => {
    const ofDeployment = templates[item.deployment] ?? {}
    ofDeployment[item.templateHash] = template
    templates[item.deployment] = ofDeployment
    return item
  })
  return { items, templates }
}

export const heartbeatShape = object({ type: oneOf(['heartbeat']), session: integer() })

export const statusShape = object({
  type: oneOf(['status']),
  session: integer(),
  observations: list(observationShape),
  /** Names of containers that belong to no assignment and are too many to remove; absent if there are none. */
  orphans: optional(list(string())),
})
export type Status = Infer<typeof statusShape>

/** The server calls `containers`, the agent calls `registry` and `environment`. */
export const CALL_METHODS = ['containers', 'registry', 'environment'] as const
export const callShape = object({
  type: oneOf(['call']),
  id: string(),
  method: oneOf(CALL_METHODS),
  /** For `registry`: the host of the credential. */
  host: optional(string()),
  /** For `environment`: which container, and which attempt to create it. Each attempt is answered once. */
  assignmentId: optional(branded<AssignmentId>()),
  attempt: optional(string()),
})
export type Call = Infer<typeof callShape>

export const answerShape = object({
  type: oneOf(['answer']),
  id: string(),
  containers: optional(list(machineContainerShape)),
  /** Sealed to the node's encryption key; absent if the tenant has no credential for the host. */
  sealed: optional(string()),
  error: optional(string()),
  /** For `environment`: which entry was not resolved and why, in the server's own words. */
  about: optional(string()),
})
export type Answer = Infer<typeof answerShape>

/** Sealed to the node that creates a container. It names the container, so that it cannot be used for another one. */
export const sealedEnvironmentShape = object({
  assignmentId: branded<AssignmentId>(),
  attempt: string(),
  environment: map(string()),
  /** Returned with each report of the container. */
  proof: string(),
})

export const STREAM_KINDS = ['logs', 'exec'] as const
/** The server requests a stream of bytes. It lasts until either side sends `end`. */
export const openShape = object({
  type: oneOf(['open']),
  /** A number that this session has not used yet. */
  stream: integer(),
  kind: oneOf(STREAM_KINDS),
  assignmentId: branded<AssignmentId>(),
  /** For `logs`. */
  follow: optional(boolean()),
  tail: optional(integer()),
  since: optional(string()),
  /** For `exec`. */
  command: optional(list(string())),
  tty: optional(boolean()),
})
export type Open = Infer<typeof openShape>

/**
 * Lets the sender transmit so many more bytes of frames, headers included. Nothing is sent beyond the credit, so a
 * slow reader slows the source. Both sides start with none.
 */
export const creditShape = object({ type: oneOf(['credit']), stream: integer(), bytes: integer() })
export const endShape = object({
  type: oneOf(['end']),
  stream: integer(),
  exitCode: optional(integer()),
  /** One of STREAM_ERRORS. */
  error: optional(string()),
})
export type End = Infer<typeof endShape>

/** Why a stream could not be opened or ended early. */
export const STREAM_ERRORS = [
  'node_unreachable',
  'container_not_found',
  'container_not_running',
  'engine_unavailable',
  'too_many_streams',
  'closed',
  'idle',
] as const
export type StreamError = (typeof STREAM_ERRORS)[number]

/** Bytes of a stream travel as binary frames: channel (1 byte), stream (4 bytes, big endian), payload. */
export const STREAM_HEADER_BYTES = 5
/** Limits a frame, so that other messages never wait long behind it. */
export const STREAM_PAYLOAD_BYTES = 16 * 1024
/** Open at the same time on one node. */
export const STREAMS_PER_NODE = 32
/**
 * The first five are also those of the exec subprotocol. An empty stdin frame ends the input. `skipped` is for logs
 * only: the `{lines, bytes}` dropped because the reader was too slow, sent in their place.
 */
export const STREAM_CHANNELS = { stdin: 0, stdout: 1, stderr: 2, resize: 3, exit: 4, skipped: 5 } as const

const SERVER_MESSAGES = {
  challenge: challengeShape,
  welcome: welcomeShape,
  close: closeShape,
  complete: completeShape,
  delta: deltaShape,
  call: callShape,
  answer: answerShape,
  open: openShape,
  credit: creditShape,
  end: endShape,
} as const
const AGENT_MESSAGES = {
  hello: helloShape,
  heartbeat: heartbeatShape,
  status: statusShape,
  call: callShape,
  answer: answerShape,
  credit: creditShape,
  end: endShape,
} as const

type MessageOf<M extends { readonly [type: string]: Shape<unknown> }> = {
  [K in keyof M]: Infer<M[K]> & { readonly type: K }
}[keyof M]
export type ServerMessage = MessageOf<typeof SERVER_MESSAGES>
export type AgentMessage = MessageOf<typeof AGENT_MESSAGES>

export const serverMessageShapes: { readonly [type: string]: Shape<unknown> } = SERVER_MESSAGES
export const agentMessageShapes: { readonly [type: string]: Shape<unknown> } = AGENT_MESSAGES
