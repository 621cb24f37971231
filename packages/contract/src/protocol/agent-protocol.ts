// Messages between agent and server, over the WebSocket that the agent opens.
//
//   server  challenge          a fresh nonce
//   agent   hello              a signature over nonce, node id, generation and boot id
//   server  welcome or close   the epoch of the session, or the reason why the session ends
//   server  complete, delta    all desired containers each minute, and changes in between
//   agent   heartbeat, status  a heartbeat each 10 s with usage and health, and the state of containers after a change
//   agent   usage              samples of usage that the server lacks, after the start of a session
//   both    call, answer       one request to the other side and its response
//   server  open               requests a stream of bytes: logs, exec or quarantined data
//   both    credit, end        flow control and end of a stream; the bytes are in binary frames

import { nodeDisksShape } from '../api/disks.ts'
import { capacityShape, engineShape, machineContainerShape, storageShape } from '../api/node.ts'
import {
  type ContainerTemplate,
  containerTemplateShape,
  type DesiredItem,
  observationShape,
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
  nullable,
  object,
  oneOf,
  optional,
  type Shape,
  string,
} from '../shapes/shape.ts'
import { engineHealthShape } from './engine-health.ts'
import { desiredNetworkShape, observedNetworkShape } from './networks.ts'
import { offerDecisionShape, poolReportShape, poolWipeShape } from './pool-report.ts'
import { askedVolumeShape, configurationShape, configureRequestShape, promiseShape } from './promotion.ts'
import { routedDeploymentShape } from './routed-deployment.ts'
import { routersShape } from './routers.ts'
import { shownStoreShape } from './shown-store.ts'
import { creditShape, endShape, keptEpochShape, openShape } from './streams.ts'
import { nodeSampleShape, sampleRoundShape, usageSeriesShape } from './usage.ts'
import { desiredCopyShape, measurementShape, observedCopyShape, peerShape } from './volume-copies.ts'

export const AGENT_PATH = '/api/v1/agent/session'
export const AGENT_SUBPROTOCOL = 'holdfast.agent.v1'

/** The most roots that a node trusts beside those of its machine. */
export const MAX_AUTHORITIES = 8

/** The text that a node signs with its Ed25519 key for the `hello` message. */
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
  /** The agent's capabilities; absent in the hello of an agent that has exactly those of version 0.1.0. */
  capabilities: optional(list(string())),
  labels: map(string()),
  engine: engineShape,
  capacity: capacityShape,
  /** The node's storage pool; absent if it has none. */
  storage: optional(storageShape),
  /**
   * The `host:port` at which this node's router accepts requests forwarded by other nodes of the tenant. If absent, the
   * node routes no requests.
   */
  peerAddress: optional(string()),
  /** The `host:port` at which the router accepts the same requests by mutual TLS. */
  securePeerAddress: optional(string()),
  /** The certificate of the router, as base64 of DER. The agent made its key for the router alone. */
  peerCertificate: optional(string()),
  /** The `host:port` at which this agent exchanges copies of volumes with other nodes of the tenant. */
  agentPeerAddress: optional(string()),
  /**
   * Fingerprints of the roots that this node trusts for its connection to the server, other than those of its machine. Absent
   * from an agent that cannot learn of further ones.
   */
  authorities: optional(list(string())),
})
export type Hello = Infer<typeof helloShape>

export const welcomeShape = object({
  type: oneOf(['welcome']),
  session: integer(),
  tenant: branded<TenantId>(),
  heartbeatMs: integer(),
  /** Whether the control plane runs on this node. If so, it gets new containers of the platform's own tenant only. */
  controlPlane: optional(boolean()),
  /** Whether the node belongs to the platform's own tenant. */
  platform: optional(boolean()),
  /** The server keeps samples of usage. Without this member the agent sends none. */
  usage: optional(
    object({
      /** The age of the newest sample of this node that the server has; absent: it has none. */
      newestAgeMs: optional(integer()),
    }),
  ),
})

/** Message that rejects or ends a session. `code` is from the error catalogue or a close reason of this protocol. */
export const closeShape = object({ type: oneOf(['close']), code: string(), message: string() })

/**
 * Container templates by owner and templateHash. The hash alone is not a unique key: it leaves out the name and the stop
 * grace period, so two owners may share a hash and still need different containers.
 */
const templatesShape = map(map(containerTemplateShape))
type Templates = Infer<typeof templatesShape>

const poolDecisions = {
  /** Decisions about the copies that the agent offered last; only for an agent with the capability `offers`. */
  offers: optional(list(offerDecisionShape)),
  wipePool: optional(poolWipeShape),
}

/** All desired containers of the node at one store revision. The agent treats its other containers as orphans. */
export const completeShape = object({
  type: oneOf(['complete']),
  session: integer(),
  revision: integer(),
  store: optional(shownStoreShape),
  items: list(sentItemShape),
  templates: templatesShape,
  /** Every deployment of the tenant that has routes. */
  routes: optional(list(routedDeploymentShape)),
  /** Only for an agent that stated a certificate of its router. */
  routers: optional(routersShape),
  /** Every copy of a volume on this node; absent for an agent without the capability `volumes`. */
  copies: optional(list(desiredCopyShape)),
  peers: optional(list(peerShape)),
  /** Every network of this node; absent for an agent without the capability `networks`. */
  networks: optional(list(desiredNetworkShape)),
  /**
   * The last attempt of each job that ran on this node, whose log the agent keeps. The agent deletes the logs of others.
   * Absent for an agent without the capability `jobs`, and while a job cannot be read.
   */
  jobLogs: optional(list(branded<AssignmentId>())),
  /** Root certificates as PEM texts that the server will use later. The node trusts them beside its own, and confirms it. */
  authorities: optional(list(string())),
  ...poolDecisions,
})
export type Complete = Infer<typeof completeShape>

/** Changes to the desired containers since the last `complete` or `delta` message. */
export const deltaShape = object({
  type: oneOf(['delta']),
  session: integer(),
  revision: integer(),
  /** Only in a change that is sent instead of a complete set. */
  store: optional(shownStoreShape),
  items: list(sentItemShape),
  templates: templatesShape,
  gone: list(string()),
  /** Deployments with routes that are new or have changed. */
  routes: optional(list(routedDeploymentShape)),
  /** Uids of deployments that no longer have routes. */
  unrouted: optional(list(string())),
  routers: optional(routersShape),
  /** Copies of volumes that are new or have changed. */
  copies: optional(list(desiredCopyShape)),
  /** Ids of volumes of which this node no longer holds a copy and whose removal it has confirmed. */
  goneCopies: optional(list(string())),
  /** All peers of the node, if one has changed. */
  peers: optional(list(peerShape)),
  /** Networks that are new or have changed. */
  networks: optional(list(desiredNetworkShape)),
  /** Ids of networks that this node no longer has, as it has confirmed. */
  goneNetworks: optional(list(string())),
  ...poolDecisions,
})
export type Delta = Infer<typeof deltaShape>

/** Joins each item with its container template. Throws if the message lacks a template that an item refers to. */
export function joinTemplates({ items, templates }: Pick<Complete, 'items' | 'templates'>): DesiredItem[] {
  const found = new Map<string, Map<string, ContainerTemplate>>()
  for (const [owner, byHash] of Object.entries(templates)) found.set(owner, new Map(Object.entries(byHash)))
  return items.map((item) => {
    const template = found.get(item.owner)?.get(item.templateHash)
    if (template === undefined) throw new TypeError(`the template of ${item.assignmentId} is not there`)
    return { ...item, template }
  })
}

/** Separates items and container templates, the inverse of joinTemplates. Each shared template is listed once. */
export function splitTemplates(desired: readonly DesiredItem[]): Pick<Complete, 'items' | 'templates'> {
  const templates: Templates = {}
  const items = desired.map(({ template, ...item }): SentItem => {
    const ofOwner = templates[item.owner] ?? {}
    ofOwner[item.templateHash] = template
    templates[item.owner] = ofOwner
    return item
  })
  return { items, templates }
}

export const heartbeatShape = object({
  type: oneOf(['heartbeat']),
  session: integer(),
  /** From an agent with the capability `engine_health`. */
  engine: optional(engineHealthShape),
  /** Why the node removes nothing, after its store was restored; absent if it may remove. */
  hold: optional(string()),
  /** The newest samples, for a server that keeps them. */
  usage: optional(sampleRoundShape),
})

/** Samples that the server lacks. Each list has one element for each age; null where there is no sample. */
export const usageShape = object({
  type: oneOf(['usage']),
  session: integer(),
  /** The ages of the samples in milliseconds, the oldest first. */
  agesMs: list(integer()),
  /** Absent in all messages but the first of several. */
  node: optional(list(nullable(nodeSampleShape))),
  series: list(usageSeriesShape),
})
export type UsageMessage = Infer<typeof usageShape>

export const statusShape = object({
  type: oneOf(['status']),
  session: integer(),
  observations: list(observationShape),
  /** Names of containers without an assignment that are too many to remove safely; absent if there are none. */
  orphans: optional(list(string())),
  /** Copies of volumes whose state has changed; all of them after the start of a session. */
  copies: optional(list(observedCopyShape)),
  /** The node's pool and what it holds, after the start of a session and after a change. */
  pool: optional(poolReportShape),
  /** Networks whose state has changed; all of them after the start of a session. */
  networks: optional(list(observedNetworkShape)),
  /** How full the disks are, after the start of a session and after a change; from agents with the capability `disks`. */
  disks: optional(nodeDisksShape),
  /** The same as in hello, after each complete set with authorities, once all of them are on the node's disk. */
  authorities: optional(list(string())),
})
export type Status = Infer<typeof statusShape>

/**
 * Methods of a call between server and agent. The server calls `containers`, `measure`, which asks for the bytes in use of
 * all copies, and `checkpoint`, which takes checkpoints of all primaries first and needs the capability `checkpoints`. It
 * calls `promises`, which asks about the promises of copies, and `prepare`, which asks for their votes; both need the
 * capability `promises`. It calls `delete_divergence`, which needs the capability `divergences`. The agent calls the other
 * methods.
 */
export const CALL_METHODS = [
  'containers',
  'measure',
  'checkpoint',
  'promises',
  'prepare',
  'delete_divergence',
  'registry',
  'environment',
  'configure',
] as const

export const callShape = object({
  type: oneOf(['call']),
  id: string(),
  method: oneOf(CALL_METHODS),
  /** For the method `registry`: the registry host whose credential is requested. */
  host: optional(string()),
  /** For the method `environment`: the container and the attempt to create it. Each attempt is answered once. */
  assignmentId: optional(branded<AssignmentId>()),
  attempt: optional(string()),
  /** For the method `configure`. */
  requests: optional(list(configureRequestShape)),
  /** For the methods `promises` and `prepare`. */
  volumes: optional(list(askedVolumeShape)),
  /** For the method `delete_divergence`. */
  divergence: optional(keptEpochShape),
})
export type Call = Infer<typeof callShape>

export const answerShape = object({
  type: oneOf(['answer']),
  id: string(),
  containers: optional(list(machineContainerShape)),
  measurements: optional(list(measurementShape)),
  /**
   * For the method `configure`: the committed configurations. A volume that cannot be read, or of which the node has no
   * copy, is left out, so an absent one proves nothing.
   */
  configurations: optional(list(configurationShape)),
  /** For the methods `promises` and `prepare`: a volume of which the node has no copy is left out. */
  promises: optional(list(promiseShape)),
  /** For the method `delete_divergence`: whether the pool had the data; it is gone now in both cases. */
  deleted: optional(boolean()),
  /** A credential or environment, encrypted to the node's key; absent if the tenant has no credential for the host. */
  sealed: optional(string()),
  error: optional(string()),
  /** For the method `environment`: which secret entry was not resolved and why, as text written by the server. */
  about: optional(string()),
})
export type Answer = Infer<typeof answerShape>

/** A container environment encrypted to its node. It names the container, so that it cannot be used for another one. */
export const sealedEnvironmentShape = object({
  assignmentId: branded<AssignmentId>(),
  attempt: string(),
  environment: map(string()),
  /** Proof of the secret versions used. The agent includes the proof in each report about the container. */
  proof: string(),
})

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
  usage: usageShape,
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
