// The deployment record, and the request body of a create or update. Fields are checked in the order of this file.

import type { DeploymentUid, NodeId } from '../ids.ts'
import {
  boolean,
  branded,
  described,
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
  type: string({ description: 'exec, the only type of check' }),
  command: described(
    'One element is a shell command line, several are a program and its arguments',
    list(string()),
  ),
  retries: optional(
    integer({ description: 'Failed checks in a row until unhealthy; if absent, the engine default' }),
  ),
  timeout: optional(duration('A check that takes longer fails; if absent, the engine default of 30s')),
  interval: duration('Time between two checks'),
  startPeriod: duration('Failed checks in this time after the start are ignored'),
})
export type HealthCheck = Infer<typeof healthCheckShape>

export const secretEntryShape = object({
  name: string({ description: 'Prefix of the variables: the key password is delivered as NAME_password' }),
  vault_path: string({ description: 'The credential, <namespace>/<label>' }),
  anchor: string({ description: 'What depends on the value: process, external or volume(<volume-id>)' }),
  rotation: string({ description: 'How containers get a new value: restart' }),
})
export type SecretEntry = Infer<typeof secretEntryShape>

/**
 * A secret entry as a client sends it. `values` and `generate` are never stored. `mount_path` is listed only so that it
 * can be rejected with a specific code.
 */
const sentSecretEntryShape = object({
  ...secretEntryShape.fields,
  mount_path: optional(
    described('Always rejected: secrets are delivered as variables only', json<unknown>()),
  ),
  values: optional(
    described('Material by key; goes to the secrets store and is never stored in the record', map(string())),
  ),
  generate: optional(described('Material that the server generates', generateShape)),
})

export const volumeMountShape = object({
  volume: string({ description: 'The vol_ id of the volume' }),
  target: string({ description: 'Absolute path inside the container' }),
  type: described('How it is mounted', oneOf(MOUNT_TYPES)),
  readOnly: described('Whether the container may only read it', boolean()),
})

export const resourcesShape = object({
  cpuMillis: integer({ description: 'Reserved CPU, in thousandths of a core' }),
  memoryBytes: integer({ description: 'Reserved memory in bytes' }),
})
export const limitsShape = object({
  cpuMillis: optional(integer({ description: 'Most CPU a container may use, in thousandths of a core' })),
  memoryBytes: optional(integer({ description: 'Most memory a container may use, in bytes' })),
})

export const constraintShape = object({
  label: string({ description: 'Key of a node label' }),
  operator: described('How the label is compared', oneOf(CONSTRAINT_OPERATORS)),
  values: optional(
    described('Values to compare with; required by in and notIn, absent otherwise', list(string())),
  ),
})
export type Constraint = Infer<typeof constraintShape>

export const placementShape = object({
  residency: optional(described('Where the data may be', residencyDemandShape)),
  constraints: optional(described('Node labels that a node must have', list(constraintShape))),
  affinity: optional(described('Deployments that must have a replica on the same node', list(string()))),
  antiAffinity: optional(
    described(
      'Deployments that must have no replica on the same node; the own name keeps replicas apart',
      list(string()),
    ),
  ),
  spread: optional(string({ description: 'Key of a node label whose values replicas are spread over' })),
})

export const updateShape = object({
  order: described('Whether the new replica starts before the old one stops', oneOf(UPDATE_ORDERS)),
  parallelism: integer({ description: 'Replicas replaced at once' }),
  failureAction: described('What happens when the update fails', oneOf(FAILURE_ACTIONS)),
  progressDeadline: duration('The update fails if no further replica becomes ready in this time'),
})

/** A route: within a tenant, each combination of host and path belongs to one deployment only. */
export const routeShape = object({
  host: string({ description: 'Exact lowercase DNS name' }),
  path: string({ description: 'Path prefix; the longest matching path wins' }),
  port: integer({ description: 'Port on which the container listens' }),
})
export type Route = Infer<typeof routeShape>

const SECRETS = 'Credentials from the secrets store, delivered as variables'

export const deploymentSpecShape = remembered(
  object({
    kind: described('Kind of the document', oneOf(['Deployment'])),
    name: string({ description: 'Lowercase DNS-style name, at most 63 characters' }),
    image: string({ description: 'A pinned reference, never the tag latest' }),
    replicas: integer({ description: 'How many containers to run; 0 stops the deployment' }),
    nodeId: optional(
      branded<NodeId>({ description: 'Run on this node only; if absent, the scheduler chooses' }),
    ),
    healthCheck: optional(described('Command that reports whether a container is healthy', healthCheckShape)),
    environment: optional(described('Variables by name; stored and shown in plain text', map(string()))),
    secrets: described(SECRETS, list(secretEntryShape)),
    secretsVersion: integer({ description: 'Counts rotations; the server sets it' }),
    volumes: optional(described('Volumes to mount', list(volumeMountShape))),
    placement: optional(described('On which nodes replicas may run', placementShape)),
    dependsOn: optional(
      described(
        'Deployments, by name, that must be healthy or started first',
        map(oneOf(DEPENDENCY_CONDITIONS)),
      ),
    ),
    resources: described('What is reserved on a node for each replica', resourcesShape),
    limits: optional(described('What a container may use at most', limitsShape)),
    composedEnvironment: optional(
      described('Variables by name, built from secrets with {{secret.<resource>.<key>}}', map(string())),
    ),
    update: described('How replicas are replaced by an update', updateShape),
    routes: optional(described('Hosts and paths whose requests reach the replicas', list(routeShape))),
    labels: optional(described('Labels of your own, by key', map(string()))),
    command: optional(described('Replaces the entrypoint of the image', list(string()))),
    args: optional(described('Replaces the command of the image', list(string()))),
    stopGracePeriod: duration('Time between the stop signal and SIGKILL'),
  }),
)
export type DeploymentSpec = Infer<typeof deploymentSpecShape>

/** The fields of a deployment that a client may send, in the order of the record. */
export const deploymentBodyShape = object({
  ...deploymentSpecShape.fields,
  secrets: described(SECRETS, list(sentSecretEntryShape)),
})

export const deploymentStatusShape = object({
  phase: oneOf(DEPLOYMENT_PHASES),
  reason: string(),
  message: string(),
  replicas: object({ desired: integer(), placed: integer(), ready: integer() }),
  image: object({ reference: string(), digest: nullable(string()) }),
  runningRevision: nullable(integer()),
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
