// The deployment: the fields of SPEC 2.2, 2.3, 2.4, 2.7 and DECISIONS 4 in the order in which they are judged, and its record.

import type { DeploymentUid, NodeId } from '../ids.ts'
import {
  boolean,
  branded,
  duration,
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
  type: string({ description: 'exec, the only check that is really run' }),
  command: list(string()),
  retries: optional(integer({ description: 'Absent: the engine default' })),
  timeout: optional(duration('Absent: the engine default of 30s')),
  interval: duration(),
  startPeriod: duration(),
})
export type HealthCheck = Infer<typeof healthCheckShape>

export const secretEntryShape = object({
  name: string(),
  vault_path: string(),
  anchor: string(),
  rotation: string(),
})
export type SecretEntry = Infer<typeof secretEntryShape>

/** What comes with an entry and is never stored: material, and a field that is known only to be refused. */
const sentSecretEntryShape = object({
  ...secretEntryShape.fields,
  mount_path: optional(json<unknown>()),
  values: optional(map(string({ description: 'Written to the secrets store, never read back' }))),
  generate: optional(generateShape),
})

export const volumeMountShape = object({
  volume: string(),
  target: string(),
  type: oneOf(MOUNT_TYPES),
  readOnly: boolean(),
})

export const resourcesShape = object({ cpuMillis: integer(), memoryBytes: integer() })
export const limitsShape = object({ cpuMillis: optional(integer()), memoryBytes: optional(integer()) })

export const constraintShape = object({
  label: string(),
  operator: oneOf(CONSTRAINT_OPERATORS),
  values: optional(list(string())),
})
export type Constraint = Infer<typeof constraintShape>

export const placementShape = object({
  residency: optional(residencyDemandShape),
  constraints: optional(list(constraintShape)),
  affinity: optional(list(string())),
  antiAffinity: optional(list(string())),
  spread: optional(string()),
})

export const updateShape = object({
  order: oneOf(UPDATE_ORDERS),
  parallelism: integer(),
  failureAction: oneOf(FAILURE_ACTIONS),
  progressDeadline: duration(),
})

/** A host and path belongs to one deployment of a tenant; the port is that of the container. */
export const routeShape = object({ host: string(), path: string(), port: integer() })
export type Route = Infer<typeof routeShape>

export const deploymentSpecShape = remembered(
  object({
    kind: oneOf(['Deployment']),
    name: string({ description: 'Lowercase DNS-style name, at most 63 characters' }),
    image: string({ description: 'A pinned reference, never the tag latest' }),
    replicas: integer(),
    nodeId: optional(branded<NodeId>({ description: 'A node of the tenant; absent: the scheduler chooses' })),
    healthCheck: optional(healthCheckShape),
    environment: optional(map(string())),
    secrets: list(secretEntryShape),
    secretsVersion: integer(),
    volumes: optional(list(volumeMountShape)),
    placement: optional(placementShape),
    dependsOn: optional(map(oneOf(DEPENDENCY_CONDITIONS))),
    resources: resourcesShape,
    limits: optional(limitsShape),
    composedEnvironment: optional(map(string())),
    update: updateShape,
    routes: optional(list(routeShape)),
    labels: optional(map(string())),
    command: optional(list(string())),
    args: optional(list(string())),
    stopGracePeriod: duration(),
  }),
)
export type DeploymentSpec = Infer<typeof deploymentSpecShape>

/** The fields that a client may send, in the same order. */
export const deploymentBodyShape = object({
  ...deploymentSpecShape.fields,
  secrets: list(sentSecretEntryShape),
})

export const deploymentStatusShape = object({
  phase: oneOf(DEPLOYMENT_PHASES),
  reason: string(),
  message: string(),
  replicas: object({ desired: integer(), placed: integer(), ready: integer() }),
  image: object({ reference: string(), digest: nullable(string()) }),
  runningRevision: nullable(integer()),
})
export type DeploymentStatus = Infer<typeof deploymentStatusShape>

/** What GET shows beside the spec; a client may send it back in a PUT (DECISIONS 2). */
export const READ_ONLY_FIELDS = [
  'uid',
  'revision',
  'specHash',
  'createdAt',
  'updatedAt',
  'status',
  'residencyLabels',
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
})
export type DeploymentRecord = Infer<typeof deploymentRecordShape>
