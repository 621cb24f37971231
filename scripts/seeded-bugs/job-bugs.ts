// Seeded bugs around jobs. Only seeds with jobs, or with many, can find them.

import { type Bug, core, server } from './bug.ts'

export const JOB_BUGS: readonly Bug[] = [
  {
    name: 'a job is started elsewhere while its lost container may run',
    edits: [
      core('jobs/attempt-end.ts', "return onNodeLoss === 'retry' ? {", 'return onNodeLoss !== undefined ? {'),
      core(
        'jobs/next-job.ts',
        "return spec.onNodeLoss === 'wait' && !",
        'return spec.onNodeLoss === undefined && !',
      ),
    ],
    seenBy: ['one-job-container'],
    scripts: 'jobs',
  },
  {
    name: 'a job is started elsewhere while its node is unreachable and has not failed',
    edits: [
      server(
        'loops/controllers/jobs/decide-job.ts',
        'node: known.view.dispositionOf(nodeId),',
        "node: known.view.nodeOf(nodeId)?.status === 'unreachable' ? 'failed' : known.view.dispositionOf(nodeId),",
      ),
    ],
    seenBy: ['one-job-container'],
    scripts: 'jobs',
  },
  {
    name: 'the logs of finished jobs are not listed for their node',
    edits: [server('gateway/desired/send-desired.ts', 'record.last ?? []', 'record.current ?? []')],
    seenBy: ['job-logs'],
    scripts: 'many jobs',
  },
  {
    name: 'retries of a job are not limited',
    edits: [
      core(
        'jobs/next-job.ts',
        'if (failures > spec.retries) return',
        'if (failures > spec.retries + 2) return',
      ),
    ],
    seenBy: ['job-attempts'],
    scripts: 'jobs',
  },
  {
    name: 'the slot of a job is not freed at its end',
    edits: [
      server(
        'loops/controllers/jobs/reconcile-job.ts',
        'if (before.slot !== null) freeSlot(',
        'if (before.slot === null) freeSlot(',
      ),
    ],
    seenBy: ['job-ends'],
    scripts: 'jobs',
  },
  {
    name: 'a container that runs once is started again',
    edits: [
      core(
        'node/plan-node.ts',
        "runsOnce(template) ? container.state === 'created' : isDown(container)",
        'runsOnce(template) ? isDown(container) : isDown(container)',
      ),
    ],
    seenBy: ['job-attempts', 'job-ends', 'one-job-container'],
    scripts: 'jobs',
  },
]
