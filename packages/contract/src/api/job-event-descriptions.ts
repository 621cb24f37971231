// When each type of event about a job is emitted and what its `data` holds.

import type { EventType } from './event.ts'
import type { EventDescription } from './volume-event-descriptions.ts'

const NODE_ID = 'id of the node'
const NODE_NAME = 'name of the node'
const ATTEMPT = 'number of the attempt, from 1'
const EXIT_CODE = 'exit code of the last attempt; null if none was reported'

type JobEventType = Extract<EventType, `job.${string}`>

export const JOB_EVENT_DESCRIPTIONS: { readonly [type in JobEventType]: EventDescription } = {
  'job.created': {
    when: 'a job is created',
    severity: ['info'],
    subjects: ['Job'],
    data: { image: 'the image' },
  },
  'job.started': {
    when: 'an attempt of a job is assigned to a node; `reason` is `started`, `retried` after a failed attempt, or `node_lost` if the container of a lost node may still run',
    severity: ['info', 'warning'],
    subjects: ['Job'],
    data: {
      ...{ attempt: ATTEMPT, nodeId: NODE_ID, nodeName: NODE_NAME },
      previousReason: 'how the previous attempt ended, as one word; null for the first attempt',
      previousExitCode: 'exit code of the previous attempt; null if none was reported',
    },
  },
  'job.succeeded': {
    when: 'the container of a job ended with the exit code 0',
    severity: ['info'],
    subjects: ['Job'],
    data: { attempts: 'how many attempts there were', nodeId: NODE_ID, exitCode: EXIT_CODE },
  },
  'job.failed': {
    when: 'the last attempt of a job failed; `reason` says how: `exited`, `oom_killed`, `timed_out`, `node_removed`, `image_unresolved`, or why no container could be created',
    next: '`holdfast job logs ID` prints the log of the last attempt.',
    severity: ['error'],
    subjects: ['Job'],
    data: { attempts: 'how many attempts there were', nodeId: NODE_ID, exitCode: EXIT_CODE },
  },
  'job.cancelled': {
    when: 'a job was cancelled; with the reason `cancelled` none of its containers runs, with `unconfirmed` its node was lost or removed before the end of its container was reported, so that it may still run',
    severity: ['info', 'warning'],
    subjects: ['Job'],
    data: { attempts: 'how many attempts there were', nodeId: NODE_ID, exitCode: EXIT_CODE },
  },
}
