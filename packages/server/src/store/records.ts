// Every record that is stored, as a shape: the allow-list of the encoder. `v` is the schema version (DECISIONS 10).

import {
  archiveEntryShape,
  assignmentShape,
  auditEntryShape,
  boolean,
  branded,
  CLAIM_STATES,
  candidateShape,
  capacityShape,
  containerTemplateShape,
  type DeploymentUid,
  deploymentSpecShape,
  engineShape,
  eventShape,
  type Infer,
  integer,
  json,
  list,
  map,
  NODE_STATUSES,
  type NodeId,
  nullable,
  object,
  observationShape,
  oneOf,
  optional,
  ROLES,
  residencyShape,
  revisionTargetShape,
  rolloutShape,
  type Shape,
  string,
  type TenantId,
  type TokenId,
  type TransactionId,
  tenantShape,
  tokenShape,
} from '@holdfast/contract'

const v = integer({ minimum: 1 })

export const storedDeploymentShape = object({
  v,
  uid: branded<DeploymentUid>(),
  spec: deploymentSpecShape,
  revision: integer(),
  specHash: string(),
  createdAt: string(),
  updatedAt: string(),
  /** What the registry said the image is; null until a resolution succeeds (DECISIONS 3). */
  digest: nullable(string()),
  /** The quota slot that this record holds. */
  slot: integer(),
  tx: branded<TransactionId>(),
  deleting: boolean(),
  /** The revision that asked for a restart, if one ever did: part of what the containers are made of. */
  restartRevision: optional(integer()),
  /**
   * By label: the version of each credential that the containers are made with (DECISIONS 5). Absent for a path that had no
   * version when it was last decided: then it is the credential's first one.
   */
  pins: optional(map(integer())),
})
export type StoredDeployment = Infer<typeof storedDeploymentShape>

export const slotShape = object({ v, holder: string() })

/** Which deployment of the tenant has a host and path; one key for each, named by a hash of both. */
export const routeClaimShape = object({
  v,
  host: string(),
  path: string(),
  deployment: branded<DeploymentUid>(),
  name: string(),
})

export const storedTenantShape = object({ v, ...tenantShape.fields })
export type StoredTenant = Infer<typeof storedTenantShape>

/** Only the SHA-256 of the secret half of a token is kept (DECISIONS 8). */
export const storedTokenShape = object({
  v,
  ...tokenShape.fields,
  tenant: branded<TenantId>(),
  secretHash: string(),
})
export type StoredToken = Infer<typeof storedTokenShape>

/** That a credential exists and which version of it counts; the credential itself is in the secrets store. */
export const registryCredentialShape = object({ v, host: string(), version: integer(), updatedAt: string() })

/**
 * Everything of one credential but its material: the namespace that its label is bound to, who refers to it, which versions
 * there are, and its rotation. One key, so that each of these is decided at once with the others (SAFETY 4a, 4d). It is there as
 * long as a version or a reference is.
 */
export const storedCredentialShape = object({
  v,
  label: string(),
  namespace: string(),
  /** Names of deployments, sorted. */
  consumers: list(string()),
  /** Those that are not destroyed, ascending. */
  versions: list(object({ version: integer(), keys: list(string()), createdAt: string() })),
  /** The first version that counted: what a deployment uses that was admitted before there was one. */
  initial: nullable(integer()),
  /** The quota slot, from the first version on. */
  slot: nullable(integer()),
  /** One at a time for each credential; absent: idle. */
  rotation: optional(
    object({
      phase: oneOf(['stage', 'overlap', 'cutover']),
      old: integer(),
      new: integer(),
      since: string(),
      /** The name of the deployment that asked; its own containers go first. */
      startedBy: string(),
      /** A cutover that is being taken back: it ends when nobody has the new version any more. */
      aborting: optional(boolean()),
      /** Who asked for the last step: the revisions of the other consumers are made in that name. */
      askedBy: optional(
        object({ token: branded<TokenId>(), role: oneOf(ROLES), onBehalf: boolean(), requestId: string() }),
      ),
    }),
  ),
})
export type StoredCredential = Infer<typeof storedCredentialShape>

export const storedEventShape = object({ v, ...eventShape.fields })
export const storedAuditShape = object({ v, ...auditEntryShape.fields })
export const storedArchiveShape = object({ v, ...archiveEntryShape.fields, tx: branded<TransactionId>() })

/** The first 2xx answer to an Idempotency-Key (DECISIONS 2). */
export const idempotentAnswerShape = object({
  v,
  requestHash: string(),
  status: integer(),
  body: json<object>(),
  etag: nullable(string()),
  expiresAt: string(),
})

/** A version that was written to the secrets store and is pinned by nobody yet (SAFETY 4a, step 4). */
export const intentShape = object({
  v,
  tenant: branded<TenantId>(),
  namespace: string(),
  resource: string(),
  version: integer(),
  createdAt: string(),
  /** Nobody can pin it any more: the version is to be destroyed, and then this. */
  pendingDestruction: optional(boolean()),
  /** Of several that are pinned together: the one without which none of them is. */
  leader: optional(string()),
})

/** A transaction whose outcome was unknown and that may no longer be applied. */
export const cancelShape = object({ v, at: string() })

/** What DELETE marked and a loop must finish; `name` is a deployment's, or absent for the whole tenant. */
export const removalShape = object({ v, tenant: branded<TenantId>(), name: nullable(string()) })

/** Which tenant is the platform; one fixed key. */
export const platformShape = object({ v, tenant: branded<TenantId>() })

/** What containers prove by that they were made with certain versions; one fixed key, made by whoever needs it first. */
export const proofKeyShape = object({ v, key: string() })

/** A machine of the tenant. `generation` counts enrollments under this id; a session proves the key of the newest one. */
export const storedNodeShape = object({
  v,
  id: branded<NodeId>(),
  name: string(),
  generation: integer(),
  publicKey: string(),
  encryptionKey: string(),
  /** As last advertised, less what is not attested. */
  labels: map(string()),
  attested: residencyShape,
  /** Of what it advertised last and was not attested: the same once more is no news. Absent: all of it counts. */
  refusedMark: optional(string()),
  controlPlane: boolean(),
  schedulable: boolean(),
  /** Its replicas are being moved away, successor first; the node takes no new work meanwhile. */
  draining: optional(boolean()),
  /** Where its router takes what other nodes of the tenant forward; absent: it routes nothing. */
  peerAddress: optional(string()),
  capacity: capacityShape,
  engine: engineShape,
  status: oneOf(NODE_STATUSES),
  statusSince: string(),
  /** Which server replica holds the node's socket; each new session raises the epoch (SAFETY 4e). */
  session: object({ replica: nullable(string()), epoch: integer(), bootId: string() }),
  createdAt: string(),
  /** The quota slot that this record holds. */
  slot: integer(),
})
export type StoredNode = Infer<typeof storedNodeShape>

/** Who may use a node's name: one key for the whole cell, so that two tenants cannot both have it (DECISIONS 5, Claim). */
export const nodeNameShape = object({
  v,
  claims: list(
    object({ tenant: branded<TenantId>(), nodeId: branded<NodeId>(), state: oneOf(CLAIM_STATES) }),
  ),
})

export const joinTokenShape = object({
  v,
  tenant: branded<TenantId>(),
  nodeName: string(),
  residency: residencyShape,
  controlPlane: boolean(),
  secretHash: string(),
  expiresAt: string(),
})

/**
 * The permission to run one command in one container, for half a minute and once. Which command is sealed with the ticket
 * itself: arguments may hold secrets, and only who holds the ticket may read them.
 */
export const execTicketShape = object({
  v,
  tenant: branded<TenantId>(),
  /** Who asked: the ticket counts as long as this token does. */
  token: branded<TokenId>(),
  role: oneOf(ROLES),
  onBehalf: boolean(),
  deployment: string(),
  secretHash: string(),
  sealed: string(),
  expiresAt: string(),
})

/** All replicas of one deployment, with what they are made of: a self-contained instruction (DESIGN 5). */
export const storedPlacementShape = object({
  v,
  uid: branded<DeploymentUid>(),
  name: string(),
  /** The deployment revision that this placement answers. */
  revision: integer(),
  /** Whether a replica was ever assigned: before that a shortfall is `unschedulable`, later it is `stalled`. */
  everAssigned: boolean(),
  assignments: list(assignmentShape),
  /** By templateHash; those that an assignment or `lastGood` names. */
  templates: map(containerTemplateShape),
  /** The verdicts that were last told in an event, as a hash; empty when none. */
  reportedRefusals: string(),
  /** The phase that was last told in an event. */
  reportedPhase: string(),
  /** Of this revision: the secrets that were told not to be had, each with its cause; absent where none was. */
  reportedSecrets: optional(list(string())),
  /** By which labels all that runs was last found to be where it may be, as a hash; absent where none was asked for. */
  metDemands: optional(string()),
  /** Why a replica is nowhere, for the status; absent while all are placed. */
  shortfall: optional(object({ reason: string(), summary: string() })),
  /** The newest deployment revision of which every replica was once ready. */
  ranRevision: optional(integer()),
  /** Under way, under watch, paused or going back. */
  rollout: optional(rolloutShape),
  /** The last revision that ran through its watch: what a failed update goes back to. */
  lastGood: optional(revisionTargetShape),
  /** The decision that was last recorded: its number, from 1, its time, and the reason in its status. */
  decided: optional(object({ number: integer(), at: string(), reason: string() })),
})
export type StoredPlacement = Infer<typeof storedPlacementShape>

/** What was decided about a deployment. In force from `decidedAt` on, until the next one is. */
export const storedDecisionShape = object({
  v,
  uid: branded<DeploymentUid>(),
  name: string(),
  number: integer(),
  decidedAt: string(),
  /** The deployment revision that was decided on. */
  revision: integer(),
  phase: string(),
  reason: string(),
  summary: string(),
  replicas: object({ desired: integer(), placed: integer(), ready: integer() }),
  /** Of a matrix that is too large for one record, the end: the rest of it is in `parts`, by their ids, in order. */
  candidates: list(candidateShape),
  parts: optional(list(string())),
  cure: list(string()),
})
export type StoredDecision = Infer<typeof storedDecisionShape>

/** A piece of a large matrix; it counts once a decision names it. */
export const decisionPartShape = object({ v, candidates: list(candidateShape) })

export const storedObservationShape = object({
  v,
  ...observationShape.fields,
  deployment: branded<DeploymentUid>(),
  nodeId: branded<NodeId>(),
  at: string(),
})
export type StoredObservation = Infer<typeof storedObservationShape>

/** One of 64; the modification revision of its key is the fencing token (SAFETY 4b). */
export const shardShape = object({ v, owner: string() })

/** A server process. It is alive as long as the key keeps changing, by the clock of whoever looks. */
export const serverReplicaShape = object({
  v,
  url: string(),
  startedAt: string(),
  heartbeat: integer(),
  /** Whether it takes shards; one that only holds sessions does not. */
  leads: boolean(),
  /** The control-plane node that it runs on, if configuration says so: its heartbeat is that node's (DECISIONS 5). */
  nodeName: optional(string()),
  /** Whether it reads secret material for the others. */
  brokers: optional(boolean()),
})

export interface Collection<T> {
  readonly folder: string
  readonly scope: 'tenant' | 'global'
  readonly shape: Shape<T>
  /** Whether the cache holds the values, or only that they exist and how large they are. */
  readonly cached: boolean
}

const tenantCollection = <T>(folder: string, shape: Shape<T>, cached: boolean): Collection<T> => ({
  folder,
  scope: 'tenant',
  shape,
  cached,
})
const globalCollection = <T>(folder: string, shape: Shape<T>): Collection<T> => ({
  folder,
  scope: 'global',
  shape,
  cached: true,
})

export const deployments = tenantCollection('dep', storedDeploymentShape, true)
export const slots = tenantCollection('slot', slotShape, true)
export const routeClaims = tenantCollection('route', routeClaimShape, true)
export const registryCredentials = tenantCollection('reg', registryCredentialShape, true)
export const credentials = tenantCollection('cred', storedCredentialShape, true)
export const archive = tenantCollection('arc', storedArchiveShape, false)
export const events = tenantCollection('evt', storedEventShape, false)
export const audit = tenantCollection('aud', storedAuditShape, false)
export const idempotentAnswers = tenantCollection('idem', idempotentAnswerShape, false)
export const nodes = tenantCollection('node', storedNodeShape, true)
export const placements = tenantCollection('place', storedPlacementShape, true)
export const decisions = tenantCollection('why', storedDecisionShape, false)
export const decisionParts = tenantCollection('whypart', decisionPartShape, false)
export const observations = tenantCollection('obs', storedObservationShape, true)
export const nodeNames = globalCollection('nodename', nodeNameShape)
export const joinTokens = globalCollection('join', joinTokenShape)
export const execTickets = globalCollection('exec', execTicketShape)
export const shards = globalCollection('shard', shardShape)
export const serverReplicas = globalCollection('replica', serverReplicaShape)
export const tenants = globalCollection('tenant', storedTenantShape)
export const platform = globalCollection('cfg', platformShape)
export const proofKeys = globalCollection('proof', proofKeyShape)
export const tokens = globalCollection('token', storedTokenShape)
export const removals = globalCollection('removal', removalShape)
export const intents = globalCollection('intent', intentShape)
export const cancels = globalCollection('cancel', cancelShape)

export const COLLECTIONS: readonly Collection<unknown>[] = [
  deployments,
  slots,
  routeClaims,
  registryCredentials,
  credentials,
  archive,
  events,
  audit,
  idempotentAnswers,
  tenants,
  platform,
  proofKeys,
  tokens,
  removals,
  intents,
  cancels,
  nodes,
  placements,
  decisions,
  decisionParts,
  observations,
  nodeNames,
  joinTokens,
  execTickets,
  shards,
  serverReplicas,
]
