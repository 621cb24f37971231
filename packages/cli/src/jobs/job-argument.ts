// The job argument of commands: an id or a name, or `job/<id>` as printed by `-o name`.

import type { ArgumentSpec } from '../command.ts'

export const JOB_ARGUMENT: ArgumentSpec = {
  name: 'job',
  summary: 'id of the job, or its name for the newest job with that name',
  completes: 'jobs',
}

export const jobName = (typed = ''): string => typed.replace(/^jobs?\//, '')
