// The deployment record, and the request body of a create or update. Fields are checked in the order of this file. Their
// texts are in packages/contract/src/texts.

import type { DeploymentUid, NodeId } from '../ids.ts'
import {
  boolean,
  branded,
  duration,
  field,
  type Infer,
  integer,
  json,
  list,
  map,
  nullable,
  object,
  oneOf,
  optional,
  remembered,
  string,
} from '../shapes/shape.ts'
import {
  deploymentTexts,
  limitsTexts,
  resourcesTexts,
  routeTexts,
  updateTexts,
  volumeMountTexts,
} from '../texts/deployment-texts.ts'
import { healthCheckTexts } from '../texts/health-check-texts.ts'
import { constraintTexts, placementTexts } from '../texts/placement-texts.ts'
import { rollbackTexts } from '../texts/request-texts.ts'
import { secretEntryTexts } from '../texts/secret-texts.ts'
import { canaryShape } from './canary.ts'
import { residencyDemandShape } from './residency.ts'
import { generateShape } from './secret.ts'

export const DEPENDENCY_CONDITIONS = ['healthy', 'started'] as const
export const CONSTRAINT_OPERATORS = ['in', 'notIn', 'exists', 'notExists'] as const
export const UPDATE_ORDERS = ['start-first', 'stop-first'] as const
export const FAILURE_ACTIONS = ['pause', 'rollback'] as const
export const MOUNT_TYPES = ['volume', 'bind', 'tmpfs'] as const
export const DEPLOYMENT_PHASES = [
  'Pending',
  'Waiting',
  'Progressing',
  'Running',
  'Degraded',
  'Stopped',
  'Deleting',
] as const

export const healthCheckShape = object({
  type: field(healthCheckTexts.type, string()),
  command: field(healthCheckTexts.command, list(string())),
  retries: field(healthCheckTexts.retries, optional(integer())),
  timeout: field(healthCheckTexts.timeout, optional(duration())),
  interval: field(healthCheckTexts.interval, duration()),
  startPeriod: field(healthCheckTexts.startPeriod, duration()),
})
export type HealthCheck = Infer<typeof healthCheckShape>

export const secretEntryShape = object({
  name: field(secretEntryTexts.name, string()),
  vault_path: field(secretEntryTexts.vault_path, string()),
  anchor: field(secretEntryTexts.anchor, string()),
  rotation: field(secretEntryTexts.rotation, string()),
})
export type SecretEntry = Infer<typeof secretEntryShape>

/**
 * A secret entry as a client sends it. `values` and `generate` are never stored. `mount_path` is listed only so that it
 * can be rejected with a specific code.
 */
export const sentSecretEntryShape = object({
  ...secretEntryShape.fields,
  mount_path: field(secretEntryTexts.mount_path, optional(json<unknown>())),
  values: field(secretEntryTexts.values, optional(map(string()))),
  generate: field(secretEntryTexts.generate, optional(generateShape)),
})

export const volumeMountShape = object({
  volume: field(volumeMountTexts.volume, string()),
  target: field(volumeMountTexts.target, string()),
  type: field(volumeMountTexts.type, oneOf(MOUNT_TYPES)),
  readOnly: field(volumeMountTexts.readOnly, boolean()),
})

export const resourcesShape = object({
  cpuMillis: field(resourcesTexts.cpuMillis, integer()),
  memoryBytes: field(resourcesTexts.memoryBytes, integer()),
})
export const limitsShape = object({
  cpuMillis: field(limitsTexts.cpuMillis, optional(integer())),
  memoryBytes: field(limitsTexts.memoryBytes, optional(integer())),
})

export const constraintShape = object({
  label: field(constraintTexts.label, string()),
  operator: field(constraintTexts.operator, oneOf(CONSTRAINT_OPERATORS)),
  values: field(constraintTexts.values, optional(list(string()))),
})
export type Constraint = Infer<typeof constraintShape>

export const placementShape = object({
  residency: field(placementTexts.residency, optional(residencyDemandShape)),
  constraints: field(placementTexts.constraints, optional(list(constraintShape))),
  affinity: field(placementTexts.affinity, optional(list(string()))),
  antiAffinity: field(placementTexts.antiAffinity, optional(list(string()))),
  spread: field(placementTexts.spread, optional(string())),
})

export const updateShape = object({
  order: field(updateTexts.order, oneOf(UPDATE_ORDERS)),
  parallelism: field(updateTexts.parallelism, integer()),
  failureAction: field(updateTexts.failureAction, oneOf(FAILURE_ACTIONS)),
  progressDeadline: field(updateTexts.progressDeadline, duration()),
})

/** A route: within a tenant, each combination of host and path belongs to one deployment only. */
export const routeShape = object({
  host: field(routeTexts.host, string()),
  path: field(routeTexts.path, string()),
  port: field(routeTexts.port, integer()),
})
export type Route = Infer<typeof routeShape>

export const deploymentSpecShape = remembered(
  object({
    kind: field(deploymentTexts.kind, oneOf(['Deployment'])),
    name: field(deploymentTexts.name, string()),
    image: field(deploymentTexts.image, string()),
    replicas: field(deploymentTexts.replicas, integer()),
    nodeId: field(deploymentTexts.nodeId, optional(branded<NodeId>())),
    healthCheck: field(deploymentTexts.healthCheck, optional(healthCheckShape)),
    environment: field(deploymentTexts.environment, optional(map(string()))),
    secrets: field(deploymentTexts.secrets, list(secretEntryShape)),
    secretsVersion: field(deploymentTexts.secretsVersion, integer()),
    volumes: field(deploymentTexts.volumes, optional(list(volumeMountShape))),
    placement: field(deploymentTexts.placement, optional(placementShape)),
    dependsOn: field(deploymentTexts.dependsOn, optional(map(oneOf(DEPENDENCY_CONDITIONS)))),
    resources: field(deploymentTexts.resources, resourcesShape),
    limits: field(deploymentTexts.limits, optional(limitsShape)),
    composedEnvironment: field(deploymentTexts.composedEnvironment, optional(map(string()))),
    update: field(deploymentTexts.update, updateShape),
    routes: field(deploymentTexts.routes, optional(list(routeShape))),
    networks: field(deploymentTexts.networks, optional(list(string()))),
    labels: field(deploymentTexts.labels, optional(map(string()))),
    command: field(deploymentTexts.command, optional(list(string()))),
    args: field(deploymentTexts.args, optional(list(string()))),
    stopGracePeriod: field(deploymentTexts.stopGracePeriod, duration()),
  }),
)
export type DeploymentSpec = Infer<typeof deploymentSpecShape>

/** The fields of a deployment that a client may send, in the order of the record. */
export const deploymentBodyShape = object({
  ...deploymentSpecShape.fields,
  secrets: field(deploymentTexts.secrets, list(sentSecretEntryShape)),
})

/** The body of POST /deployments/{name}/rollback. */
export const rollbackShape = object({ revision: field(rollbackTexts.revision, integer({ minimum: 1 })) })

export const deploymentStatusShape = object({
  phase: oneOf(DEPLOYMENT_PHASES),
  reason: string(),
  message: string(),
  replicas: object({ desired: integer(), placed: integer(), ready: integer() }),
  image: object({ reference: string(), digest: nullable(string()) }),
  runningRevision: nullable(integer()),
  /** The newest revision whose rollout finished, to which a failed update returns; absent until one has. */
  lastGoodRevision: optional(integer()),
  /**
   * Why the revision failed; absent unless it did. An update is then paused or rolled back; a first revision is retried,
   * and the member disappears when all replicas are ready.
   */
  failure: optional(
    object({
      revision: integer(),
      replica: integer(),
      reason: string(),
      /** Why the container failed, in words; absent if the agent did not report it. */
      cause: optional(string()),
      at: string(),
    }),
  ),
})
export type DeploymentStatus = Infer<typeof deploymentStatusShape>

/** The fields that GET adds to the spec of a deployment. A client may send these fields back unchanged in a PUT. */
export const READ_ONLY_FIELDS = [
  'uid',
  'revision',
  'specHash',
  'createdAt',
  'updatedAt',
  'status',
  'residencyLabels',
  'canary',
] as const

export const deploymentRecordShape = object({
  ...deploymentSpecShape.fields,
  uid: branded<DeploymentUid>(),
  revision: integer(),
  specHash: string(),
  createdAt: string(),
  updatedAt: string(),
  status: deploymentStatusShape,
  residencyLabels: map(string()),
  /** The canary that runs, or the last one of this revision; absent if there was none. */
  canary: optional(canaryShape),
})
export type DeploymentRecord = Infer<typeof deploymentRecordShape>
