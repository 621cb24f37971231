// Items of short lists: the facts of a record that a table shows.

import { DEPLOYMENT_PHASES } from '../api/deployment.ts'
import { capacityShape, nodeShape } from '../api/node.ts'
import { REPLICA_STATES } from '../api/placement.ts'
import { tenantShape } from '../api/tenant.ts'
import type { AssignmentId, DeploymentUid } from '../ids.ts'
import {
  boolean,
  branded,
  described,
  type Infer,
  integer,
  list,
  map,
  nullable,
  object,
  oneOf,
  optional,
  string,
} from '../shapes/shape.ts'
import { ATTENTION_SEVERITIES } from './overview.ts'

/** An item of GET /deployments?view=summary. */
export const deploymentSummaryShape = object({
  name: string(),
  uid: branded<DeploymentUid>(),
  phase: oneOf(DEPLOYMENT_PHASES),
  reason: string(),
  message: string(),
  replicas: object({ desired: integer(), placed: integer(), ready: integer() }),
  revision: integer(),
  runningRevision: nullable(integer()),
  image: string(),
  nodes: described('Names of the nodes with a replica, sorted', list(string())),
  updatedAt: string(),
})
export type DeploymentSummary = Infer<typeof deploymentSummaryShape>

const {
  id,
  name,
  status,
  reason,
  schedulable,
  draining,
  controlPlane,
  agentVersion,
  agentOutdated,
  capacity,
} = nodeShape.fields

/** An item of GET /nodes?view=summary. */
export const nodeSummaryShape = object({
  id,
  name,
  status,
  reason,
  schedulable,
  draining,
  controlPlane,
  capacity,
  requested: described('Resources that the replicas on the node request', capacityShape),
  replicas: described('Number of replicas of deployments and jobs on the node', integer()),
  country: described('The country that the join token attests; null if it attests none', nullable(string())),
  engineVersion: string(),
  agentVersion,
  agentOutdated,
  since: described('Since when the node has this status', string()),
  lastHeardAt: described('When the agent was last heard; null if no server knows', nullable(string())),
})
export type NodeSummary = Infer<typeof nodeSummaryShape>

/** An item of GET /nodes/{id}/replicas. */
export const nodeReplicaShape = object({
  assignmentId: branded<AssignmentId>(),
  kind: oneOf(['Deployment', 'Job']),
  name: described('Name of the deployment or job', string()),
  uid: described('Id of the deployment or job', string()),
  replica: integer(),
  revision: integer(),
  state: oneOf(REPLICA_STATES),
  startedAt: described('Start of the current run; null while the container does not run', nullable(string())),
  reason: described('Why the state is not the desired one; absent if it is', optional(string())),
  restarts: optional(integer()),
  requested: capacityShape,
  volumes: described('Names of the mounted volumes', list(string())),
  leaving: described('Whether the replica is being moved or stopped', boolean()),
})
export type NodeReplica = Infer<typeof nodeReplicaShape>

/** An item of GET /tenants?view=summary. */
export const tenantSummaryShape = object({
  id: tenantShape.fields.id,
  name: tenantShape.fields.name,
  platform: tenantShape.fields.platform,
  deleting: tenantShape.fields.deleting,
  createdAt: tenantShape.fields.createdAt,
  deployments: object({ total: integer(), counts: described('By phase', map(integer())) }),
  nodes: object({ total: integer(), counts: described('By status', map(integer())) }),
  attention: described('Number of items that need a person, by severity', map(integer())),
  worst: described(
    'The highest severity among them; null if there is none',
    nullable(oneOf(ATTENTION_SEVERITIES)),
  ),
  quotasReached: described('Kinds of quotas that are used up', list(string())),
})
export type TenantSummary = Infer<typeof tenantSummaryShape>
