// What agent and server say to each other over the one socket that the agent opens. SAFETY 4e.
//
//   server  challenge                                        a fresh nonce
//   agent   hello            signs nonce, node and generation
//   server  welcome          the session's epoch; or refused, and the end
//   server  complete, then delta ...; complete again each minute
//   agent   heartbeat each 10 s; status when something changed
//   either  call and answer  one question to the other side
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
  /** Where this node's router takes what other nodes of the tenant forward, as `host:port`; absent: it routes nothing. */
  peerAddress: optional(string()),
})
export type Hello = Infer<typeof helloShape>

export const welcomeShape = object({
  type: oneOf(['welcome']),
  session: integer(),
  tenant: branded<TenantId>(),
  heartbeatMs: integer(),
  /** The control plane runs on this node; then the agent makes nothing new for any tenant but the platform's. */
  controlPlane: optional(boolean()),
  /** The node's tenant is the platform's own. */
  platform: optional(boolean()),
})

/** The session is not opened, or ends; `code` is of the catalogue, or one word of this protocol. */
export const closeShape = object({ type: oneOf(['farewell']), code: string(), message: string() })

/**
 * By deployment and templateHash. Not by the hash alone: it leaves out the name and the stop grace period, so that two
 * deployments may have one hash and still be made differently (DECISIONS 4).
 */
const templatesShape = map(map(containerTemplateShape))
type Templates = Infer<typeof templatesShape>

/** The whole desired set of the node as of a store revision. What is not in it is not wished. */
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

/** What changed since the last complete or delta. */
export const deltaShape = object({
  type: oneOf(['delta']),
  session: integer(),
  revision: integer(),
  items: list(sentItemShape),
  templates: templatesShape,
  gone: list(string()),
  /** Routed deployments that are new or others than before. */
  routes: optional(list(routedDeploymentShape)),
  /** Uids of deployments that are no longer routed. */
  unrouted: optional(list(string())),
})
export type Delta = Infer<typeof deltaShape>

/** Each item with its template again. Throws where one is not there: such a set cannot be worked with. */
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

/** The other way: each template once, however many items are made of it. */
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
  /** Names of containers that nobody wishes and that are too many to be removed unasked; absent: no word of them. */
  orphans: optional(list(string())),
})
export type Status = Infer<typeof statusShape>

/** `containers` is asked of the agent, `registry` and `environment` of the server. */
export const CALL_METHODS = ['containers', 'registry', 'environment'] as const
export const callShape = object({
  type: oneOf(['call']),
  id: string(),
  method: oneOf(CALL_METHODS),
  /** Of `registry`: whose credential is wanted. */
  host: optional(string()),
  /** Of `environment`: for which container, and which of the attempts to make it: each is answered once. */
  assignmentId: optional(branded<AssignmentId>()),
  attempt: optional(string()),
})
export type Call = Infer<typeof callShape>

export const answerShape = object({
  type: oneOf(['answer']),
  id: string(),
  containers: optional(list(machineContainerShape)),
  /** Sealed to the node's encryption key; absent where the tenant keeps no credential for the host. */
  sealed: optional(string()),
  error: optional(string()),
  /** Of `environment`: which entry was not resolved and why, in words of ours. */
  about: optional(string()),
})
export type Answer = Infer<typeof answerShape>

/** What is sealed to the node that makes a container. It says for which one, so that no other can be given it. */
export const sealedEnvironmentShape = object({
  assignmentId: branded<AssignmentId>(),
  attempt: string(),
  environment: map(string()),
  /** Goes back with each report of the container. */
  proof: string(),
})

export const STREAM_KINDS = ['logs', 'exec'] as const
/** The server asks for a stream of bytes; it goes on until either side says `end`. */
export const openShape = object({
  type: oneOf(['open']),
  /** Of the session, a number that was not used before. */
  stream: integer(),
  kind: oneOf(STREAM_KINDS),
  assignmentId: branded<AssignmentId>(),
  /** Of `logs`. */
  follow: optional(boolean()),
  tail: optional(integer()),
  since: optional(string()),
  /** Of `exec`. */
  command: optional(list(string())),
  tty: optional(boolean()),
})
export type Open = Infer<typeof openShape>

/**
 * The receiver has room for so many more bytes of frames, headers included; nothing is sent beyond it, so that a slow
 * reader slows the source. Both sides begin with none.
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

/** Why a stream is not there or ended early. */
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
/** No frame carries more, so that what else is to be said never waits long. */
export const STREAM_PAYLOAD_BYTES = 16 * 1024
/** At a time, of one node. */
export const STREAMS_PER_NODE = 32
/**
 * The first five are also those of the exec subprotocol (DECISIONS 1). An empty frame of stdin is the end of the input.
 * `skipped` is of logs alone: `{lines, bytes}` that the reader was too slow for, told where they are missing.
 */
export const STREAM_CHANNELS = { stdin: 0, stdout: 1, stderr: 2, resize: 3, exit: 4, skipped: 5 } as const

const SERVER_MESSAGES = {
  challenge: challengeShape,
  welcome: welcomeShape,
  farewell: closeShape,
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
