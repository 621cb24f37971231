// Jobs: workloads that run to their end. The body of their creation and the record that the API returns.

import type { JobId, NodeId } from '../ids.ts'
import {
  branded,
  described,
  duration,
  field,
  type Infer,
  integer,
  list,
  map,
  nullable,
  object,
  oneOf,
  optional,
  remembered,
  string,
} from '../shapes/shape.ts'
import { jobTexts } from '../texts/job-texts.ts'
import {
  limitsShape,
  placementShape,
  resourcesShape,
  secretEntryShape,
  sentSecretEntryShape,
  volumeMountShape,
} from './deployment.ts'
import { alterationShape, warningShape } from './rejection.ts'

export const JOB_PHASES = ['pending', 'running', 'succeeded', 'failed', 'cancelled'] as const
export type JobPhase = (typeof JOB_PHASES)[number]
export const NODE_LOSS_ACTIONS = ['wait', 'retry'] as const

const FINAL_PHASES: readonly JobPhase[] = ['succeeded', 'failed', 'cancelled']

/** Whether a job has ended. It never leaves such a phase. */
export const isFinalPhase = (phase: JobPhase): boolean => FINAL_PHASES.includes(phase)

/** A job as it is stored. A job never changes: it has no update. */
export const jobSpecShape = remembered(
  object({
    kind: field(jobTexts.kind, oneOf(['Job'])),
    name: field(jobTexts.name, string()),
    image: field(jobTexts.image, string()),
    nodeId: field(jobTexts.nodeId, optional(branded<NodeId>())),
    environment: field(jobTexts.environment, optional(map(string()))),
    secrets: field(jobTexts.secrets, list(secretEntryShape)),
    volumes: field(jobTexts.volumes, optional(list(volumeMountShape))),
    placement: field(jobTexts.placement, optional(placementShape)),
    resources: field(jobTexts.resources, resourcesShape),
    limits: field(jobTexts.limits, optional(limitsShape)),
    composedEnvironment: field(jobTexts.composedEnvironment, optional(map(string()))),
    networks: field(jobTexts.networks, optional(list(string()))),
    command: field(jobTexts.command, optional(list(string()))),
    args: field(jobTexts.args, optional(list(string()))),
    stopGracePeriod: field(jobTexts.stopGracePeriod, duration()),
    timeout: field(jobTexts.timeout, duration()),
    retries: field(jobTexts.retries, integer()),
    onNodeLoss: field(jobTexts.onNodeLoss, oneOf(NODE_LOSS_ACTIONS)),
  }),
)
export type JobSpec = Infer<typeof jobSpecShape>

/** The body of POST /jobs. */
export const jobBodyShape = object({
  ...jobSpecShape.fields,
  secrets: field(jobTexts.secrets, list(sentSecretEntryShape)),
})

export const jobStatusShape = object({
  phase: oneOf(JOB_PHASES),
  reason: string({
    description: 'Why the job is in its phase, in one word; empty if the phase says it all',
  }),
  message: string({ description: 'The same for people, with what to do; never branch on it' }),
  nodeId: nullable(branded<NodeId>({ description: 'Node of the last attempt; null before the first' })),
  nodeName: nullable(string({ description: 'Name of that node' })),
  startedAt: nullable(string({ description: 'When the container of the last attempt started' })),
  finishedAt: nullable(string({ description: 'When the job ended' })),
  exitCode: nullable(
    integer({ description: 'Exit code of the last attempt; null while it runs, or if no code was reported' }),
  ),
  attempts: integer({ description: 'How many attempts were assigned to a node' }),
  retryAt: optional(string({ description: 'When the next attempt may start; only between attempts' })),
  image: object({ reference: string(), digest: nullable(string()) }),
})
export type JobStatus = Infer<typeof jobStatusShape>

export const jobRecordShape = object({
  id: branded<JobId>({ description: 'Id of the job' }),
  ...jobSpecShape.fields,
  createdAt: string({ description: 'When the job was created, RFC 3339 in UTC' }),
  revision: integer({ description: 'Rises with every change of the record; the ETag of the job' }),
  residencyLabels: described('Labels that placement.residency stands for', map(string())),
  status: jobStatusShape,
})
export type JobRecord = Infer<typeof jobRecordShape>

export const writtenJobShape = object({
  job: jobRecordShape,
  alterations: list(alterationShape),
  warnings: list(warningShape),
})
export type WrittenJob = Infer<typeof writtenJobShape>
